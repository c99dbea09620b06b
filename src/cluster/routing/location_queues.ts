import { recordIdIn, recordSize } from '../../core/location/record.ts';
import { type HubError, hubError } from '../../errors.ts';
import { type CountedRun, recordsIn } from '../../wire/received_run.ts';
import type { OwnerQueriesOptions } from '../rpc/owner_queries.ts';
import type { SentRequest } from '../rpc/owner_protocol.ts';
import { RequestBatch, BatchBuffers } from '../rpc/request_buffer.ts';
import { allDone, type RequestTerms, WaitingRequest } from './waiting_request.ts';

/**
 * Locations in transit to the owners of their providers: a queue for each owner, including this hub, and one for unserved
 * providers. One request of a queue is in flight, and locations that arrive meanwhile make up the next one, so requests grow
 * with the load.
 *
 * The locations of a provider are in one queue at any time, in order of arrival. When another hub serves it, all of them move
 * to the end of another queue:
 *
 *     the provider is served by      but has locations in flight to    its other locations wait
 *     -----------------------------  --------------------------------  -----------------------------------------------
 *     a hub                          no other hub                      in the queue of that hub
 *     no hub                         no hub                            in the queue of unserved providers
 *     another hub, or no hub         one that served it before         in the queue of unserved providers, until the
 *                                                                      outcome of those in flight is known
 *
 * A request in flight is returned when its hub does not serve all of it, or is no member any more: then it is split and routed
 * again, ahead of the rest. A removed member may have recorded its locations, so the next request names the one to that member, and
 * the next hub drops those that were recorded (journal_recovery.ts).
 */
export interface LocationQueuesOptions extends OwnerQueriesOptions {
  /** Number of locations that may wait. */
  readonly capacity: number;
}

/** Records that may wait. One more body may arrive. */
const WAITING_BYTES_MAX = 64 << 20;

const OPERATION = 'process_locations';
const NOBODY = undefined;
const NOT_SENT: readonly SentRequest[] = [];

interface Queue {
  /** Member id of the hub that serves its providers. */
  readonly server: string | undefined;
  /** The first is in flight while there is a request; the last is filled until it is sent. */
  readonly waiting: WaitingRequest[];
  /** Set while the first is in flight. */
  inFlight: InFlight | undefined;
  isSending: boolean;
}

interface InFlight {
  /** Last ownership version by which its hub served all of it. */
  version: number;
  /** Whether its hub does not serve all of it any more. */
  isTorn: boolean;
  /** Whether the shards of this hub have it. */
  isHandedOver: boolean;
}

/** Outcome of a request. `returned`: it must be routed again; `sentBefore`: requests by which it may be processed. */
type End =
  | { readonly at: 'done' }
  | { readonly at: 'failed'; readonly error: unknown }
  | { readonly at: 'returned'; readonly sentBefore: readonly SentRequest[] };

export class LocationQueues {
  readonly #options: LocationQueuesOptions;
  readonly #buffers = new BatchBuffers();
  readonly #queues = new Map<string | undefined, Queue>();
  /** Providers that are not served by the hub to which their locations are in flight. */
  #held: ReadonlySet<string> = new Set();
  /** Ownership version by which everything is routed. */
  #version: number;
  #waiting = 0;
  #waitingBytes = 0;
  #forwarded = 0;
  #isClosed = false;
  /** Holds the locations handed over since `committed` was last called. */
  readonly #handedOver = new Set<WaitingRequest>();

  constructor(options: LocationQueuesOptions) {
    this.#options = options;
    this.#version = options.ownership.version;
  }

