import Type, { type Static } from 'typebox';
import { ArrayOf, Named, OneOf, Time } from './schema.ts';

/** What the history records. */
export const HISTORY_TOPICS = ['locations', 'motions', 'fence_events', 'collision_events'] as const;
export type HistoryTopic = (typeof HISTORY_TOPICS)[number];

const HOUR_MS = 3_600_000;

/**
 * The earliest time that is recorded, in milliseconds since 1970: the first hour that retention does not delete begins then.
 * -Infinity where history is retained forever.
 */
export function recordedSince({ nowMs, retentionMs }: { nowMs: number; retentionMs: number }): number {
  if (!Number.isFinite(retentionMs)) return Number.NEGATIVE_INFINITY;
  return Math.floor((nowMs - retentionMs) / HOUR_MS) * HOUR_MS;
}

const count = (description: string) => Type.Integer({ minimum: 0, description });

const HistoryTopicName = OneOf(HISTORY_TOPICS, { title: 'HistoryTopic', description: 'What is recorded.' });

const RecordedTopic = Named('RecordedTopic', {
  topic: HistoryTopicName,
  recorded: count('Rows that were written since the start.'),
  dropped: count('Rows for which there was no room since the start.'),
  too_old: count('Rows that were not recorded since the start, because they are older than the retention.'),
  waiting: count('Rows that are to be written.'),
  rows: count('Rows in the files.'),
  files: count('Files.'),
  bytes: count('Their bytes.'),
});

/** The history of the hub. Counts are of the time since the start. */
export const HistoryHealth = Named('HistoryHealth', {
  enabled: Type.Boolean({ description: 'Whether history is true; all else is there only then.' }),
  state: Type.Optional(
    OneOf(['ok', 'failing'], {
      title: 'HistoryState',
      description: 'failing as long as what is to be recorded cannot be written.',
    }),
  ),
  problem: Type.Optional(Type.String({ description: 'Why it cannot be written.' })),
  recorded_since: Type.Optional(
    Time('Data that is older is not recorded (history_retention_days). Absent where history is retained forever.'),
  ),
  oldest: Type.Optional(Time('Beginning of the earliest hour that is kept.')),
  damaged_files: Type.Optional(count('Files that cannot be read.')),
  topics: Type.Optional(ArrayOf(RecordedTopic)),
});
export type HistoryHealth = Static<typeof HistoryHealth>;
