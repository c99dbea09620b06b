import { isClosed } from '../../../core/geo/rings.ts';
import type { Position } from './plane.ts';

/** Returns the positions of a ring without the closing one. */
export function openRing<P extends Position>(ring: readonly P[]): readonly P[] {
  return ring.length > 1 && isClosed(ring) ? ring.slice(0, -1) : ring;
}

/** Closes a ring by repeating the first position at the end. */
export function closedRing<P extends Position>(ring: readonly P[]): P[] {
  return [...ring, ...ring.slice(0, 1)];
}
