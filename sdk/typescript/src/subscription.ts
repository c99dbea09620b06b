import { pause, pauseMs } from './timing.ts';
import type { TokenSource } from './tokens.ts';
import { hasState, LOGGED_TOPICS, type ReadJson, readState, type SubscriptionParams } from './topics.ts';
import type { Topic, Topics } from './topics.ts';

/*
 * A subscription is a loop of connections. It is complete because each connection continues where the last one ended:
 *
 *   the hub has an event log     subscribe after the last cursor that was queued: no event is missed, none repeated
 *   no log, no cursor, or the    subscribe, then read the state by REST, then deliver the state and the events that came
 *   cursor is not valid          in the meantime: the picture is complete, events between the connections are not
 *
 * Backpressure uses the same mechanism: if the application does not take items, the connection is closed, and opened again
 * when half of the queue is free. Memory is bounded, and logged events wait in the log of the hub.
 */

/** What a subscription delivers, in order. */
export type Item<T extends Topic> =
  | {
      readonly kind: 'events';
      readonly events: readonly Topics[T]['event'][];
      /** Store it with the effects of the events, and pass it as `after` the next time. Absent without an event log. */
      readonly cursor?: string;
    }
  /** Replaces everything known before. `cursor` is as above. */
  | { readonly kind: 'state'; readonly state: readonly Topics[T]['state'][]; readonly cursor?: string }
  /** Events may be missing here, and the topic has no state. */
  | { readonly kind: 'gap' };

/** Changes of a subscription's connection. */
export type Status =
  | { readonly status: 'connected'; readonly resumed: boolean }
  | { readonly status: 'disconnected'; readonly reason: string }
  /** The application takes items too slowly: `queued` events wait, and the connection is closed until half are taken. */
  | { readonly status: 'lagging'; readonly queued: number };

export interface SubscribeOptions {
  readonly params?: SubscriptionParams;
  /** Cursor after which to continue. Without it the state is delivered first, and then each new event. */
  readonly after?: string;
  /** Maximum of events that wait for the application; 10,000 by default. */
  readonly queueMax?: number;
  readonly onStatus?: (status: Status) => void;
}

export interface Connection {
  /** URL of the WebSocket. */
  readonly socketUrl: string;
  readonly tokens: TokenSource;
  readonly read: ReadJson;
  /** Whether the hub at the URL has an event log. Rejects if the hub cannot be reached. */
  hasEventLog(): Promise<boolean>;
  readonly WebSocket: typeof WebSocket;
  readonly random: () => number;
}

/** A subscription that cannot continue: the topic, its params or its token were refused. */
export class SubscriptionError extends Error {
  /** Code of the error frame. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.name = 'SubscriptionError';
    this.code = code;
  }
}

/** A connection that has ended; the next one may succeed. `isPlanned`: without a pause before it. */
class Ended extends Error {
  readonly isPlanned: boolean;

  constructor(message: string, isPlanned = false) {
    super(message);
    this.isPlanned = isPlanned;
  }
}

type EventsItem<T extends Topic> = Extract<Item<T>, { readonly kind: 'events' }>;

/** The connection on which an error arrived. */
interface Errant {
  readonly token: string | undefined;
  readonly isStarted: boolean;
}

interface Frame {
  readonly event: string;
  readonly payload?: readonly never[];
  readonly cursor?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly description?: string;
}

const QUEUE_MAX = 10_000;
/** A connection without a frame for this long is asked for one, and closed if none arrives in the same time again. */
const SILENT_MS = 20_000;
const CODES = { unsubscribeFailed: 10003, notAuthorized: 10004, notAuthenticated: 10006 };
/** Reasons of errors that name a cursor which the hub cannot continue after. */
const CURSOR_REASONS = /^cursor_/;
/** Reasons why a hub of a cluster cannot subscribe at the moment. */
const PASSING_REASONS = ['interest_late', 'not_a_member', 'out_of_cluster'];
/** Close codes that announce a restart or a slow reader: connect again at once. */
const CONNECT_AT_ONCE = [1001, 1013];

/** A subscription, as an async iterable of its items. It ends by `close`, and throws a SubscriptionError if it is refused. */
export class Subscription<T extends Topic> implements AsyncIterable<Item<T>> {
  readonly topic: T;
  readonly #connection: Connection;
  readonly #options: SubscribeOptions;
  readonly #queueMax: number;
  readonly #stop = new AbortController();
  #queue: Item<T>[] = [];
  /** Events and other items in the queue. */
  #queued = 0;
  #cursor: string | undefined;
  /** Whether the next connection has to deliver a state, or a gap, before its events. */
  #isIncomplete: boolean;
  #failure: SubscriptionError | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeLoop: (() => void) | undefined;
  /** Tokens refused in succession. */
  #refusals = 0;

