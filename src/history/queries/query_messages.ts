import type { ErrorReason } from '../../reasons.ts';
import type { HistoryFile } from '../files.ts';
import type { QueryAnswer } from './answer.ts';
import type { PoolQuery } from './query.ts';

/** Messages to a query process. */
export type ToQueryProcess =
  | {
      readonly say: 'question';
      readonly id: number;
      readonly question: PoolQuery;
      readonly files: readonly HistoryFile[];
    }
  | { readonly say: 'interrupt'; readonly id: number };

/** Messages from a query process. */
export type FromQueryProcess =
  /** The database is open, so queries can start. */
  | { readonly say: 'ready' }
  | ({ readonly say: 'answer'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> } & Pick<
      QueryAnswer,
      'next' | 'damaged'
    >)
  /** `problem` is set if the query itself is invalid. */
  | { readonly say: 'failure'; readonly id: number; readonly why: string; readonly problem?: ErrorReason };
