import type { HistoryFile } from '../files.ts';
import type { EndThread } from '../thread_end.ts';
import type { QueryAnswer } from './answer.ts';
import type { ThreadQuery } from './query.ts';

/** Start data of a thread. */
export interface QuerySettings {
  readonly memoryMb: number;
  /** Memory shared with the pool: see flight.ts. */
  readonly flight: Int32Array;
}

/** Messages to a query thread. */
export type ToQueryThread =
  | {
      readonly say: 'question';
      readonly id: number;
      readonly question: ThreadQuery;
      readonly files: readonly HistoryFile[];
    }
  | { readonly say: 'interrupt'; readonly id: number }
  | EndThread;

/** Messages from a query thread. */
export type FromQueryThread =
  /** The database is open, and queries can begin. */
  | { readonly say: 'ready' }
  | ({ readonly say: 'answer'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> } & Pick<
      QueryAnswer,
      'next' | 'damaged'
    >)
  /** `isAsked`: the query itself is invalid. */
  | { readonly say: 'failure'; readonly id: number; readonly why: string; readonly isAsked: boolean };