  constructor(topic: T, connection: Connection, options: SubscribeOptions = {}) {
    this.topic = topic;
    this.#connection = connection;
    this.#options = options;
    this.#queueMax = options.queueMax ?? QUEUE_MAX;
    this.#cursor = options.after;
    this.#isIncomplete = options.after === undefined;
    void this.#run();
  }

  /** Ends the subscription and its connection. Items in the queue can still be taken. */
  close(): void {
    this.#stop.abort();
    this.#wakeLoop?.();
    this.#wakeReader?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item<T>, void, undefined> {
    try {
      for (;;) {
        const item = this.#queue.shift();
        if (item !== undefined) {
          this.#queued -= sizeOf(item);
          if (this.#queued <= this.#queueMax / 2) this.#wakeLoop?.();
          yield item;
        } else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#stop.signal.aborted) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.close();
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      await this.#room();
      if (signal.aborted) return;
      try {
        await this.#connect(() => {
          failures = 0;
        });
      } catch (error) {
        if (error instanceof SubscriptionError) return this.#fail(error);
        const reason = error instanceof Error ? error.message : String(error);
        if (!signal.aborted) this.#tell({ status: 'disconnected', reason });
        const isPlanned = error instanceof Ended && error.isPlanned && failures === 0;
        failures++;
        if (!isPlanned) await pause(pauseMs(failures, this.#connection.random()), signal);
      }
    }
  }

  /** Resolves when at least half of the queue is free. */
  async #room(): Promise<void> {
    while (this.#queued > this.#queueMax / 2 && !this.#stop.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wakeLoop = resolve;
      });
    }
  }

