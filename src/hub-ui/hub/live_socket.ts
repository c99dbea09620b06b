import { backoffMs } from './retry.ts';

/**
 * One WebSocket to the hub that is kept for as long as the page is open. However it ends, with the death of its hub or with
 * a word such as 1001 or 1013, the next attempt finds another hub where there is one: what is wanted is asked for anew.
 *
 *   connecting ── open ──▶ connected ── a beat is not answered ──▶ stale ── nor is anything else ──▶ reconnecting
 *        ▲                     ▲                                     │                                   │
 *        └── after a while ────┼─────────────────────────────────────┼───────────────────────────────────┘
 *                              └───────────── any frame ─────────────┘
 *
 * A browser does not show pings, so the socket has a beat of its own: it subscribes to something that never happens, and
 * ends that again. Each answer proves that the hub still reads and writes, and how long that takes. The pauses between
 * attempts grow until a connection has lasted for as long as it takes to answer a beat and to send the next: a hub that
 * takes connections to close them at once is asked ever less often.
 *
 * A hub that cannot reach the others refuses subscriptions that it takes a moment later, so these are asked for again,
 * with growing pauses, too.
 */
export type SocketState = 'connecting' | 'connected' | 'stale' | 'reconnecting';

export interface SocketEvents {
  state(state: SocketState, facts: { readonly retryInMs?: number }): void;
  message(key: number, payload: readonly unknown[]): void;
  /** The hub has taken a subscription: everything from now on will come. Also after each reconnect. */
  subscribed(key: number): void;
  rejected(key: number, description: string): void;
  /** Round trip of a beat. */
  heartbeat(milliseconds: number): void;
  received(bytes: number, elements: number): void;
}

/** Time and chance, so that tests need not wait. */
export interface LiveSocketDeps {
  readonly now: () => number;
  readonly random: () => number;
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

interface SubscriptionRequest {
  readonly topic: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** How often it was refused on the present connection. */
  rejections: number;
}

type PendingCommand = { readonly is: 'subscribe' | 'unsubscribe'; readonly key: number } | { readonly is: 'heartbeat' };

const HEARTBEAT_MS = 5_000;
const STALE_MS = 4_000;
const DEAD_MS = 12_000;
const HEARTBEAT = { topic: 'anchor_changes', params: { id: 'beat of the web UI' } };

/** Of a subscription that the hub cannot take, now or at all. */
const SUBSCRIBE_FAILED = 10002;

interface Frame {
  readonly event?: string;
  readonly topic?: string;
  readonly subscription_id?: number;
  readonly payload?: readonly unknown[];
  readonly description?: string;
  readonly code?: number;
}

export class LiveSocket {
  readonly #url: string;
  readonly #on: SocketEvents;
  readonly #deps: LiveSocketDeps;
  readonly #requests = new Map<number, SubscriptionRequest>();
  /** The hub's ids of the subscriptions on the present connection. */
  readonly #keys = new Map<number, number>();
  #token: string | undefined;
  #socket: WebSocket | undefined;
  #state: SocketState = 'connecting';
  /** Commands that are not answered yet. The hub answers them in their order. */
  #pending: PendingCommand[] = [];
  #attempt = 0;
  #lastFrameMs = 0;
  #heartbeatSentMs: number | undefined;
  #heartbeatId: number | undefined;
  #cancelTimer: () => void = () => undefined;
  /** Ends what waits to be asked for again. */
  readonly #cancelRetry = new Map<number, () => void>();

  constructor(url: string, on: SocketEvents, deps: LiveSocketDeps) {
    this.#url = url;
    this.#on = on;
    this.#deps = deps;
  }

  /** Connects. `token` goes with every subscription from now on. */
  open(token?: string): void {
    this.#token = token;
    this.#connect();
  }

  /** A new token: what was refused is asked for again. */
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

  /** Connects anew at once, for example when the network has come back. */
  retryNow(): void {
    if (this.#socket === undefined) this.#connect();
    else this.#drop();
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
    // A connection that cannot be made may take minutes to say so.
    this.#timer(DEAD_MS, () => this.#drop());
  }

  /** Gives the connection up and comes back. */
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
    // The hub may be set to name no subscriptions: then whoever wanted the topic gets it.
    for (const [key, wanted] of this.#requests) if (wanted.topic === topic) this.#on.message(key, payload);
  }

  #receiveReply({ event, subscription_id: id, description = '', code = 0 }: Frame): void {
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
      this.#on.rejected(key, description);
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

  /** Looks whether the beat was answered. Other frames prove as well that the hub is there. */
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
