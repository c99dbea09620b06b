import type { ErrorReason } from '../../reasons.ts';
import { backoffMs } from './retry.ts';

/**
 * WebSocket to the hub that reconnects for as long as the page is open. After any close, such as a crash of the hub or a
 * close code 1001 or 1013, the next attempt may reach another hub. All subscriptions are then sent again.
 *
 *   connecting ── open ──▶ connected ── heartbeat unanswered ────▶ stale ── no frame at all ───────▶ reconnecting
 *        ▲                     ▲                                     │                                   │
 *        └── after a while ────┼─────────────────────────────────────┼───────────────────────────────────┘
 *                              └───────────── any frame ─────────────┘
 *
 * Browsers do not expose pings, so the socket has its own heartbeat: it subscribes to a topic without events and
 * unsubscribes again. Each response proves that the hub reads and writes, and measures the round trip. The backoff is reset
 * only after a heartbeat has been answered and the next is due, so a hub that closes new connections is contacted ever
 * less often.
 *
 * A hub that cannot reach its cluster rejects subscriptions temporarily. These are retried with the same backoff.
 */
export type SocketState = 'connecting' | 'connected' | 'stale' | 'reconnecting';

/** Reason for which the hub rejects a command. */
export interface SocketError extends Partial<ErrorReason> {
  readonly message: string;
}

export interface SocketEvents {
  state(state: SocketState, facts: { readonly retryInMs?: number }): void;
  message(key: number, payload: readonly unknown[]): void;
  /** The hub has accepted a subscription and sends all events from now on. Called again after each reconnect. */
  subscribed(key: number): void;
  rejected(key: number, error: SocketError): void;
  /** Round trip of a heartbeat. */
  heartbeat(milliseconds: number): void;
  received(bytes: number, elements: number): void;
}

/** Clock and randomness, injected so that tests need not wait. */
export interface LiveSocketDeps {
  readonly now: () => number;
  readonly random: () => number;
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

interface SubscriptionRequest {
  readonly topic: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Number of rejections on the current connection. */
  rejections: number;
}

type PendingCommand = { readonly is: 'subscribe' | 'unsubscribe'; readonly key: number } | { readonly is: 'heartbeat' };

const HEARTBEAT_MS = 5_000;
const STALE_MS = 4_000;
const DEAD_MS = 12_000;
const HEARTBEAT = { topic: 'anchor_changes', params: { id: 'beat of the web UI' } };

/** Error code of a rejected subscription, temporary or permanent. */
const SUBSCRIBE_FAILED = 10002;

interface Frame {
  readonly event?: string;
  readonly topic?: string;
  readonly subscription_id?: number;
  readonly payload?: readonly unknown[];
  readonly description?: string;
  readonly reason?: ErrorReason['reason'];
  readonly params?: ErrorReason['params'];
  readonly code?: number;
}

export class LiveSocket {
  readonly #url: string;
  readonly #on: SocketEvents;
  readonly #deps: LiveSocketDeps;
  readonly #requests = new Map<number, SubscriptionRequest>();
  /** Keys by the hub's subscription ids on the current connection. */
  readonly #keys = new Map<number, number>();
  #token: string | undefined;
  #socket: WebSocket | undefined;
  #state: SocketState = 'connecting';
  /** Unanswered commands. The hub answers in order. */
  #pending: PendingCommand[] = [];
  #attempt = 0;
  #lastFrameMs = 0;
  #heartbeatSentMs: number | undefined;
  #heartbeatId: number | undefined;
  #cancelTimer: () => void = () => undefined;
  /** Cancels pending retries of subscriptions. */
  readonly #cancelRetry = new Map<number, () => void>();

  constructor(url: string, on: SocketEvents, deps: LiveSocketDeps) {
    this.#url = url;
    this.#on = on;
    this.#deps = deps;
  }

  /** Connects. `token` is sent with every subscription. */
  open(token?: string): void {
    this.#token = token;
    this.#connect();
  }