  #fail(error: SubscriptionError): void {
    this.#failure = error;
    this.#wakeReader?.();
  }

  #tell(status: Status): void {
    this.#options.onStatus?.(status);
  }

  #push(item: Item<T>): void {
    this.#queue.push(item);
    this.#queued += sizeOf(item);
    this.#wakeReader?.();
  }

  /** Opens a connection and subscribes. Rejects when it ends: with Ended if another connection may succeed. */
  async #connect(succeeded: () => void): Promise<never> {
    const { tokens, hasEventLog, socketUrl, WebSocket: Socket } = this.#connection;
    const token = await tokens.token();
    const isLogged = LOGGED_TOPICS.has(this.topic) && (await hasEventLog());
    if (this.#stop.signal.aborted) throw new Ended('The subscription is closed');
    if (!isLogged && this.#cursor !== undefined) this.#loseTrack();
    const socket = new Socket(socketUrl);
    const isResumed = !this.#isIncomplete;
    const params = {
      ...this.#options.params,
      ...(token !== undefined && { token }),
      ...(isLogged && { after: this.#cursor ?? 'newest' }),
    };
    let silent: ReturnType<typeof setTimeout> | undefined;
    return new Promise<never>((_resolve, reject) => {
      let isStarted = false;
      const early = new EarlyEvents<T>();
      const end = (error: Error) => {
        clearTimeout(silent);
        this.#stop.signal.removeEventListener('abort', closed);
        early.isAbandoned = true;
        // Closing a connection that is not open yet reports an error again.
        socket.onopen = socket.onmessage = socket.onerror = socket.onclose = null;
        socket.close();
        reject(error);
      };
      const closed = () => end(new Ended('The subscription is closed'));
      const alive = (isAsked: boolean) => {
        clearTimeout(silent);
        silent = setTimeout(() => {
          if (isAsked || socket.readyState !== Socket.OPEN)
            return end(new Ended(`Nothing received for ${SILENT_MS} ms`));
          // Every hub answers this by an error, which shows that the connection works.
          socket.send(JSON.stringify({ event: 'unsubscribe', subscription_id: 0 }));
          alive(true);
        }, SILENT_MS);
      };
      const started = () => {
        isStarted = true;
        succeeded();
        this.#refusals = 0;
        this.#tell({ status: 'connected', resumed: isResumed });
        if (!this.#isIncomplete) return;
        this.#complete(early).then(
          () => overflowing(),
          (error) => end(new Ended(`Cannot read the state: ${error instanceof Error ? error.message : error}`)),
        );
      };
      const overflowing = () => {
        const queued = this.#queued + early.count;
        if (queued <= this.#queueMax) return;
        if (!isLogged || this.#isIncomplete) this.#loseTrack();
        this.#tell({ status: 'lagging', queued });
        end(new Ended('The application takes items too slowly', true));
      };
      alive(false);
      this.#stop.signal.addEventListener('abort', closed);
      socket.onopen = () => socket.send(JSON.stringify({ event: 'subscribe', topic: this.topic, params }));
      socket.onerror = () => end(new Ended('The connection has failed'));
      socket.onclose = ({ code, reason }) => {
        end(new Ended(`The connection was closed: ${code} ${reason}`, CONNECT_AT_ONCE.includes(code)));
      };
      socket.onmessage = ({ data }) => {
        alive(false);
        const frame = JSON.parse(String(data)) as Frame;
        if (frame.event === 'subscribed') started();
        else if (frame.event === 'error') {
          const error = this.#errorOf(frame, { token, isStarted });
          if (error !== undefined) end(error);
        } else if (frame.event === 'message') {
          this.#take(frame, early);
          overflowing();
        }
      };
    }).finally(() => {
      if (!isLogged) this.#loseTrack();
    });
  }

  #take({ payload = [], cursor }: Frame, early: EarlyEvents<T>): void {
    const item = { kind: 'events', events: payload, ...(cursor !== undefined && { cursor }) } as const;
    if (this.#isIncomplete) early.add(item);
    else this.#accept(item);
  }

  #accept(item: EventsItem<T>): void {
    if (item.cursor !== undefined) this.#cursor = item.cursor;
    if (item.events.length > 0 || item.cursor !== undefined) this.#push(item);
  }

  /** Delivers the state and the events that arrived while it was read. */
  async #complete(early: EarlyEvents<T>): Promise<void> {
    if (hasState(this.topic)) {
      const state = await readState(this.topic, this.#options.params ?? {}, this.#connection.read);
      if (early.isAbandoned) return;
      const cursor = early.items[0]?.cursor;
      this.#push({
        kind: 'state',
        state: state as readonly Topics[T]['state'][],
        ...(cursor !== undefined && { cursor }),
      });
    } else this.#push({ kind: 'gap' });
    this.#isIncomplete = false;
    for (const item of early.drain()) this.#accept(item);
  }

  /** The next connection cannot continue after the last event. */
  #loseTrack(): void {
    this.#cursor = undefined;
    this.#isIncomplete = true;
  }

  /** Returns how an error frame ends the connection; undefined if it does not. */
  #errorOf({ code = 0, reason = '', description = '' }: Frame, { token, isStarted }: Errant): Error | undefined {
    if (code === CODES.unsubscribeFailed) return undefined;
    if (CURSOR_REASONS.test(reason)) {
      this.#loseTrack();
      return new Ended(description, true);
    }
    if (code === CODES.notAuthorized || code === CODES.notAuthenticated) {
      // The hub may have new keys, or the token has expired on its way: one more attempt with another token.
      if (token === undefined || this.#refusals > 0) return new SubscriptionError(description, code);
      this.#refusals++;
      this.#connection.tokens.refused(token);
      return new Ended(description, true);
    }
    return isStarted || PASSING_REASONS.includes(reason)
      ? new Ended(description)
      : new SubscriptionError(description, code);
  }
}

/** Events that arrive before the state. */
class EarlyEvents<T extends Topic> {
  #items: EventsItem<T>[] = [];
  count = 0;
  isAbandoned = false;

  get items(): readonly EventsItem<T>[] {
    return this.#items;
  }

  add(item: EventsItem<T>): void {
    this.#items.push(item);
    this.count += sizeOf(item);
  }

  drain(): readonly EventsItem<T>[] {
    const items = this.#items;
    this.#items = [];
    this.count = 0;
    return items;
  }
}

function sizeOf(item: Item<Topic>): number {
  return item.kind === 'events' ? 1 + item.events.length : 1;
}
