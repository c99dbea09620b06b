import { layoutOf } from './layout.ts';

/**
 * Fixed parts of what the hub stores and sends as bytes. Databases, journals and other hubs contain them: a field is only
 * added in a new version of what contains it.
 */

/**
 * Head of a location's record (location/record.ts). `sourceIndex`, `crsIndex`: in a separate list of names. `positionBytes`: of
 * the position, at the start of the JSON. Numbers are NaN if they were not sent.
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

/** Numbers of a scanned record's provider and source. They overlay `seq`, which is set when the record is copied. */
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

/** Fence membership in an effect: an area, `entryMs` or `sinceMs`, and `timeoutAtMs`; then its timers. */
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
  /** For a collision, its start. */
  receivedMs: 'f64',
  eventTimeMs: 'f64',
});

/** Heads of a step's positions for the history, and of those of a topic (history_rows.ts). */
export const POSITIONS = layoutOf({ namesBefore: 'u32', newNamesBytes: 'u32' });
export const TOPIC_POSITIONS = layoutOf({ topic: 'u32', count: 'u32', present: 'u32', membersBytes: 'u32' });

/** Head of a record of a journal (wire/journal_record.ts), and each clock step after it. */
export const JOURNAL_RECORD = layoutOf({
  version: 'u8',
  kind: 'u8',
  number: 'f64',
  config: 'f64',
  batchBytes: 'u32',
  setBacks: 'u8',
});
export const CLOCK_STEP = layoutOf({ toMs: 'f64', byMs: 'f64' });