  /** Number and bytes of waiting locations, and number of processed ones. */
  get gauges(): { readonly waiting: number; readonly waitingBytes: number; readonly forwarded: number } {
    return { waiting: this.#waiting, waitingBytes: this.#waitingBytes, forwarded: this.#forwarded };
  }

  hasCapacity(count: number): boolean {
    return this.#waiting + count <= this.#options.capacity && this.#waitingBytes < WAITING_BYTES_MAX;
  }

  /**
   * Whether all waiting locations of this hub are with its shards, so that direct input to these comes after all earlier
   * locations.
   */
  isClear(): boolean {
    if (this.#waiting === 0) return true;
    this.changed();
    const unserved = this.#queues.get(NOBODY)?.waiting.length ?? 0;
    if (this.#held.size > 0 || unserved > 0) return false;
    const own = this.#queues.get(this.#options.incarnation);
    return own === undefined || own.waiting.length === (own.inFlight?.isHandedOver === true ? 1 : 0);
  }

  /** Copies records of locations into the queues of their providers' owners. Their times are wall-clock times. */
  // hot
  run(run: CountedRun): void {
    this.#begin();
    const { ownership } = this.#options;
    if (ownership.isWhole && ownership.servers.length === 1) this.runTo(ownership.servers[0], run);
    else this.#split(run, (server, part) => this.#put(server, part));
  }

  /** The same for locations that are all served by one hub, or by none. */
  // hot
  runTo(server: string | undefined, run: CountedRun): void {
    this.#begin();
    if (this.#held.size === 0) this.#put(server, run);
    else this.#split(run, (each, part) => this.#put(each, part));
  }

  /** See OwnerClient.committed. */
  // hot
  committed(): Promise<void> | undefined {
    if (this.#handedOver.size === 0) return undefined;
    const own = Array.from(this.#handedOver, ({ done }) => done);
    this.#handedOver.clear();
    return own.length === 1 ? own[0] : allDone(own);
  }

  /** Resolves when every request with locations that wait now has succeeded or failed. */
  async allTried(): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].flatMap(donesOf));
  }

  /** The same for every queue that may have locations of the providers. */
  async tried(providers: readonly string[]): Promise<void> {
    this.changed();
    const servers = new Set(providers.map((id) => this.#serverOf(id))).add(NOBODY);
    const queues = [...this.#queues.values()].filter(({ server, inFlight }) => {
      return servers.has(server) || inFlight?.isTorn === true;
    });
    await Promise.allSettled(queues.flatMap(donesOf));
  }

  /** Follows a change of ownership. */
  changed(): void {
    if (this.#version !== this.#options.ownership.version) this.#routeAll();
  }

  /** Closes it and rejects waiting requests. A request in flight ends with its call. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#takeOut()) this.#fail(waiting, this.#late(waiting));
  }

  #begin(): void {
    if (this.#isClosed) throw hubError('closing', { operation: OPERATION });
    this.changed();
  }

  /** Routes all requests that are not in flight again, and a returned one before them. */
  #routeAll(returned?: WaitingRequest, sentBefore = NOT_SENT): void {
    this.#version = this.#options.ownership.version;
    this.#held = this.#findHeld();
    // All requests are taken out first, so that no provider is in two queues.
    const others = this.#takeOut();
    if (returned !== undefined) this.#route(returned, sentBefore);
    for (const waiting of others) this.#route(waiting, waiting.sentBefore);
    for (const [server, { waiting, isSending }] of this.#queues) {
      if (waiting.length === 0 && !isSending) this.#queues.delete(server);
    }
  }

  #takeOut(): WaitingRequest[] {
    return [...this.#queues.values()].flatMap(({ waiting, inFlight }) =>
      waiting.splice(inFlight === undefined ? 0 : 1),
    );
  }

  /** Providers in flight to hubs that do not serve them any more. */
  #findHeld(): ReadonlySet<string> {
    const held = new Set<string>();
    for (const { server, waiting, inFlight } of this.#queues.values()) {
      const [first] = waiting;
      if (inFlight === undefined || first === undefined) continue;
      inFlight.isTorn = false;
      for (const { bytes } of first.parcel.runs()) {
        const records = recordsIn(bytes);
        for (let at = 0; at < bytes.length; at += recordSize(records, at)) {
          const id = recordIdIn(records, at);
          if (this.#options.ownership.serverOf('provider', id) === server) continue;
          held.add(id);
          inFlight.isTorn = true;
        }
      }
      if (!inFlight.isTorn) inFlight.version = this.#version;
    }
    return held;
  }

  #serverOf(provider: string): string | undefined {
    return this.#held.has(provider) ? NOBODY : this.#options.ownership.serverOf('provider', provider);
  }

  /** Splits a run between records for different hubs. */
  #split({ names, bytes, count }: CountedRun, put: (server: string | undefined, run: CountedRun) => void): void {
    const records = recordsIn(bytes);
    let [from, many, last] = [0, 0, this.#serverOf(recordIdIn(records, 0))];
    for (let at = recordSize(records, 0); at < bytes.length; at += recordSize(records, at)) {
      many++;
      const server = this.#serverOf(recordIdIn(records, at));
      if (server === last) continue;
      put(last, { names, bytes: bytes.subarray(from, at), count: many });
      count -= many;
      [from, many, last] = [at, 0, server];
    }
    put(last, { names, bytes: from === 0 ? bytes : bytes.subarray(from), count });
  }

  // hot
  #put(server: string | undefined, run: CountedRun): void {
    const { elapsed, holdMs } = this.#options;
    const queue = this.#queueOf(server);
    this.#fill(queue, run, { untilMs: elapsed() + holdMs, sentBefore: NOT_SENT }, this.#handedOver);
    this.#waiting += run.count;
    this.#waitingBytes += run.bytes.length;
    this.#wake(queue);
  }

  /** Copies a run to the end of a queue. Adds the requests that now carry it to `filled`. */
  // hot
  #fill(queue: Queue, run: CountedRun, terms: RequestTerms, filled: Set<WaitingRequest>): void {
    let left = run.count;
    let last = queue.waiting.at(-1);
    const isInFlight = queue.inFlight !== undefined && queue.waiting.length === 1;
    if (last === undefined || isInFlight || !last.takes(terms)) last = this.#add(queue, terms);
    for (let from = 0; ; last = this.#add(queue, terms)) {
      const { to, taken } = last.parcel.take(from === 0 ? run : { ...run, count: left }, from);
      if (taken > 0) filled.add(last);
      left -= taken;
      from = to;
      if (from >= run.bytes.length) return;
    }
  }

