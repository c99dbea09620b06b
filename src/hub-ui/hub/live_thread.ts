/**
 * Entry of the connection thread. It parses thousands of positions per second and sends the page one packed batch whenever
 * the page is ready to draw.
 */
import { API_PATH } from './api_path.ts';
import { LastSeenCollector } from './last_seen.ts';
import type { FeedOptions, ThreadEvent, ThreadCommand } from './live_protocol.ts';
import { LiveSocket } from './live_socket.ts';
import { MoveCollector } from './moves.ts';
import { isTransient, pause, backoffMs } from './retry.ts';

/** Minimum interval between batches: shorter ones would neither look smoother nor be readable. */
const BATCH_MS = { moves: 50, last_seen: 1_000 } as const;
/** Interval at which a feed of one floor checks for objects that have left the floor. */
const RELIST_MS = 5_000;

type FeedItems =
  | { readonly of: 'moves'; readonly items: MoveCollector }
  | { readonly of: 'last_seen'; readonly items: LastSeenCollector };

interface Feed {
  readonly collected: FeedItems;
  readonly from: string;
  readonly floor: number | undefined;
  /** Whether the page waits for a batch. */
  isPageReady: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  lastMs: number;
  /** Number of restarts; each new subscription restarts the feed. */
  restarts: number;
}

const feeds = new Map<number, Feed>();
let socket: LiveSocket | undefined;
let origin = '';
let token: string | undefined;
let bytes = 0;
let elements = 0;
let roundTripMs: number | undefined;

function post(event: ThreadEvent, transfer: Transferable[] = []): void {
  postMessage(event, { transfer });
}

addEventListener('message', ({ data }: MessageEvent<ThreadCommand>) => {
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
    case 'retryIfWaiting':
      socket?.retryIfWaiting();
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
    case 'ready':
      markReady(data.key);
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
      state: (state, { retryInMs }) => post({ post: 'state', state, retryInMs }),
      subscribed(key) {
        post({ post: 'subscribed', key });
        void startFeed(key);
      },
      rejected: (key, error) => post({ post: 'rejected', key, error }),
      message(key, payload) {
        const feed = feeds.get(key);
        if (feed === undefined) {
          post({ post: 'events', key, payload });
          return;
        }
        feed.collected.items.add(payload);
        sendBatch(key, feed);
      },
      heartbeat(milliseconds) {
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
    for (const [key, feed] of feeds)
      if (feed.floor !== undefined) void addListed(key, feed).then(() => sendBatch(key, feed));
  }, RELIST_MS);
  setInterval(() => {
    post({ post: 'traffic', traffic: { atMs: Date.now(), bytes, elements, roundTripMs } });
    bytes = 0;
    elements = 0;
  }, 1_000);
}

function openFeed(key: number, { of, from }: FeedOptions, floor: unknown): void {
  const known = typeof floor === 'number' ? floor : undefined;
  const collected: FeedItems =
    of === 'moves' ? { of, items: new MoveCollector() } : { of, items: new LastSeenCollector() };
  feeds.set(key, { collected, from, floor: known, isPageReady: true, timer: undefined, lastMs: 0, restarts: 0 });
}

/**
 * Loads the initial list of a feed, with retries until a hub responds: the hub that answers the request need not be the
 * hub of the WebSocket.
 */
async function startFeed(key: number): Promise<void> {
  const feed = feeds.get(key);
  if (feed === undefined) return;
  feed.collected.items.restart();
  feed.restarts++;
  const { restarts } = feed;
  for (let attempt = 1; ; attempt++) {
    const isAnswered = await addListed(key, feed);
    if (feeds.get(key) !== feed || feed.restarts !== restarts) return;
    sendBatch(key, feed);
    if (isAnswered) return;
    await pause(backoffMs(attempt, Math.random));
    if (feeds.get(key) !== feed || feed.restarts !== restarts) return;
  }
}

/**
 * Adds the current objects; returns false if no hub responded. Includes objects that have left the feed's floor, since
 * the hub sends no event for these.
 */
async function addListed(key: number, feed: Feed): Promise<boolean> {
  const { restarts } = feed;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${origin}${API_PATH}${feed.from}`, { headers });
    if (!response.ok) return !isTransient(response.status);
    const { floor } = feed;
    const known = feed.collected.items;
    const items = (await response.json()) as readonly Listed[];
    if (feeds.get(key) !== feed || feed.restarts !== restarts) return true;
    const listed = items.filter((item) => {
      const { floor: its, provider_id: providerId } = item.location ?? item;
      return floor === undefined || its === floor || known.has(item.id ?? providerId ?? '');
    });
    known.add(listed, { isList: true });
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

function markReady(key: number): void {
  const feed = feeds.get(key);
  if (feed === undefined) return;
  feed.isPageReady = true;
  sendBatch(key, feed);
}

/** Sends a batch if there are items, the page is ready, and the interval since the last batch has passed. */
function sendBatch(key: number, feed: Feed): void {
  if (!feed.isPageReady || feed.collected.items.isEmpty || feed.timer !== undefined) return;
  const waitMs = feed.lastMs + BATCH_MS[feed.collected.of] - performance.now();
  if (waitMs > 0) {
    feed.timer = setTimeout(() => {
      feed.timer = undefined;
      sendBatch(key, feed);
    }, waitMs);
    return;
  }
  feed.isPageReady = false;
  feed.lastMs = performance.now();
  if (feed.collected.of === 'last_seen') {
    const batch = feed.collected.items.take();
    post({ post: 'last_seen', key, batch }, [batch.rows.buffer] as ArrayBuffer[]);
    return;
  }
  const batch = feed.collected.items.take();
  post({ post: 'moves', key, batch }, [batch.rows.buffer, batch.outlines.buffer] as ArrayBuffer[]);
}