  /** Sets a new token and reconnects, which retries rejected subscriptions. */
  set token(token: string | undefined) {
    if (token === this.#token) return;
    this.#token = token;
    this.retryNow();
  }

  subscribe(key: number, topic: string, params: Readonly<Record<string, unknown>>): void {
    this.#requests.set(key, { topic, params, rejections: 0 });
    if (this.#isOpen) this.#sendSubscribe(key);
  }

  unsubscribe(key: number): void {
    this.#requests.delete(key);
    this.#cancelRetry.get(key)?.();
    this.#cancelRetry.delete(key);
    const id = this.#idOf(key);
    if (id === undefined || !this.#isOpen) return;
    this.#keys.delete(id);
    this.#command({ is: 'unsubscribe', key }, { event: 'unsubscribe', subscription_id: id });
  }

  /** Reconnects immediately, for example when the network is back. Replaces an open connection and an attempt in flight. */
  retryNow(): void {
    this.#connect();
  }

  /** Reconnects immediately if the next attempt is waiting for its time. */
  retryIfWaiting(): void {
    if (this.#socket === undefined) this.#connect();
  }

  close(): void {
    this.#cancelTimer();
    this.#detach();
  }

  get #isOpen(): boolean {
    return this.#socket?.readyState === 1;
  }

  #connect(): void {
    this.#cancelTimer();
    this.#detach();
    if (this.#attempt === 0) this.#setState('connecting');
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => {
      this.#lastFrameMs = this.#deps.now();
      this.#setState('connected');
      for (const key of this.#requests.keys()) this.#sendSubscribe(key);
      this.#sendHeartbeat();
    };
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = () => this.#reconnectLater();
    // A connection attempt may take minutes to fail.
    this.#timer(DEAD_MS, () => this.#drop());
  }

  /** Drops the connection and schedules a reconnect. */
  #drop(): void {
    this.#detach();
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    this.#detach();
    this.#attempt++;
    const waitMs = backoffMs(this.#attempt, this.#deps.random);
    this.#setState('reconnecting', { retryInMs: waitMs });
    this.#timer(waitMs, () => this.#connect());
  }

  #detach(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#pending = [];
    this.#keys.clear();
    for (const cancel of this.#cancelRetry.values()) cancel();
    this.#cancelRetry.clear();
    for (const request of this.#requests.values()) request.rejections = 0;
    this.#heartbeatSentMs = undefined;
    this.#heartbeatId = undefined;
    if (socket === undefined) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #receive(text: string): void {
    this.#lastFrameMs = this.#deps.now();
    if (this.#state === 'stale') this.#setState('connected');
    const frame = JSON.parse(text) as Frame;
    this.#on.received(text.length, frame.payload?.length ?? 0);
    if (frame.event === 'message') this.#deliver(frame);
    else this.#receiveReply(frame);
  }

  #deliver({ subscription_id: id, topic, payload = [] }: Frame): void {
    if (id !== undefined) {
      const key = this.#keys.get(id);
      if (key !== undefined) this.#on.message(key, payload);
      return;
    }
    // A hub can be configured to omit subscription ids: then every subscription to the topic gets the event.
    for (const [key, wanted] of this.#requests) if (wanted.topic === topic) this.#on.message(key, payload);
  }

  #receiveReply({ event, subscription_id: id, description = '', reason, params, code = 0 }: Frame): void {
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    if (pending.is === 'heartbeat') {
      if (this.#heartbeatSentMs !== undefined) this.#on.heartbeat(this.#deps.now() - this.#heartbeatSentMs);
      this.#heartbeatSentMs = undefined;
      this.#heartbeatId = event === 'subscribed' ? id : undefined;
      return;
    }
    if (pending.is === 'unsubscribe') return;
    const { key } = pending;
    if (event === 'error' || id === undefined) {
      this.#on.rejected(key, { message: description, ...(reason && params && { reason, params }) });
      if (code === SUBSCRIBE_FAILED) this.#retrySubscribe(key);
      return;
    }
    this.#keys.set(id, key);
    if (this.#requests.has(key)) this.#on.subscribed(key);
    else this.unsubscribe(key);
  }

  #retrySubscribe(key: number): void {
    const request = this.#requests.get(key);
    if (request === undefined) return;
    request.rejections++;
    const retry = (): void => {
      this.#cancelRetry.delete(key);
      if (this.#isOpen) this.#sendSubscribe(key);
    };
    this.#cancelRetry.set(key, this.#deps.after(backoffMs(request.rejections, this.#deps.random), retry));
  }

  #idOf(key: number): number | undefined {
    for (const [id, held] of this.#keys) if (held === key) return id;
    return undefined;
  }

  #sendSubscribe(key: number): void {
    const request = this.#requests.get(key);
    if (request === undefined) return;
    const params = this.#withToken(request.params);
    this.#command({ is: 'subscribe', key }, { event: 'subscribe', topic: request.topic, params });
  }

  #command(pending: PendingCommand, frame: object): void {
    this.#pending.push(pending);
    this.#socket?.send(JSON.stringify(frame));
  }

  #withToken(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return this.#token === undefined ? params : { ...params, token: this.#token };
  }

  #sendHeartbeat(): void {
    if (this.#heartbeatSentMs === undefined) {
      this.#heartbeatSentMs = this.#deps.now();
      const isSubscribed = this.#heartbeatId !== undefined;
      const frame = isSubscribed
        ? { event: 'unsubscribe', subscription_id: this.#heartbeatId }
        : { event: 'subscribe', topic: HEARTBEAT.topic, params: this.#withToken(HEARTBEAT.params) };
      this.#command({ is: 'heartbeat' }, frame);
    }
    this.#timer(STALE_MS, () => this.#checkHeartbeat());
  }

  /** Checks whether the heartbeat was answered. Any other frame also proves that the hub is alive. */
  #checkHeartbeat(): void {
    const silentMs = this.#deps.now() - this.#lastFrameMs;
    if (this.#heartbeatSentMs === undefined || silentMs < STALE_MS) {
      this.#attempt = 0;
      this.#timer(HEARTBEAT_MS - STALE_MS, () => this.#sendHeartbeat());
      return;
    }
    if (silentMs >= DEAD_MS) {
      this.#drop();
      return;
    }
    this.#setState('stale');
    this.#timer(1_000, () => this.#checkHeartbeat());
  }

  #setState(state: SocketState, facts: { readonly retryInMs?: number } = {}): void {
    this.#state = state;
    this.#on.state(state, facts);
  }

  #timer(milliseconds: number, run: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#deps.after(milliseconds, run);
  }
}
