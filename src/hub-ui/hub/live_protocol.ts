import type { LastSeenBatch } from './last_seen.ts';
import type { SocketState, SocketError } from './live_socket.ts';
import type { MoveBatch } from './moves.ts';

/** Feed that collects items until the page is ready for a batch. */
export interface FeedOptions {
  /** Positions, or the last time and number of locations. */
  readonly of: 'moves' | 'last_seen';
  /** API path of the initial list. */
  readonly from: string;
}

/** Commands of the page to the connection thread. */
export type ThreadCommand =
  | { readonly do: 'open'; readonly origin: string; readonly token: string | undefined }
  | { readonly do: 'token'; readonly token: string | undefined }
  | { readonly do: 'retry' }
  /** Retries unless an attempt is in flight or the connection is open. */
  | { readonly do: 'retryIfWaiting' }
  | {
      readonly do: 'subscribe';
      readonly key: number;
      readonly topic: string;
      readonly params: Readonly<Record<string, unknown>>;
      /** Feed that collects the events into batches; undefined for plain events. */
      readonly feed?: FeedOptions | undefined;
    }
  | { readonly do: 'unsubscribe'; readonly key: number }
  /** The page has processed the last batch and is ready for the next. */
  | { readonly do: 'ready'; readonly key: number };

/** Messages of the connection thread to the page. */
export type ThreadEvent =
  | { readonly post: 'state'; readonly state: SocketState; readonly retryInMs: number | undefined }
  | { readonly post: 'subscribed'; readonly key: number }
  | { readonly post: 'rejected'; readonly key: number; readonly error: SocketError }
  | { readonly post: 'events'; readonly key: number; readonly payload: readonly unknown[] }
  | { readonly post: 'moves'; readonly key: number; readonly batch: MoveBatch }
  | { readonly post: 'last_seen'; readonly key: number; readonly batch: LastSeenBatch }
  /** Once per second: received traffic and the round trip of the last heartbeat. */
  | { readonly post: 'traffic'; readonly traffic: Traffic };

export interface Traffic {
  readonly atMs: number;
  readonly bytes: number;
  readonly elements: number;
  /** Milliseconds; undefined before the first response. */
  readonly roundTripMs: number | undefined;
}
