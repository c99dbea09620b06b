import { STEPS } from './migration/steps.ts';

/** Marks a file as a hub's: "omlH" as a big-endian number. */
export const APPLICATION_ID = 0x6f6d6c48;

/** Version of a file that this hub works with, kept in the file as its user_version. */
export const SCHEMA_VERSION = STEPS.length;
