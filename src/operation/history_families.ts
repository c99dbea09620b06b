import { HISTORY_TOPICS, type HistoryTopic } from '../model/history.ts';
import { type Family, metric, metricBy } from './metrics.ts';

/** Measured state of the history. */
export interface MeasuredHistory {
  readonly isFailing: boolean;
  readonly damagedFiles: number;
  counts(topic: HistoryTopic): TopicCounts;
}

/** Measured state of the copy in a database. */
export interface MeasuredCopy {
  readonly problem: string | undefined;
  /** Number of rows copied, and of pending files. */
  readonly copied: number;
  readonly behind: number;
}

interface TopicCounts {
  readonly recorded: number;
  readonly dropped: number;
  readonly tooOld: number;
  readonly waiting: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

/** Returns the metrics of the history. */
export function historyFamilies(history: MeasuredHistory, copy: MeasuredCopy | undefined): readonly Family[] {
  const byTopic = (name: string, help: string, key: keyof TopicCounts) =>
    metricBy('topic', name, help, () => HISTORY_TOPICS.map((topic) => [topic, history.counts(topic)[key]]));
  return [
    metric('hub_history_failing', 'Whether the history cannot be written.', () => (history.isFailing ? 1 : 0)),
    metric('hub_history_damaged_files', 'Files that cannot be read.', () => history.damagedFiles),
    byTopic('hub_history_recorded_total', 'Rows that were written.', 'recorded'),
    byTopic('hub_history_dropped_total', 'Rows dropped for lack of room.', 'dropped'),
    byTopic('hub_history_too_old_total', 'Rows not recorded because they are older than the retention.', 'tooOld'),
    byTopic('hub_history_waiting', 'Rows waiting to be written.', 'waiting'),
    byTopic('hub_history_rows', 'Rows in the files.', 'rows'),
    byTopic('hub_history_files', 'Files.', 'files'),
    byTopic('hub_history_bytes', 'Their bytes.', 'bytes'),
    ...(copy === undefined
      ? []
      : [
          metric('hub_history_database_failing', 'Whether the history cannot be copied into its database.', () =>
            copy.problem === undefined ? 0 : 1,
          ),
          metric('hub_history_database_copied', 'Rows that were copied.', () => copy.copied),
          metric('hub_history_database_behind', 'Files waiting to be copied.', () => copy.behind),
        ]),
  ];
}
