import { layoutOf } from './layout.ts';

/**
 * Fixed-size parts of the hub's binary formats. Databases, journals and other hubs contain them, so adding a field
 * requires a new version of the enclosing format.
 */

/**
 * Head of a location's record (location/record.ts). `sourceIndex` and `crsIndex` refer to a separate list of names.
 * `positionBytes` is the length of the position at the start of the JSON. Numbers that were not sent are NaN.
 */
export const RECORD = layoutOf({
  recordBytes: 'u32',
  idBytes: 'u32',
  sourceIndex: 'u16',
  crsIndex: 'u16',
  typeIndex: 'u8',
  flags: 'u8',
  positionBytes: 'u16',
  seq: 'f64',
  receivedMs: 'f64',
  generatedMs: 'f64',
  sentX: 'f64',
  sentY: 'f64',
  sentZ: 'f64',
  accuracy: 'f64?',
  sentFloor: 'f64',
  sentSpeed: 'f64',
  sentCourse: 'f64',
});

/**
 * Numbers of the provider's and source's names in a scanned record. They overlay `seq`, which is set when the record is
 * copied.
 */
export const SCANNED = layoutOf({ providerName: 'u32', sourceName: 'u32' });

/** Values derived from a location, before its record (location/fix.ts). */
export const DERIVED = layoutOf(
  { lon: 'f64', lat: 'f64', floor: 'f64', eventTimeMs: 'f64', speed: 'f64?', course: 'f64?' },
  'end',
);

/** Timing of a provider in an effect (effects.ts). */
export const OWN_TIMING = layoutOf({
  fenceTimeout: 'f64?',
  exitTolerance: 'f64?',
  toleranceTimeout: 'f64?',
  exitDelay: 'f64?',
  entryTolerance: 'f64?',
  entryToleranceTimeout: 'f64?',
  entryDelay: 'f64?',
});

/** Fence membership in an effect. `fromMs` is `entryMs` or, while entering, `sinceMs`. TIMERS follow. */
export const MEMBER = layoutOf({ area: 'u8', seenMs: 'f64', fromMs: 'f64', timeoutAtMs: 'f64' });
export const TIMERS = layoutOf({ toleranceFromMs: 'f64', toleranceAtMs: 'f64', delayFromMs: 'f64', delayAtMs: 'f64' });

/** Head of a row (row_bytes.ts), before the id, the memberships as JSON, and the location or bodies. */
export const ROW = layoutOf({
  rowBytes: 'u32',
  idBytes: 'u32',
  membersBytes: 'u32',
  kind: 'u8',
  isTombstone: 'u8',
  unused: 'u16',
  /** For a collision, the time of its start. */
  receivedMs: 'f64',
  eventTimeMs: 'f64',
});

/** Head of a step's positions for the history, and head of each topic's positions (history_rows.ts). */
export const POSITIONS = layoutOf({ namesBefore: 'u32', newNamesBytes: 'u32' });
export const TOPIC_POSITIONS = layoutOf({ topic: 'u32', count: 'u32', present: 'u32', membersBytes: 'u32' });

/** Head of a record of a journal (wire/journal_record.ts), and each clock step after it. */
export const JOURNAL_RECORD = layoutOf({
  version: 'u8',
  kind: 'u8',
  number: 'f64',
  config: 'f64',
  batchBytes: 'u32',
  clockSteps: 'u8',
});
export const CLOCK_STEP = layoutOf({ toMs: 'f64', byMs: 'f64' });
