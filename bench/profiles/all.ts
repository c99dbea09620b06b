import { BATCH, SINGLE, WS } from './batch.ts';
import type { Profile } from './profile.ts';

/** All profiles, in the order in which they are run and reported. */
export const PROFILES: readonly Profile[] = [SINGLE, BATCH, WS];
