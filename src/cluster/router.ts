import type { Answer, Query } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { CountedRun } from '../wire/received_run.ts';
import { type Asked, packAsk, unpackAnswer } from './door_message.ts';
import { OwnerCalls, type OwnerCallsOptions } from './owner_calls.ts';
import { Parcel, ParcelBuffers } from './parcel.ts';

/**
 * The way from a front door to whoever owns the objects.
 *
 * Locations wait in one queue per owner, which is one queue while one hub owns everything. One request of it is in flight,
 * and what comes meanwhile makes up the next one, so requests grow with the load, as batches of a lane do, and locations
 * arrive in the order in which they came.
 *
 * Each request has a number. It is repeated until it is answered, and an owner that lives takes it once, whatever has
 * become of answers. When the owner dies, or is another one, before it has answered, the same locations go to the next
 * owner, and say so: it looks which of them the last one has recorded (steps_left.ts).
 */
export interface RouterOptions extends OwnerCallsOptions {
  /** How long locations may wait until they are processed; 6000 when left out. */
  readonly holdMs?: number;
  /** How many locations may wait. */
  readonly capacity: number;
}

/** What metrics tell of a router. */
export interface RouterGauges {
  /** Locations that are not processed yet. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Locations that were processed elsewhere, or by the own door. */
  readonly forwarded: number;
  /** How often somebody was asked who was not the owner. */
  readonly moved: number;
}

const HOLD_MS = 6000;
/** Records that may wait. One body more may come. */
const WAITING_BYTES_MAX = 64 << 20;
/** Questions, and other requests, that may wait. */
const ASKS_MAX = 10_000;
/** How long an owner may work at an answer. */
const ASK_MS = 60_000;
/** Providers whose locations are deleted by one request. */
const FORGET_MAX = 5000;

const CANNOT_PROCESS = 'Cannot process locations';

/** Opens the way. It is ended by `close`. */
export function openRouter(options: RouterOptions): Router {
  return new Router(options);
}

/** What waits for the owner. */
interface Waiting {
  readonly parcel: Parcel;
  readonly untilMs: number;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** The owner that it was sent to last, and by which number. */
  sent: { readonly owner: string; readonly number: number; readonly isRepeated: boolean } | undefined;
  isBegun: boolean;
  /** Whether somebody waits for it. */
  isHeard: boolean;
}

export class Router {
  readonly #options: RouterOptions;
  readonly #calls: OwnerCalls;
  readonly #buffers = new ParcelBuffers();
  /** The first is in flight once it is begun, and the last is filled until it is. */
  readonly #queue: Waiting[] = [];
  #isSending = false;
  #waiting = 0;
  #waitingBytes = 0;
  #forwarded = 0;
  #lastNumber = 0;
  #asks = 0;
  #isClosed = false;
  /** What has failed while nobody was waiting for it: whoever asks next is told. */
  #unheard: unknown;

  /** Only for openRouter. */
  constructor(options: RouterOptions) {
    this.#options = options;
    this.#calls = new OwnerCalls(options);
  }