  #add(queue: Queue, terms: RequestTerms): WaitingRequest {
    const { elapsed, schedule } = this.#options;
    const expire = (of: WaitingRequest) => schedule(terms.untilMs - elapsed(), () => this.#expire(of));
    const waiting = new WaitingRequest(new RequestBatch(this.#buffers), terms, expire);
    queue.waiting.push(waiting);
    return waiting;
  }

  /** Rejects a waiting request that has run out of time. A request in flight ends with its call. */
  #expire(waiting: WaitingRequest): void {
    for (const queue of this.#queues.values()) {
      const at = queue.waiting.indexOf(waiting);
      if (at === -1 || (at === 0 && queue.inFlight !== undefined)) continue;
      queue.waiting.splice(at, 1);
      this.#fail(waiting, this.#late(waiting));
    }
  }

  /** Puts a request that was taken out of a queue at the ends of the right queues. */
  #route(from: WaitingRequest, sentBefore: readonly SentRequest[]): void {
    const { parcel, untilMs } = from;
    if (this.#options.elapsed() >= untilMs) {
      this.#fail(from, this.#late({ sentBefore }));
      return;
    }
    const parts: [server: string | undefined, run: CountedRun][] = [];
    for (const run of parcel.runs()) this.#split(run, (server, part) => parts.push([server, part]));
    const servers = new Set(parts.map(([server]) => server));
    const [only] = servers;
    if (servers.size === 1 && sentBefore === from.sentBefore) this.#queueOf(only).waiting.push(from);
    else {
      const all = new Set<WaitingRequest>();
      for (const [server, run] of parts) this.#fill(this.#queueOf(server), run, { untilMs, sentBefore }, all);
      from.endWith(all);
    }
    for (const server of servers) this.#wake(this.#queueOf(server));
  }

