import type { HeardBatch } from './last_seen.ts';
import type { SocketState } from './live_socket.ts';
import type { MoveBatch } from './moves.ts';

/** What is collected until the page is ready to take it. */
export interface FeedOptions {
  /** Where things are, or when and how often they were heard of. */
  readonly of: 'moves' | 'heard';
  /** Path of the list of what is there now. */
  readonly from: string;
}

/** What the page tells the thread that holds the connection. */
export type ToThread =
  | { readonly do: 'open'; readonly origin: string; readonly token: string | undefined }
  | { readonly do: 'token'; readonly token: string | undefined }
  | { readonly do: 'retry' }
  | {
      readonly do: 'subscribe';
      readonly key: number;
      readonly topic: string;
      readonly params: Readonly<Record<string, unknown>>;
      /** What is collected before it is told; undefined for plain events. */
      readonly feed?: FeedOptions | undefined;
    }
  | { readonly do: 'unsubscribe'; readonly key: number }
  /** The page has taken the last batch, and wants the next. */
  | { readonly do: 'taken'; readonly key: number };

/** What the thread tells the page. */
export type FromThread =
  | { readonly say: 'state'; readonly state: SocketState; readonly retryInMs: number | undefined }
  | { readonly say: 'subscribed'; readonly key: number }
  | { readonly say: 'refused'; readonly key: number; readonly description: string }
  | { readonly say: 'events'; readonly key: number; readonly payload: readonly unknown[] }
  | { readonly say: 'moves'; readonly key: number; readonly batch: MoveBatch }
  | { readonly say: 'heard'; readonly key: number; readonly batch: HeardBatch }
  /** Once a second: what came in, and the round trip of the last beat. */
  | { readonly say: 'traffic'; readonly traffic: Traffic };

export interface Traffic {
  readonly atMs: number;
  readonly bytes: number;
  readonly elements: number;
  /** Milliseconds; undefined before the first answer. */
  readonly roundTripMs: number | undefined;
}
