import Type, { type Static } from 'typebox';
import { ArrayOf, Named, OneOf, Time } from './schema.ts';

/** Topics that the history records. */
export const HISTORY_TOPICS = ['locations', 'motions', 'fence_events', 'collision_events'] as const;
export type HistoryTopic = (typeof HISTORY_TOPICS)[number];

const HOUR_MS = 3_600_000;

/**
 * Returns the earliest time that is recorded, in milliseconds since 1970: the start of the first hour within the
 * retention. -Infinity if history is retained forever.
 */
export function recordedSince({ nowMs, retentionMs }: { nowMs: number; retentionMs: number }): number {
  if (!Number.isFinite(retentionMs)) return Number.NEGATIVE_INFINITY;
  return Math.floor((nowMs - retentionMs) / HOUR_MS) * HOUR_MS;
}

const count = (description: string) => Type.Integer({ minimum: 0, description });

const HistoryTopicName = OneOf(HISTORY_TOPICS, { title: 'HistoryTopic', description: 'Recorded topic.' });

const RecordedTopic = Named('RecordedTopic', {
  topic: HistoryTopicName,
  recorded: count('Rows written since the start.'),
  dropped: count('Rows dropped since the start because the queue was full.'),
  too_old: count('Rows not recorded since the start because they are older than the retention period.'),
  waiting: count('Rows waiting to be written.'),
  rows: count('Rows in the files.'),
  files: count('Files.'),
  bytes: count('Bytes of these files.'),
});

/** Health of the hub's history. Counts are since the start. */
export const HistoryHealth = Named('HistoryHealth', {
  enabled: Type.Boolean({ description: 'Whether the setting history is true; other members exist only then.' }),
  state: Type.Optional(
    OneOf(['ok', 'failing'], {
      title: 'HistoryState',
      description: 'failing while rows cannot be written.',
    }),
  ),
  problem: Type.Optional(Type.String({ description: 'Why rows cannot be written.' })),
  recorded_since: Type.Optional(
    Time('Older data is not recorded (history_retention_days). Absent if history is retained forever.'),
  ),
  oldest: Type.Optional(Time('Start of the earliest retained hour.')),
  damaged_files: Type.Optional(count('Unreadable files.')),
  topics: Type.Optional(ArrayOf(RecordedTopic)),
});
export type HistoryHealth = Static<typeof HistoryHealth>;

/** Counters of the history of a topic. */
export interface TopicState {
  /** Number of rows written, and of rows dropped for lack of memory. */
  readonly recorded: number;
  readonly dropped: number;
  /** Number of rows that were not recorded because they are older than the retention. */
  readonly tooOld: number;
  readonly waiting: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}