  #queueOf(server: string | undefined): Queue {
    const found = this.#queues.get(server);
    if (found !== undefined) return found;
    const queue: Queue = { server, waiting: [], inFlight: undefined, isSending: false };
    this.#queues.set(server, queue);
    return queue;
  }

  #wake(queue: Queue): void {
    const { server } = queue;
    if (queue.isSending || server === NOBODY || queue.waiting.length === 0) return;
    queue.isSending = true;
    // Locations of the current turn of the event loop share one request.
    queueMicrotask(() => void this.#sendAll(queue, server));
  }

  /** Sends one after the other. */
  async #sendAll(queue: Queue, server: string): Promise<void> {
    for (let [first] = queue.waiting; first !== undefined; [first] = queue.waiting) {
      const inFlight: InFlight = { version: this.#version, isTorn: false, isHandedOver: false };
      queue.inFlight = inFlight;
      const end = await this.#send(first, { server, inFlight });
      queue.inFlight = undefined;
      queue.waiting.shift();
      if (end.at === 'done') this.#succeed(first);
      if (end.at === 'failed') this.#fail(first, end.error);
      if (end.at === 'returned') this.#routeAll(first, end.sentBefore);
      else if (inFlight.isTorn) this.#routeAll();
    }
    queue.isSending = false;
  }

  /** Sends a request until it has an outcome, or must be routed again. */
  async #send(
    { parcel, untilMs, sentBefore }: WaitingRequest,
    { server, inFlight }: { readonly server: string; readonly inFlight: InFlight },
  ): Promise<End> {
    const { calls, incarnation: ingress, applied, nextNumber } = this.#options;
    const inDoubt = [...sentBefore];
    const handedOver = (): void => {
      inFlight.isHandedOver = true;
    };
    try {
      for (;;) {
        const number = nextNumber();
        const message = (): Uint8Array => {
          return parcel.message({ applied: applied(), ingress, number, sentBefore, version: inFlight.version });
        };
        const call = { subject: 'in', operation: OPERATION, untilMs, isInDoubt: inDoubt.length > 0 } as const;
        const called = await calls.call(server, { ...call, message, handedOver });
        if (called.at === 'done') return { at: 'done' };
        if (called.at !== 'moved' && called.at !== 'lost') {
          throw hubError('hub_protocol', {}, { detail: `The owner of locations has answered "${called.at}"` });
        }
        if (called.isInDoubt) inDoubt.push({ owner: server, number });
        await calls.follow(called, { version: inFlight.version, untilMs });
        this.changed();
        if (called.at === 'lost' || inFlight.isTorn) {
          return { at: 'returned', sentBefore: inDoubt.length > sentBefore.length ? inDoubt : sentBefore };
        }
      }
    } catch (error) {
      return { at: 'failed', error };
    }
  }

  #succeed(waiting: WaitingRequest): void {
    this.#forwarded += waiting.parcel.count;
    this.#forget(waiting);
    waiting.end();
  }

  #fail(waiting: WaitingRequest, error: unknown): void {
    this.#forget(waiting);
    waiting.end(error);
  }

  #forget({ parcel }: WaitingRequest): void {
    this.#waiting -= parcel.count;
    this.#waitingBytes -= parcel.bytes;
  }

  #late({ sentBefore }: Pick<RequestTerms, 'sentBefore'>): HubError {
    return this.#options.calls.late(OPERATION, { isInDoubt: sentBefore.length > 0 });
  }
}

function donesOf({ waiting }: Queue): readonly Promise<void>[] {
  return waiting.map(({ done }) => done);
}
