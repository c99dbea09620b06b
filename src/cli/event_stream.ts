import { parseLossless } from '../model/lossless_numbers.ts';
import { CliError } from './command_error.ts';
import { tokenHere, unreachable } from './hub_client.ts';

/** A topic with the filters and transformations of its events. */
export interface StreamSubscription {
  readonly topic: string;
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
}

/** An open WebSocket with all its subscriptions. */
export interface EventStream {
  /** Resolves when the connection closes: with undefined after `close`, otherwise with the reason. */
  readonly ended: Promise<string | undefined>;
  close(): void;
}

interface Frame {
  readonly event?: string;
  readonly topic?: string;
  readonly payload?: readonly unknown[];
  readonly code?: number;
  readonly description?: string;
}

interface Wanted {
  readonly subscriptions: readonly StreamSubscription[];
  onEvents(topic: string, payload: readonly unknown[]): void;
  /** Closes the connection, even while it is being established. */
  readonly signal: AbortSignal;
}

/**
 * Subscribes to topics and passes on each message's payload. Resolves when the hub has acknowledged all of them. Throws
 * a CliError if the hub cannot be reached or rejects a subscription, and the signal's reason once it is aborted.
 */
export async function openEventStream(hub: string, wanted: Wanted): Promise<EventStream> {
  const { subscriptions, onEvents, signal } = wanted;
  signal.throwIfAborted();
  const socket = new WebSocket(`${hub.replace(/^http/, 'ws')}/hub/v2/ws/socket`);
  const token = tokenHere();
  const access = token === undefined ? {} : { token };
  const waiting = [...subscriptions];
  const subscribed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string | undefined>();
  let closing = false;
  const close = () => {
    closing = true;
    socket.close();
  };
  signal.addEventListener('abort', () => {
    subscribed.reject(signal.reason);
    close();
  });
  const next = () => {
    const subscription = waiting[0];
    if (subscription === undefined) subscribed.resolve();
    else
      socket.send(
        JSON.stringify({ event: 'subscribe', ...subscription, params: { ...subscription.params, ...access } }),
      );
  };
  socket.addEventListener('open', next);
  socket.addEventListener('message', ({ data }) => {
    const frame = parseLossless(String(data)) as Frame;
    if (frame.event === 'message') onEvents(frame.topic ?? '', frame.payload ?? []);
    if (frame.event === 'subscribed') {
      waiting.shift();
      next();
    }
    if (frame.event === 'error') {
      const why = `${frame.description ?? 'error'} (${frame.code})`;
      const refusal = `The hub rejects the subscription to ${waiting[0]?.topic}: ${why}`;
      if (waiting.length > 0) subscribed.reject(new CliError(refusal));
      else ended.resolve(`The hub reports an error: ${why}`);
      socket.close();
    }
  });
  const end = (why: string) => {
    subscribed.reject(unreachable(hub, undefined));
    ended.resolve(closing ? undefined : why);
  };
  socket.addEventListener('close', ({ code, reason }) =>
    end(`The hub has closed the WebSocket: ${reason || `code ${code}`}`),
  );
  // A failed connection has no close event.
  socket.addEventListener('error', () => end('The connection to the hub is lost'));
  await subscribed.promise;
  return { ended: ended.promise, close };
}
