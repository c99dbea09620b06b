import type { LastSeenBatch } from './last_seen.ts';
import type { SocketState } from './live_socket.ts';
import type { MoveBatch } from './moves.ts';

/** What is collected until the page is ready to take it. */
export interface FeedOptions {
  /** Where things are, or when and how often they were heard of. */
  readonly of: 'moves' | 'last_seen';
  /** Path of the list of what is there now. */
  readonly from: string;
}

/** What the page tells the thread that holds the connection. */
export type ThreadCommand =
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
  | { readonly do: 'ready'; readonly key: number };

/** What the thread tells the page. */
export type ThreadEvent =
  | { readonly post: 'state'; readonly state: SocketState; readonly retryInMs: number | undefined }
  | { readonly post: 'subscribed'; readonly key: number }
  | { readonly post: 'rejected'; readonly key: number; readonly description: string }
  | { readonly post: 'events'; readonly key: number; readonly payload: readonly unknown[] }
  | { readonly post: 'moves'; readonly key: number; readonly batch: MoveBatch }
  | { readonly post: 'last_seen'; readonly key: number; readonly batch: LastSeenBatch }
  /** Once a second: what came in, and the round trip of the last beat. */
  | { readonly post: 'traffic'; readonly traffic: Traffic };

export interface Traffic {
  readonly atMs: number;
  readonly bytes: number;
  readonly elements: number;
  /** Milliseconds; undefined before the first answer. */
  readonly roundTripMs: number | undefined;
}
