import type { PositionTopic } from '../core/history_rows.ts';
import type { HistoryTopic, TopicState } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';
import type { Erased, Erasure } from './erasure.ts';
import type { FilesWanted, LeasedFiles } from './files.ts';
import type { EndThread } from './thread_end.ts';

/** Settings of the recorder. */
export interface RecorderSettings {
  /** Absolute path of the folder for the files. */
  readonly folder: string;
  readonly topics: readonly HistoryTopic[];
  readonly withProperties: boolean;
  readonly flushMs: number;
  /** Retention time; Infinity to retain all of the history. */
  readonly retentionMs: number;
  /** Maximum bytes of all files; Infinity for no limit. */
  readonly bytesMax: number;
  /** Minimum time, and distance in meters, between two positions of an object. */
  readonly minIntervalMs: number;
  readonly minDistanceMeters: number;
}

/** Messages to the recorder's thread. */
export type ToRecorder =
  /** Positions of steps (position_blocks.ts). The memory belongs to the thread until it returns the block. */
  | { readonly say: 'places'; readonly block: number; readonly memory: SharedArrayBuffer; readonly bytes: number }
  /** `properties` are the hashes of the events' long properties; undefined for events without. */
  | {
      readonly say: 'events';
      readonly topic: EventTopic;
      readonly texts: readonly string[];
      readonly properties: readonly (string | undefined)[];
      readonly bytes: number;
    }
  /** Long properties of a fence, sent before the events that refer to them. */
  | { readonly say: 'fenceProperties'; readonly hash: string; readonly json: string; readonly bytes: number }
  | { readonly say: 'files'; readonly id: number; readonly wanted: FilesWanted }
  | { readonly say: 'erase'; readonly id: number; readonly erasure: Erasure }
  | { readonly say: 'release'; readonly lease: number }
  | { readonly say: 'damaged'; readonly path: string; readonly why: string }
  /** Write buffered rows, then stop. */
  | { readonly say: 'close' }
  | EndThread;

/** Messages from the recorder's thread. */
export type FromRecorder =
  | { readonly say: 'taken'; readonly block: number }
  /** Names that a shard has numbered were lost, so it must restart the numbering. */
  | { readonly say: 'namesMissing'; readonly shard: number }
  | { readonly say: 'eventsTaken'; readonly bytes: number }
  | { readonly say: 'files'; readonly id: number; readonly leased: LeasedFiles }
  | { readonly say: 'erased'; readonly id: number; readonly erased: Erased }
  /** Files could not be leased, or rows could not be erased. */
  | { readonly say: 'failed'; readonly id: number; readonly why: string }
  | { readonly say: 'state'; readonly state: RecorderState }
  | { readonly say: 'notice'; readonly text: string; readonly facts: object; readonly isGood: boolean }
  | { readonly say: 'closed' };

export interface RecorderState {
  /** Why nothing can be written; undefined if rows can be written. */
  readonly problem: string | undefined;
  readonly damaged: number;
  /** Start of the earliest stored hour. */
  readonly oldestMs: number | undefined;
  readonly topics: Readonly<Record<HistoryTopic, TopicState>>;
  /** Number of positions omitted because they are too soon after, or too close to, the previous one. */
  readonly leftOut: Readonly<Record<PositionTopic, number>>;
}
