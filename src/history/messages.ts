import type { PositionTopic } from '../core/history_rows.ts';
import type { HistoryTopic } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';
import type { FilesWanted, LeasedFiles } from './files.ts';
import type { EndThread } from './thread_end.ts';

/** What is recorded, and how. */
export interface RecorderSettings {
  /** The folder of the files, absolute. */
  readonly folder: string;
  readonly topics: readonly HistoryTopic[];
  readonly withProperties: boolean;
  readonly flushMs: number;
  /** How long history is retained; Infinity to retain all of it. */
  readonly retentionMs: number;
  /** What the files may take; Infinity for no limit. */
  readonly bytesMax: number;
  /** Least time, and least distance in metres, between two places of an object. */
  readonly minIntervalMs: number;
  readonly minDistanceMetres: number;
}

/** What crosses to the recorder's thread. */
export type ToRecorder =
  /** Places of steps (place_blocks.ts), in memory that is the thread's until it gives it back. */
  | { readonly say: 'places'; readonly block: number; readonly memory: SharedArrayBuffer; readonly bytes: number }
  /** `properties`: the hash of each event's long properties, if it has any. */
  | {
      readonly say: 'events';
      readonly topic: EventTopic;
      readonly texts: readonly string[];
      readonly properties: readonly (string | undefined)[];
      readonly bytes: number;
    }
  /** Long properties of a fence, before the events that refer to them. */
  | { readonly say: 'fenceProperties'; readonly hash: string; readonly json: string; readonly bytes: number }
  | { readonly say: 'files'; readonly id: number; readonly wanted: FilesWanted }
  | { readonly say: 'release'; readonly lease: number }
  | { readonly say: 'damaged'; readonly path: string; readonly why: string }
  /** To write what waits, before the end. */
  | { readonly say: 'close' }
  | EndThread;

/** What comes back. */
export type FromRecorder =
  | { readonly say: 'taken'; readonly block: number }
  /** Names that a shard has given numbers have not come here: it is to begin anew. */
  | { readonly say: 'namesMissing'; readonly shard: number }
  | { readonly say: 'eventsTaken'; readonly bytes: number }
  | { readonly say: 'files'; readonly id: number; readonly leased: LeasedFiles }
  | { readonly say: 'noFiles'; readonly id: number; readonly why: string }
  | { readonly say: 'state'; readonly state: RecorderState }
  | { readonly say: 'notice'; readonly text: string; readonly facts: object; readonly isGood: boolean }
  | { readonly say: 'closed' };

/** What is counted of a topic. */
export interface TopicState {
  /** Rows that were written, and such for which there was no room. */
  readonly recorded: number;
  readonly dropped: number;
  /** Rows that are older than the retention, and were not recorded. */
  readonly tooOld: number;
  readonly waiting: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

export interface RecorderState {
  /** Why nothing can be written; undefined where it can. */
  readonly problem: string | undefined;
  readonly damaged: number;
  /** When the earliest hour begins that is kept. */
  readonly oldestMs: number | undefined;
  readonly topics: Readonly<Record<HistoryTopic, TopicState>>;
  /** Places that were not to be recorded: too soon after others, or too near to them. */
  readonly leftOut: Readonly<Record<PositionTopic, number>>;
}
