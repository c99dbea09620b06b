import type { HistoryFile } from '../files.ts';
import type { EndThread } from '../thread_end.ts';
import type { Answer } from './answer.ts';
import type { ThreadQuestion } from './question.ts';

/** What a thread is started with. */
export interface QuerySettings {
  readonly memoryMb: number;
  /** What it shares with the pool: see duck.ts. */
  readonly flight: Int32Array;
}

/** What crosses to a thread that answers questions. */
export type ToQueryThread =
  | {
      readonly say: 'question';
      readonly id: number;
      readonly question: ThreadQuestion;
      readonly files: readonly HistoryFile[];
    }
  | { readonly say: 'interrupt'; readonly id: number }
  | EndThread;

/** What comes back. */
export type FromQueryThread =
  /** It has its database, and begins with questions. */
  | { readonly say: 'ready' }
  | ({ readonly say: 'answer'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> } & Pick<
      Answer,
      'next' | 'damaged'
    >)
  /** `isAsked`: it cannot be answered as it was asked. */
  | { readonly say: 'failure'; readonly id: number; readonly why: string; readonly isAsked: boolean };