  get gauges(): RouterGauges {
    const { moved } = this.#calls;
    return { waiting: this.#waiting, waitingBytes: this.#waitingBytes, forwarded: this.#forwarded, moved };
  }

  /** Whether that many more locations may wait. */
  hasCapacity(count: number): boolean {
    return this.#waiting + count <= this.#options.capacity && this.#waitingBytes < WAITING_BYTES_MAX;
  }

  /** Copies records of locations into the queue; their times are times of day. Who must not overfill it asks hasCapacity first. */
  // hot
  run(run: CountedRun): void {
    if (this.#isClosed) throw closingError();
    let left = run.count;
    let isFull = false;
    for (let from = 0; from < run.bytes.length; ) {
      const { parcel } = this.#open(isFull);
      const { to, taken } = parcel.take(from === 0 ? run : { ...run, count: left }, from);
      this.#waiting += taken;
      this.#waitingBytes += to - from;
      left -= taken;
      from = to;
      isFull = true;
    }
    if (this.#isSending || this.#queue.length === 0) return;
    this.#isSending = true;
    // The current turn of the event loop may have more: it all goes into one request.
    queueMicrotask(() => void this.#sendAll());
  }

  /**
   * Resolves when all locations so far are processed, and that is kept; undefined where none wait. Rejects with the error of
   * their owner, and with HUB_UNAVAILABLE when they could not be handed over in time. Some of them may have been taken then.
   */
  kept(): Promise<void> | undefined {
    const unheard = this.#unheard;
    this.#unheard = undefined;
    if (unheard !== undefined) return Promise.reject(unheard);
    for (const waiting of this.#queue) waiting.isHeard = true;
    const [first, ...more] = this.#queue;
    return more.length === 0 ? first?.done : allDone(this.#queue.map(({ done }) => done));
  }

  /**
   * Asks the owner. Rejects with the owner's error, and with HUB_UNAVAILABLE when it cannot be asked in time, or does not
   * answer within a minute.
   */
  async ask(query: Query): Promise<readonly Answer[]> {
    const answers = await this.#result({ kind: 'read', argument: query }, `Cannot answer ${query.ask}`);
    if (!Array.isArray(answers)) throw new HubError('HUB_INTERNAL', `Cannot answer ${query.ask}: found no answers`);
    return answers as readonly Answer[];
  }

  /** Deletes the locations of providers, behind all that was handed over before. Rejects as ask does. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.#allTried();
    for (let at = 0; at < ids.length; at += FORGET_MAX) {
      const argument = ids.slice(at, at + FORGET_MAX);
      await this.#result({ kind: 'forget', argument }, 'Cannot delete locations');
    }
  }

  /**
   * Resolves when all that was handed over before has settled at its owner, and what that has changed in the configuration
   * is applied here. Rejects as ask does.
   */
  async settled(): Promise<void> {
    await this.#allTried();
    const sequence = await this.#result({ kind: 'settle', argument: null }, 'Cannot wait for locations');
    const { applied, reached, holdMs = HOLD_MS } = this.#options;
    if (typeof sequence === 'number' && sequence > applied()) await reached(sequence, holdMs);
  }

  /** To be called when the owner is another one, or nobody. */
  ownerChanged(): void {
    this.#calls.changed();
  }

  /** Ends it: what waits is rejected. */
  close(): void {
    this.#isClosed = true;
    this.#calls.close();
  }

  #open(isFull: boolean): Waiting {
    const last = this.#queue.at(-1);
    if (last !== undefined && !isFull && !last.isBegun && !last.parcel.isFull) return last;
    const { holdMs = HOLD_MS, elapsed } = this.#options;
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    // Whoever waits for it hears of it.
    done.catch(() => undefined);
    const parcel = new Parcel(this.#buffers);
    const rest = { done, resolve, reject, sent: undefined, isBegun: false, isHeard: false };
    const waiting: Waiting = { parcel, untilMs: elapsed() + holdMs, ...rest };
    this.#queue.push(waiting);
    return waiting;
  }

  /** One after the other. Each ends when its own time is up: those before it are up earlier. */
  async #sendAll(): Promise<void> {
    for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
      first.isBegun = true;
      const { parcel } = first;
      try {
        await this.#send(first);
        this.#forwarded += parcel.count;
        first.resolve();
      } catch (error) {
        if (!first.isHeard) this.#unheard = error;
        first.reject(error);
      }
      this.#queue.shift();
      this.#waiting -= parcel.count;
      this.#waitingBytes -= parcel.bytes;
      parcel.end();
    }
    this.#isSending = false;
  }

  async #send(waiting: Waiting): Promise<void> {
    const { incarnation: door, applied } = this.#options;
    const { parcel, untilMs } = waiting;
    const message = (owner: string): Uint8Array => {
      const { sent } = waiting;
      const isSame = sent?.owner === owner;
      waiting.sent = isSame ? sent : { owner, number: ++this.#lastNumber, isRepeated: sent !== undefined };
      const { number, isRepeated } = waiting.sent;
      return parcel.message({ applied: applied(), door, number, isRepeated });
    };
    const { at } = await this.#calls.call({ subject: 'in', what: CANNOT_PROCESS, untilMs, message });
    if (at !== 'done') throw new HubError('HUB_INTERNAL', `${CANNOT_PROCESS}: their owner has answered "${at}"`);
  }

  /** Resolves when all that waits now has come to something. */
  async #allTried(): Promise<void> {
    await Promise.allSettled(this.#queue.map(({ done }) => done));
  }

  async #result(asked: Asked, what: string): Promise<unknown> {
    if (this.#isClosed) throw closingError();
    if (this.#asks >= ASKS_MAX) throw new HubError('HUB_UNAVAILABLE', `${what}: ${ASKS_MAX} requests wait already`);
    this.#asks++;
    try {
      return unpackAnswer(await this.#parts(asked, what));
    } finally {
      this.#asks--;
    }
  }

  /** All parts of an answer. Those of one that nobody knows any more are asked for anew. */
  async #parts(asked: Asked, what: string): Promise<readonly Uint8Array[]> {
    const { incarnation: door, applied, elapsed, holdMs = HOLD_MS } = this.#options;
    const lastMs = elapsed() + ASK_MS;
    let number = ++this.#lastNumber;
    let untilMs = elapsed() + holdMs;
    let parts: Uint8Array[] = [];
    for (;;) {
      const head = { applied: applied(), door, number, part: parts.length };
      const message = (): Uint8Array => packAsk({ ...head, ...asked });
      const reply = await this.#calls.call({ subject: 'ask', what, untilMs: Math.min(untilMs, lastMs), message });
      // Whoever answers lives.
      untilMs = elapsed() + holdMs;
      if (reply.at === 'gone') {
        number = ++this.#lastNumber;
        parts = [];
      } else if (reply.at === 'part') {
        parts.push(reply.bytes);
        if (parts.length === reply.parts) return parts;
      }
    }
  }
}

async function allDone(all: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(all);
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return;
  const { reason } = failed;
  if (!(reason instanceof HubError) || ends.every(({ status }) => status === 'rejected')) throw reason;
  throw new HubError(reason.code, `${reason.message}; some of them are processed`, { cause: reason });
}

function closingError(): HubError {
  return new HubError('HUB_UNAVAILABLE', `${CANNOT_PROCESS}: this hub is closing`);
}
