import { effect, signal } from '@preact/signals';
import { accessToken } from './access.ts';
import type { LastSeenBatch } from './last_seen.ts';
import type { FeedOptions, ThreadEvent, ThreadCommand, Traffic } from './live_protocol.ts';
import type { SocketState, SocketError } from './live_socket.ts';
import type { MoveBatch } from './moves.ts';

/** State of the live connection. */
export interface LiveConnection {
  readonly state: SocketState;
  /** Start of the state. */
  readonly sinceMs: number;
  /** Time of the next attempt; undefined if none is scheduled. */
  readonly retryAtMs: number | undefined;
}

export const connection = signal<LiveConnection>({ state: 'connecting', sinceMs: Date.now(), retryAtMs: undefined });

/** Whether the page has reached the hub since it was opened. */
export const wasConnected = signal(false);

/** Traffic of the last minutes, one entry per second, newest last. */
export const traffic = signal<readonly Traffic[]>([]);
const TRAFFIC_MAX = 600;

export interface TopicSubscriber {
  /** The hub has accepted the subscription, initially or after a reconnect. */
  subscribed?(): void;
  events?(payload: readonly never[]): void;
  moves?(batch: MoveBatch): void;
  lastSeen?(batch: LastSeenBatch): void;
  rejected?(error: SocketError): void;
}

interface SharedSubscription {
  readonly key: number;
  readonly subscribers: Set<TopicSubscriber>;
  isAccepted: boolean;
  /** Reason of the rejection. */
  rejection: SocketError | undefined;
  closeTimer: ReturnType<typeof setTimeout> | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** Subscriptions by topic and parameters: the hub rejects duplicates. */
const shared = new Map<string, SharedSubscription>();
const byKey = new Map<number, SharedSubscription>();
let thread: Worker | undefined;
let lastKey = 0;

function post(message: ThreadCommand): void {
  thread?.postMessage(message);
}

/** Opens the connection. Call it once, at the start of the page. */
export function openLive(): void {
  thread = new Worker(new URL('./live_thread.ts', import.meta.url), { type: 'module' });
  thread.onmessage = ({ data }: MessageEvent<ThreadEvent>) => receive(data);
  post({ do: 'open', origin: location.origin, token: accessToken.peek() });
  effect(() => post({ do: 'token', token: accessToken.value }));
  addEventListener('online', () => post({ do: 'retry' }));
  // The backoff is long after a long absence, and the user looks at the page now.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') post({ do: 'retryIfWaiting' });
  });
}

/** Reconnects immediately. */
export function reconnect(): void {
  post({ do: 'retry' });
}

/** Subscribes to a topic; equal subscriptions are shared. Returns a function that unsubscribes. */
export function subscribe(topic: string, params: Params, subscriber: TopicSubscriber): () => void {
  return join({ topic, params }, subscriber);
}

/**
 * Subscribes to moving objects. `moves` receives one packed batch at a time: first all objects, then those that have
 * moved. `from` is the API path of the initial list. Each subscriber has its own feed. Call `next` when a batch is drawn.
 */
export function subscribeMoves(
  { topic, params, from }: { readonly topic: string; readonly params: Params; readonly from: string },
  moves: (batch: MoveBatch, next: () => void) => void,
  rejected: (error: SocketError) => void,
): () => void {
  const key = lastKey + 1;
  const next = (): void => post({ do: 'ready', key });
  const feed = { of: 'moves', from } as const;
  return join({ topic, params, feed }, { moves: (batch) => moves(batch, next), rejected });
}

/** Subscribes to the last time and number of locations of each provider, in at most one batch per second. */
export function subscribeLastSeen(
  lastSeen: (batch: LastSeenBatch) => void,
  rejected: (error: SocketError) => void,
): () => void {
  const key = lastKey + 1;
  const feed = { of: 'last_seen', from: '/providers/locations' } as const;
  const take = (batch: LastSeenBatch): void => {
    lastSeen(batch);
    post({ do: 'ready', key });
  };
  return join({ topic: 'location_updates', params: {}, feed }, { lastSeen: take, rejected });
}

function join(
  { topic, params, feed }: { readonly topic: string; readonly params: Params; readonly feed?: FeedOptions },
  subscriber: TopicSubscriber,
): () => void {
  const identity = feed === undefined ? JSON.stringify([topic, params]) : `${feed.of} ${lastKey + 1}`;
  let group = shared.get(identity);
  if (group === undefined) {
    lastKey++;
    group = { key: lastKey, subscribers: new Set(), isAccepted: false, rejection: undefined, closeTimer: undefined };
    shared.set(identity, group);
    byKey.set(group.key, group);
    post({ do: 'subscribe', key: group.key, topic, params, feed });
  } else if (group.isAccepted) {
    queueMicrotask(() => subscriber.subscribed?.());
  } else if (group.rejection !== undefined) {
    const { rejection } = group;
    queueMicrotask(() => subscriber.rejected?.(rejection));
  }
  clearTimeout(group.closeTimer);
  group.subscribers.add(subscriber);
  return () => release(identity, subscriber, feed === undefined ? 1_000 : 0);
}

/** Removes a subscriber. An unused subscription lingers, since the next page may need the same. */
function release(identity: string, subscriber: TopicSubscriber, lingerMs: number): void {
  const group = shared.get(identity);
  if (group === undefined) return;
  group.subscribers.delete(subscriber);
  if (group.subscribers.size > 0) return;
  const close = (): void => {
    if (group.subscribers.size > 0) return;
    shared.delete(identity);
    byKey.delete(group.key);
    post({ do: 'unsubscribe', key: group.key });
  };
  if (lingerMs === 0) close();
  else group.closeTimer = setTimeout(close, lingerMs);
}

function receive(message: ThreadEvent): void {
  switch (message.post) {
    case 'state':
      changeState(message.state, message.retryInMs);
      break;
    case 'traffic':
      traffic.value = [...traffic.value.slice(1 - TRAFFIC_MAX), message.traffic];
      break;
    case 'subscribed': {
      const group = byKey.get(message.key);
      if (group !== undefined) Object.assign(group, { isAccepted: true, rejection: undefined });
      for (const subscriber of group?.subscribers ?? []) subscriber.subscribed?.();
      break;
    }
    case 'rejected': {
      const group = byKey.get(message.key);
      if (group !== undefined) Object.assign(group, { isAccepted: false, rejection: message.error });
      for (const { rejected } of group?.subscribers ?? []) rejected?.(message.error);
      break;
    }
    case 'events':
      for (const { events } of byKey.get(message.key)?.subscribers ?? []) events?.(message.payload as readonly never[]);
      break;
    case 'moves':
      for (const { moves } of byKey.get(message.key)?.subscribers ?? []) moves?.(message.batch);
      break;
    case 'last_seen':
      for (const { lastSeen } of byKey.get(message.key)?.subscribers ?? []) lastSeen?.(message.batch);
      break;
  }
}

function changeState(state: SocketState, retryInMs: number | undefined): void {
  const nowMs = Date.now();
  const retryAtMs = retryInMs === undefined ? undefined : nowMs + retryInMs;
  const { state: before, sinceMs } = connection.peek();
  if (state === 'connected') wasConnected.value = true;
  if (state !== 'connected' && state !== 'stale') {
    for (const group of byKey.values()) Object.assign(group, { isAccepted: false, rejection: undefined });
  }
  connection.value = { state, sinceMs: state === before ? sinceMs : nowMs, retryAtMs };
}
