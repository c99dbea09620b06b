import { effect, signal } from '@preact/signals';
import { accessToken } from './access.ts';
import type { HeardBatch } from './last_seen.ts';
import type { FeedOptions, FromThread, ToThread, Traffic } from './live_protocol.ts';
import type { SocketState } from './live_socket.ts';
import type { MoveBatch } from './moves.ts';

/** The connection as it is, for whoever wants to show it. */
export interface Connection {
  readonly state: SocketState;
  /** When the state began. */
  readonly sinceMs: number;
  /** When the next attempt is made; undefined where none is needed. */
  readonly retryAtMs: number | undefined;
}

export const connection = signal<Connection>({ state: 'connecting', sinceMs: Date.now(), retryAtMs: undefined });

/** Whether the hub has been reached since the page was opened. */
export const wasConnected = signal(false);

/** The last minutes of traffic, one entry a second, the newest last. */
export const traffic = signal<readonly Traffic[]>([]);
const TRAFFIC_MAX = 600;

export interface Subscriber {
  /** The hub has taken the subscription, for the first time or again. */
  subscribed?(): void;
  events?(payload: readonly never[]): void;
  moves?(batch: MoveBatch): void;
  heard?(batch: HeardBatch): void;
  refused?(description: string): void;
}

interface Shared {
  readonly key: number;
  readonly subscribers: Set<Subscriber>;
  isTaken: boolean;
  /** Why the hub did not take it. */
  refusal: string | undefined;
  ending: ReturnType<typeof setTimeout> | undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** Subscriptions by what they ask for: the hub refuses a second one that is equal to the first. */
const shared = new Map<string, Shared>();
const byKey = new Map<number, Shared>();
let thread: Worker | undefined;
let lastKey = 0;

function tell(told: ToThread): void {
  thread?.postMessage(told);
}

/** Opens the connection; once, when the page starts. */
export function openLive(): void {
  thread = new Worker(new URL('./live_thread.ts', import.meta.url), { type: 'module' });
  thread.onmessage = ({ data }: MessageEvent<FromThread>) => receive(data);
  tell({ do: 'open', origin: location.origin, token: accessToken.peek() });
  effect(() => tell({ do: 'token', token: accessToken.value }));
  addEventListener('online', () => tell({ do: 'retry' }));
}

/** Connects anew at once. */
export function reconnect(): void {
  tell({ do: 'retry' });
}

/** Subscribes to a topic; equal subscriptions are shared. Returns what ends it. */
export function subscribe(topic: string, params: Params, subscriber: Subscriber): () => void {
  return join({ topic, params }, subscriber);
}

/**
 * Subscribes to moving objects: `moves` gets one packed batch at a time, first of everything that is there now, then of
 * what has moved. `from` is the path of the list of what is there. Each subscriber has a feed of its own. Call `next`
 * when a batch is drawn.
 */
export function subscribeMoves(
  { topic, params, from }: { readonly topic: string; readonly params: Params; readonly from: string },
  moves: (batch: MoveBatch, next: () => void) => void,
  refused: (description: string) => void,
): () => void {
  const key = lastKey + 1;
  const next = (): void => tell({ do: 'taken', key });
  const feed = { of: 'moves', from } as const;
  return join({ topic, params, feed }, { moves: (batch) => moves(batch, next), refused });
}

/** Subscribes to when and how often each provider is heard of: `heard` gets a batch a second at most. */
export function subscribeHeard(heard: (batch: HeardBatch) => void, refused: (description: string) => void): () => void {
  const key = lastKey + 1;
  const feed = { of: 'heard', from: '/providers/locations' } as const;
  const take = (batch: HeardBatch): void => {
    heard(batch);
    tell({ do: 'taken', key });
  };
  return join({ topic: 'location_updates', params: {}, feed }, { heard: take, refused });
}

function join(
  { topic, params, feed }: { readonly topic: string; readonly params: Params; readonly feed?: FeedOptions },
  subscriber: Subscriber,
): () => void {
  const identity = feed === undefined ? JSON.stringify([topic, params]) : `${feed.of} ${lastKey + 1}`;
  let group = shared.get(identity);
  if (group === undefined) {
    lastKey++;
    group = { key: lastKey, subscribers: new Set(), isTaken: false, refusal: undefined, ending: undefined };
    shared.set(identity, group);
    byKey.set(group.key, group);
    tell({ do: 'subscribe', key: group.key, topic, params, feed });
  } else if (group.isTaken) {
    queueMicrotask(() => subscriber.subscribed?.());
  } else if (group.refusal !== undefined) {
    const { refusal } = group;
    queueMicrotask(() => subscriber.refused?.(refusal));
  }
  clearTimeout(group.ending);
  group.subscribers.add(subscriber);
  return () => leave(identity, subscriber, feed === undefined ? 1_000 : 0);
}

/** The subscription of a page that is left lingers: the next page may want the same. */
function leave(identity: string, subscriber: Subscriber, lingerMs: number): void {
  const group = shared.get(identity);
  if (group === undefined) return;
  group.subscribers.delete(subscriber);
  if (group.subscribers.size > 0) return;
  const end = (): void => {
    if (group.subscribers.size > 0) return;
    shared.delete(identity);
    byKey.delete(group.key);
    tell({ do: 'unsubscribe', key: group.key });
  };
  if (lingerMs === 0) end();
  else group.ending = setTimeout(end, lingerMs);
}

function receive(told: FromThread): void {
  switch (told.say) {
    case 'state':
      changeState(told.state, told.retryInMs);
      break;
    case 'traffic':
      traffic.value = [...traffic.value.slice(1 - TRAFFIC_MAX), told.traffic];
      break;
    case 'subscribed': {
      const group = byKey.get(told.key);
      if (group !== undefined) Object.assign(group, { isTaken: true, refusal: undefined });
      for (const subscriber of group?.subscribers ?? []) subscriber.subscribed?.();
      break;
    }
    case 'refused': {
      const group = byKey.get(told.key);
      if (group !== undefined) Object.assign(group, { isTaken: false, refusal: told.description });
      for (const { refused } of group?.subscribers ?? []) refused?.(told.description);
      break;
    }
    case 'events':
      for (const { events } of byKey.get(told.key)?.subscribers ?? []) events?.(told.payload as readonly never[]);
      break;
    case 'moves':
      for (const { moves } of byKey.get(told.key)?.subscribers ?? []) moves?.(told.batch);
      break;
    case 'heard':
      for (const { heard } of byKey.get(told.key)?.subscribers ?? []) heard?.(told.batch);
      break;
  }
}

function changeState(state: SocketState, retryInMs: number | undefined): void {
  const nowMs = Date.now();
  const retryAtMs = retryInMs === undefined ? undefined : nowMs + retryInMs;
  const { state: before, sinceMs } = connection.peek();
  if (state === 'connected') wasConnected.value = true;
  if (state !== 'connected' && state !== 'stale') {
    for (const group of byKey.values()) Object.assign(group, { isTaken: false, refusal: undefined });
  }
  connection.value = { state, sinceMs: state === before ? sinceMs : nowMs, retryAtMs };
}
