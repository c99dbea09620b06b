import type { PositionTopic } from '../core/history_rows.ts';
import { HISTORY_TOPICS, type HistoryTopic } from '../model/history.ts';
import type { HistoryFiles } from './files.ts';
import type { RecorderState } from './messages.ts';

/** What the state of the recorder describes besides the counts. */
interface RecorderParts {
  readonly files: HistoryFiles;
  /** Why rows cannot be written; undefined if they can. */
  readonly problem: string | undefined;
  /** Rows of a topic that wait to be written. */
  waiting(topic: HistoryTopic): number;
}

/** Counts of rows by topic since the start. */
export class RecorderCounts {
  readonly recorded = perTopic();
  readonly dropped = perTopic();
  /** Positions not recorded because they are too soon after others, or too close to them. */
  readonly leftOut: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  readonly #tooOld = perTopic();
  /** `#tooOld` of all topics at the last `tidy`; undefined while nothing that is too old arrives. */
  #tooOldBefore: number | undefined;

  /** Counts rows that are too old. Returns whether they begin a series, of which the hub warns once. */
  tooOld(topic: HistoryTopic, count: number): boolean {
    if (count === 0) return false;
    this.#tooOld[topic] += count;
    if (this.#tooOldBefore !== undefined) return false;
    this.#tooOldBefore = 0;
    return true;
  }

  /** Ends a series of rows that are too old if none came since the last call. */
  tidy(): void {
    const all = Object.values(this.#tooOld).reduce((sum, count) => sum + count, 0);
    this.#tooOldBefore = this.#tooOldBefore === undefined || this.#tooOldBefore === all ? undefined : all;
  }

  /** The state of the recorder. */
  state({ files, problem, waiting }: RecorderParts): RecorderState {
    const all = [...files.all];
    const byTopic = Map.groupBy(all, ({ topic }) => topic);
    const topics = HISTORY_TOPICS.map((topic) => {
      const own = byTopic.get(topic) ?? [];
      const counts = {
        recorded: this.recorded[topic],
        dropped: this.dropped[topic],
        tooOld: this.#tooOld[topic],
        waiting: waiting(topic),
        rows: own.reduce((sum, { rows }) => sum + rows, 0),
        files: own.length,
        bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      };
      return [topic, counts];
    });
    return {
      problem,
      damaged: files.damagedCount,
      oldestMs: all.length === 0 ? undefined : all.reduce((oldest, { hourMs }) => Math.min(oldest, hourMs), Infinity),
      topics: Object.fromEntries(topics) as RecorderState['topics'],
      leftOut: { ...this.leftOut },
    };
  }
}

function perTopic(): Record<HistoryTopic, number> {
  return { locations: 0, motions: 0, fence_events: 0, collision_events: 0 };
}
