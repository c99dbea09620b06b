/**
 * Holds the WebSocket in a thread of its own: thousands of positions a second are read here, and the page gets one packed
 * batch when it is ready to draw one.
 */
import { API_PATH } from './api_path.ts';
import { Heard } from './last_seen.ts';
import type { FeedOptions, FromThread, ToThread } from './live_protocol.ts';
import { LiveSocket } from './live_socket.ts';
import { Moves } from './moves.ts';
import { isPassing, pause, waitBefore } from './retry.ts';

/** How far apart batches are at least: positions do not look smoother than this, and nobody reads faster. */
const BATCH_MS = { moves: 50, heard: 1_000 } as const;
/** How often a feed of one floor looks for what has left it. */
const RELIST_MS = 5_000;

type Collected = { readonly of: 'moves'; readonly items: Moves } | { readonly of: 'heard'; readonly items: Heard };

interface Feed {
  readonly collected: Collected;
  readonly from: string;
  readonly floor: number | undefined;
  /** Whether the page waits for a batch. */
  isWanted: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  lastMs: number;
  /** How often it has begun anew, as it does with each subscription. */
  begun: number;
}

const feeds = new Map<number, Feed>();
let socket: LiveSocket | undefined;
let origin = '';
let token: string | undefined;
let bytes = 0;
let elements = 0;
let roundTripMs: number | undefined;

function say(told: FromThread, transfer: Transferable[] = []): void {
  postMessage(told, { transfer });
}

addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  switch (data.do) {
    case 'open':
      origin = data.origin;
      token = data.token;
      open();
      break;
    case 'token':
      token = data.token;
      if (socket !== undefined) socket.token = token;
      break;
    case 'retry':
      socket?.retryNow();
      break;
    case 'subscribe':
      if (data.feed !== undefined) openFeed(data.key, data.feed, data.params['floor']);
      socket?.subscribe(data.key, data.topic, data.params);
      break;
    case 'unsubscribe':
      clearTimeout(feeds.get(data.key)?.timer);
      feeds.delete(data.key);
      socket?.unsubscribe(data.key);
      break;
    case 'taken':
      want(data.key);
      break;
  }
});

function open(): void {
  const deps = {
    now: () => performance.now(),
    random: Math.random,
    after(milliseconds: number, run: () => void) {
      const timer = setTimeout(run, milliseconds);
      return () => clearTimeout(timer);
    },
  };
  const url = `${origin.replace(/^http/, 'ws')}${API_PATH}/ws/socket`;
  socket = new LiveSocket(
    url,
    {
      state: (state, { retryInMs }) => say({ say: 'state', state, retryInMs }),
      subscribed(key) {
        say({ say: 'subscribed', key });
        void startFeed(key);
      },
      refused: (key, description) => say({ say: 'refused', key, description }),
      message(key, payload) {
        const feed = feeds.get(key);
        if (feed === undefined) {
          say({ say: 'events', key, payload });
          return;
        }
        feed.collected.items.add(payload);
        offer(key, feed);
      },
      beat(milliseconds) {
        roundTripMs = milliseconds;
      },
      received(size, count) {
        bytes += size;
        elements += count;
      },
    },
    deps,
  );
  socket.open(token);
  setInterval(() => {
    for (const [key, feed] of feeds) if (feed.floor !== undefined) void list(key, feed).then(() => offer(key, feed));
  }, RELIST_MS);
  setInterval(() => {
    say({ say: 'traffic', traffic: { atMs: Date.now(), bytes, elements, roundTripMs } });
    bytes = 0;
    elements = 0;
  }, 1_000);
}

function openFeed(key: number, { of, from }: FeedOptions, floor: unknown): void {
  const known = typeof floor === 'number' ? floor : undefined;
  const collected: Collected = of === 'moves' ? { of, items: new Moves() } : { of, items: new Heard() };
  feeds.set(key, { collected, from, floor: known, isWanted: true, timer: undefined, lastMs: 0, begun: 0 });
}

/**
 * Events come from now on; what was true before has to be asked for, until a hub has said it: the hub of the WebSocket
 * need not be the one that is asked.
 */
async function startFeed(key: number): Promise<void> {
  const feed = feeds.get(key);
  if (feed === undefined) return;
  feed.collected.items.restart();
  feed.begun++;
  const { begun } = feed;
  for (let attempt = 1; ; attempt++) {
    const isAnswered = await list(key, feed);
    if (feeds.get(key) !== feed || feed.begun !== begun) return;
    offer(key, feed);
    if (isAnswered) return;
    await pause(waitBefore(attempt, Math.random));
    if (feeds.get(key) !== feed || feed.begun !== begun) return;
  }
}

/**
 * Adds what is there now; returns false when no hub could say it. What has left the feed's floor is among it: the hub tells
 * of what is on the floor, and says nothing of what is there no more.
 */
async function list(key: number, feed: Feed): Promise<boolean> {
  const { begun } = feed;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${origin}${API_PATH}${feed.from}`, { headers });
    if (!response.ok) return !isPassing(response.status);
    const { floor } = feed;
    const known = feed.collected.items;
    const items = (await response.json()) as readonly Listed[];
    if (feeds.get(key) !== feed || feed.begun !== begun) return true;
    const wanted = items.filter((item) => {
      const { floor: its, provider_id: providerId } = item.location ?? item;
      return floor === undefined || its === floor || known.knows(item.id ?? providerId ?? '');
    });
    known.add(wanted, { isList: true });
    return true;
  } catch {
    return false;
  }
}

interface Listed {
  readonly id?: string;
  readonly floor?: number;
  readonly provider_id?: string;
  readonly location?: { readonly floor?: number; readonly provider_id?: string };
}

function want(key: number): void {
  const feed = feeds.get(key);
  if (feed === undefined) return;
  feed.isWanted = true;
  offer(key, feed);
}

/** Sends a batch when there is something to send, the page waits, and the last one is long enough ago. */
function offer(key: number, feed: Feed): void {
  if (!feed.isWanted || feed.collected.items.isEmpty || feed.timer !== undefined) return;
  const waitMs = feed.lastMs + BATCH_MS[feed.collected.of] - performance.now();
  if (waitMs > 0) {
    feed.timer = setTimeout(() => {
      feed.timer = undefined;
      offer(key, feed);
    }, waitMs);
    return;
  }
  feed.isWanted = false;
  feed.lastMs = performance.now();
  if (feed.collected.of === 'heard') {
    const batch = feed.collected.items.take();
    say({ say: 'heard', key, batch }, [batch.rows.buffer] as ArrayBuffer[]);
    return;
  }
  const batch = feed.collected.items.take();
  say({ say: 'moves', key, batch }, [batch.rows.buffer, batch.outlines.buffer] as ArrayBuffer[]);
}
