import { waitBefore } from './retry.ts';

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
  refused(key: number, description: string): void;
  /** Round trip of a beat. */
  beat(milliseconds: number): void;
  received(bytes: number, elements: number): void;
}

/** Time and chance, so that tests need not wait. */
export interface SocketDeps {
  readonly now: () => number;
  readonly random: () => number;
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

interface Wanted {
  readonly topic: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** How often it was refused on the present connection. */
  refusals: number;
}

type Awaited = { readonly is: 'subscribe' | 'unsubscribe'; readonly key: number } | { readonly is: 'beat' };

const BEAT_MS = 5_000;
const STALE_MS = 4_000;
const DEAD_MS = 12_000;
const BEAT = { topic: 'anchor_changes', params: { id: 'beat of the web UI' } };

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
  readonly #deps: SocketDeps;
  readonly #wanted = new Map<number, Wanted>();
  /** The hub's ids of the subscriptions on the present connection. */
  readonly #keys = new Map<number, number>();
  #token: string | undefined;
  #socket: WebSocket | undefined;
  #state: SocketState = 'connecting';
  /** Commands that are not answered yet. The hub answers them in their order. */
  #awaited: Awaited[] = [];
  #attempt = 0;
  #lastFrameMs = 0;
  #beatSentMs: number | undefined;
  #beatId: number | undefined;
  #cancelTimer: () => void = () => undefined;
  /** Ends what waits to be asked for again. */
  readonly #cancelAgain = new Map<number, () => void>();

  constructor(url: string, on: SocketEvents, deps: SocketDeps) {
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
    this.#wanted.set(key, { topic, params, refusals: 0 });
    if (this.#isOpen) this.#sendSubscribe(key);
  }

  unsubscribe(key: number): void {
    this.#wanted.delete(key);
    this.#cancelAgain.get(key)?.();
    this.#cancelAgain.delete(key);
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
    if (this.#attempt === 0) this.#become('connecting');
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => {
      this.#lastFrameMs = this.#deps.now();
      this.#become('connected');
      for (const key of this.#wanted.keys()) this.#sendSubscribe(key);
      this.#beat();
    };
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = () => this.#lost();
    // A connection that cannot be made may take minutes to say so.
    this.#timer(DEAD_MS, () => this.#drop());
  }

  /** Gives the connection up and comes back. */
  #drop(): void {
    this.#detach();
    this.#lost();
  }

  #lost(): void {
    this.#detach();
    this.#attempt++;
    const waitMs = waitBefore(this.#attempt, this.#deps.random);
    this.#become('reconnecting', { retryInMs: waitMs });
    this.#timer(waitMs, () => this.#connect());
  }

  #detach(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#awaited = [];
    this.#keys.clear();
    for (const cancel of this.#cancelAgain.values()) cancel();
    this.#cancelAgain.clear();
    for (const wanted of this.#wanted.values()) wanted.refusals = 0;
    this.#beatSentMs = undefined;
    this.#beatId = undefined;
    if (socket === undefined) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #receive(text: string): void {
    this.#lastFrameMs = this.#deps.now();
    if (this.#state === 'stale') this.#become('connected');
    const frame = JSON.parse(text) as Frame;
    this.#on.received(text.length, frame.payload?.length ?? 0);
    if (frame.event === 'message') this.#deliver(frame);
    else this.#answered(frame);
  }

  #deliver({ subscription_id: id, topic, payload = [] }: Frame): void {
    if (id !== undefined) {
      const key = this.#keys.get(id);
      if (key !== undefined) this.#on.message(key, payload);
      return;
    }
    // The hub may be set to name no subscriptions: then whoever wanted the topic gets it.
    for (const [key, wanted] of this.#wanted) if (wanted.topic === topic) this.#on.message(key, payload);
  }

  #answered({ event, subscription_id: id, description = '', code = 0 }: Frame): void {
    const awaited = this.#awaited.shift();
    if (awaited === undefined) return;
    if (awaited.is === 'beat') {
      if (this.#beatSentMs !== undefined) this.#on.beat(this.#deps.now() - this.#beatSentMs);
      this.#beatSentMs = undefined;
      this.#beatId = event === 'subscribed' ? id : undefined;
      return;
    }
    if (awaited.is === 'unsubscribe') return;
    const { key } = awaited;
    if (event === 'error' || id === undefined) {
      this.#on.refused(key, description);
      if (code === SUBSCRIBE_FAILED) this.#askAgain(key);
      return;
    }
    this.#keys.set(id, key);
    if (this.#wanted.has(key)) this.#on.subscribed(key);
    else this.unsubscribe(key);
  }

  #askAgain(key: number): void {
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return;
    wanted.refusals++;
    const ask = (): void => {
      this.#cancelAgain.delete(key);
      if (this.#isOpen) this.#sendSubscribe(key);
    };
    this.#cancelAgain.set(key, this.#deps.after(waitBefore(wanted.refusals, this.#deps.random), ask));
  }

  #idOf(key: number): number | undefined {
    for (const [id, held] of this.#keys) if (held === key) return id;
    return undefined;
  }

  #sendSubscribe(key: number): void {
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return;
    const params = this.#withToken(wanted.params);
    this.#command({ is: 'subscribe', key }, { event: 'subscribe', topic: wanted.topic, params });
  }

  #command(awaited: Awaited, frame: object): void {
    this.#awaited.push(awaited);
    this.#socket?.send(JSON.stringify(frame));
  }

  #withToken(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return this.#token === undefined ? params : { ...params, token: this.#token };
  }

  #beat(): void {
    if (this.#beatSentMs === undefined) {
      this.#beatSentMs = this.#deps.now();
      const ends = this.#beatId !== undefined;
      const frame = ends
        ? { event: 'unsubscribe', subscription_id: this.#beatId }
        : { event: 'subscribe', topic: BEAT.topic, params: this.#withToken(BEAT.params) };
      this.#command({ is: 'beat' }, frame);
    }
    this.#timer(STALE_MS, () => this.#look());
  }

  /** Looks whether the beat was answered. Other frames prove as well that the hub is there. */
  #look(): void {
    const silentMs = this.#deps.now() - this.#lastFrameMs;
    if (this.#beatSentMs === undefined || silentMs < STALE_MS) {
      this.#attempt = 0;
      this.#timer(BEAT_MS - STALE_MS, () => this.#beat());
      return;
    }
    if (silentMs >= DEAD_MS) {
      this.#drop();
      return;
    }
    this.#become('stale');
    this.#timer(1_000, () => this.#look());
  }

  #become(state: SocketState, facts: { readonly retryInMs?: number } = {}): void {
    this.#state = state;
    this.#on.state(state, facts);
  }

  #timer(milliseconds: number, run: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#deps.after(milliseconds, run);
  }
}
