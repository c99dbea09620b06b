import { queriedObject } from '../../core/item.ts';
import type { QueryResult, Query } from '../../core/item.ts';
import { recordIdIn, recordSize } from '../../core/location/record.ts';
import { hubError, HubError } from '../../errors.ts';
import { lend, look } from '../../model/borrowed.ts';
import type { ObjectKind } from '../../model/id.ts';
import { type CountedRun, checkRun, RunError, recordsIn } from '../../wire/received_run.ts';
import type { ClusterContext } from '../context.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { MessageError } from '../messages/codec.ts';
import { ASK, REPLY } from '../messages/messages.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import {
  type AskRequest,
  type ForwardRequest,
  type OwnerReply,
  type RequestHead,
  unpackForward,
} from './owner_protocol.ts';
import { PendingAnswers } from './pending_answers.ts';
import type { Ownership } from '../routing/ownership.ts';
import { BatchBuffers } from './request_buffer.ts';
import type { TakenRequests } from '../journal/taken_requests.ts';
import type { JournalRange } from '../journal/journal_reader.ts';

/**
 * Owner side of requests between hubs: ingress hubs send locations and requests for the objects of this hub.
 *
 * A request names the configuration that its sender has applied, and is processed only after this hub has applied it too. So
 * each location meets the fences that it met at its ingress hub. A request also names the ownership version by which it was
 * routed. If this hub has another version, it processes the request only if it serves all of its objects.
 *
 * An ingress hub sends the next request with locations once it knows the outcome of the previous one, so the number of the last
 * request that was taken identifies duplicates:
 *
 *     number          the last request was  this request
 *     higher          anything              is taken, or rejected as busy or moved
 *     the same        taken, or moved       gets the same answer when it is there
 *     the same        busy                  is treated as a higher one
 *     lower           anything              is late: its ingress hub does not wait for it any more
 *
 * So an ingress hub that sends locations again after `moved` uses a new number: this hub never takes
 * a late copy of the rejected request, even if it has acquired the objects.
 */
export interface OwnerServerOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'> {
  /** Sequence of the last configuration record that this hub has applied. */
  applied(): number;
  /** Resolves when that record is applied; rejects if that takes too long. */
  reached(sequence: number, timeoutMs: number): Promise<void>;
  /** Ownership by that configuration. */
  readonly ownership: Ownership;
  /** Whether this hub has the state of what it serves, and is not shutting down. */
  isServing(): boolean;
  /** Runs of a request without the locations that removed members have recorded to which it was sent before. */
  unrecorded(request: ForwardRequest): Promise<readonly CountedRun[]>;
  readonly requests: TakenRequests;
  /** Whether the shards can take that many more. */
  hasCapacity(count: number): boolean;
  /**
   * Submits locations to the shards, in order, and resolves when they are processed and journaled. Their bytes may be changed;
   * they are valid until then.
   */
  take(runs: readonly CountedRun[]): Promise<void>;
  ask(query: Query): Promise<readonly QueryResult[]>;
  /** Range of the journal with the objects that this hub has released because of a record, once it is complete. */
  released(sequence: number): Promise<JournalRange>;
  /** Deletes locations of providers, and resolves when that is journaled. */
  forget(ids: readonly string[]): Promise<void>;
  /** Resolves when the shards are idle, and the configuration changes that follow are applied. */
  settled(): Promise<void>;
}

/** Time that a request waits for the configuration that it names. */
const REACH_MS = 2000;
/** Most bytes of requests in progress. */
const TAKING_BYTES_MAX = 64 << 20;
/** Most ingress hubs that are remembered. */
const INGRESS_MAX = 1024;

/** Last request of an ingress hub. */
interface Last {
  readonly number: number;
  readonly reply: Promise<OwnerReply>;
  /** Whether it was taken, may still be, or was moved: it is not taken again. */
  isTaken: boolean;
  /** Whether part of it may be stored although it was not taken. */
  isTouched: boolean;
}

export class OwnerServer {
  /** Resolves when requests of other hubs arrive. */
  readonly ready: Promise<void>;
  readonly #options: OwnerServerOptions;
  readonly #subscriptions: readonly Subscription[];
  readonly #buffers = new BatchBuffers();
  /** By member id of the ingress hub, most recent last. */
  readonly #last = new Map<string, Last>();
  /** Ingress hubs that are no members any more, most recent last. */
  readonly #gone = new Set<string>();
  readonly #answers: PendingAnswers;
  /** Malformed requests. */
  readonly malformed: ProtocolErrors;
  #takingBytes = 0;
  #isClosed = false;

  constructor(options: OwnerServerOptions) {
    this.#options = options;
    const { bus, name, incarnation, schedule } = options;
    this.#answers = new PendingAnswers({ schedule });
    this.malformed = new ProtocolErrors('objects that this hub owns', options.notice);
    this.#subscriptions = [
      bus.subscribe(`${name}.in.${incarnation}`, (message) => this.#answer(message, (bytes) => this.forwarded(bytes))),
      bus.subscribe(`${name}.ask.${incarnation}`, (message) => this.#answer(message, this.asked)),
    ];
    this.ready = Promise.all(this.#subscriptions.map(({ ready }) => ready)).then(() => undefined);
  }

  /** Takes a request with locations, which is valid until the call returns, and resolves with its answer: see LocalOwner. */
  readonly forwarded = async (bytes: Uint8Array, handedOver?: () => void): Promise<Uint8Array> =>
    REPLY.pack(await this.#forward(bytes, handedOver));

  /** The same with any other request. */
  readonly asked = async (bytes: Uint8Array): Promise<Uint8Array> => REPLY.pack(await this.#ask(bytes));

  /** Removes an ingress hub. Requests of it are rejected, since they may be duplicates; its other state is dropped. */
  forgetIngress(incarnation: string): void {
    this.#gone.add(incarnation);
    if (this.#gone.size > INGRESS_MAX) for (const oldest of [...this.#gone].slice(0, 1)) this.#gone.delete(oldest);
    this.#last.delete(incarnation);
    this.#options.requests.forget(incarnation);
    this.#answers.forgetIngress(incarnation);
  }

  /** Closes the server: later requests are not answered. */
  close(): void {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions) subscription.end();
    this.#answers.close();
  }

  #answer({ bytes, reply }: Message, answer: (bytes: Uint8Array) => Promise<Uint8Array>): void {
    const { bus, notice } = this.#options;
    // An answer that cannot be sent is requested again, like a lost one.
    answer(look(bytes))
      .then((answered) => !this.#isClosed && reply !== '' && bus.publish(reply, answered))
      .catch((error: unknown) => notice(`Cannot answer another hub: ${(error as Error).message}`));
  }

  async #forward(bytes: Uint8Array, handedOver?: () => void): Promise<OwnerReply> {
    if (this.#takingBytes + bytes.length > TAKING_BYTES_MAX) return { at: 'busy' };
    const buffer = this.#buffers.take(bytes.length);
    buffer.bytes.set(bytes);
    this.#takingBytes += bytes.length;
    try {
      return await this.#inTurn(unpackForward(buffer.bytes.subarray(0, bytes.length)), handedOver);
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#takingBytes -= bytes.length;
      this.#buffers.giveBack(buffer);
    }
  }

  #inTurn(request: ForwardRequest, handedOver?: () => void): Promise<OwnerReply> | OwnerReply {
    const { ingress, number } = request;
    if (this.#gone.has(ingress))
      return failed(hubError('member_left', { operation: 'process_locations', member: ingress }));
    const last = this.#last.get(ingress);
    if (last !== undefined && number < last.number)
      return failed(hubError('hub_protocol', {}, { detail: `Request ${number} is older than ${last.number}` }));
    if (last?.number === number && last.isTaken) return last.reply;
    const { promise, resolve } = Promise.withResolvers<OwnerReply>();
    const isTouched = last?.number === number && last.isTouched;
    const now: Last = { number, reply: promise, isTaken: true, isTouched };
    this.#remember(ingress, now);
    void this.#take(request, now, handedOver)
      .catch((error) => this.#failed(error))
      .then((reply) => {
        now.isTaken = reply.at !== 'busy';
        resolve(reply);
      });
    return promise;
  }

  async #take(request: ForwardRequest, last: Last, handedOver?: () => void): Promise<OwnerReply> {
    const { applied, version, ingress, sentBefore, runs: sent } = request;
    const { hasCapacity, take, requests } = this.#options;
    for (const run of sent) checkRun(run);
    if (!(await this.#hasReached(applied))) return { at: 'busy' };
    const runs = sentBefore.length === 0 ? sent : await this.#unrecorded(request);
    if (runs === undefined) return { at: 'busy' };
    if (!this.#isServing || !(this.#isVersion(version) || this.#servesAll(providersOf(sent)))) {
      return this.#moved(!last.isTouched);
    }
    const count = runs.reduce((sum, run) => sum + run.count, 0);
    if (!hasCapacity(count)) return { at: 'busy' };
    try {
      requests.begin(request);
      const taken = take(runs);
      handedOver?.();
      await taken;
      requests.journaled(request);
    } catch (error) {
      if (this.#isServing) {
        // The sender gets the error and does not repeat them.
        requests.forget(ingress);
        throw error;
      }
      // The sender repeats them to the next owner.
      last.isTouched = true;
      return this.#moved(false);
    }
    return { at: 'done' };
  }

  /** Runs without the locations that removed members have recorded; undefined while that is unknown. */
  async #unrecorded(request: ForwardRequest): Promise<readonly CountedRun[] | undefined> {
    try {
      return await this.#options.unrecorded(request);
    } catch (error) {
      const owners = request.sentBefore.map(({ owner }) => owner).join(' and ');
      this.#options.notice(`Cannot find out what ${owners} recorded: ${(error as Error).message}`);
      return undefined;
    }
  }

  async #ask(bytes: Uint8Array): Promise<OwnerReply> {
    try {
      const request = ASK.read(lend(bytes));
      if (!(await this.#hasReached(request.applied))) return { at: 'busy' };
      // The hub that has released objects does not serve them any more.
      const isForServer = request.kind !== 'released';
      if (isForServer && !(this.#isServing && (this.#isVersion(request.version) || this.#servesAsked(request))))
        return this.#moved(true);
      return await this.#answers.reply(request, () => this.#make(request));
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #make({ kind, argument }: AskRequest): Promise<unknown> {
    const { ask, forget, settled, applied, released } = this.#options;
    switch (kind) {
      case 'released':
        return released(argument);
      case 'read':
        return ask(argument);
      case 'forget':
        return forget(argument);
      case 'settle':
        await settled();
        return applied();
    }
  }

  /** Whether the configuration that a request names is applied. */
  async #hasReached(applied: RequestHead['applied']): Promise<boolean> {
    if (this.#options.applied() >= applied) return true;
    return this.#options.reached(applied, REACH_MS).then(
      () => true,
      () => false,
    );
  }

  get #isServing(): boolean {
    return this.#options.isServing() && !this.#isClosed;
  }

  /** Whether the ingress hub has routed by the current ownership version. */
  #isVersion(version: RequestHead['version']): boolean {
    return version === this.#options.ownership.version;
  }

  #servesAsked(request: AskRequest): boolean {
    if (request.kind === 'forget') return this.#servesAll(request.argument);
    const object = request.kind === 'read' ? queriedObject(request.argument) : undefined;
    if (object !== undefined) return this.#serves(object.kind, object.id);
    // Another version has other servers. A sender that names no version queries no other hub.
    const { ownership, incarnation } = this.#options;
    const isAll = ownership.isWhole && ownership.servers.every((server) => server === incarnation);
    return request.version === undefined && isAll;
  }

  #servesAll(providers: Iterable<string>): boolean {
    for (const provider of providers) if (!this.#serves('provider', provider)) return false;
    return true;
  }

  #serves(kind: ObjectKind, id: string): boolean {
    return this.#options.ownership.serverOf(kind, id) === this.#options.incarnation;
  }

  #moved(isUntouched: boolean): OwnerReply {
    return { at: 'moved', applied: this.#options.applied(), isUntouched };
  }

  #remember(ingress: string, last: Last): void {
    this.#last.delete(ingress);
    this.#last.set(ingress, last);
    if (this.#last.size <= INGRESS_MAX) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
  }

  #failed(error: unknown): OwnerReply {
    if (error instanceof HubError) return { at: 'failed', error };
    const isMalformed = error instanceof MessageError || error instanceof RunError;
    const text = isMalformed ? error.message : `Cannot do what another hub asks: ${(error as Error).message}`;
    if (isMalformed) this.malformed.add(error);
    else this.#options.notice(text);
    return { at: 'failed', error: hubError('hub_protocol', {}, { cause: error, detail: text }) };
  }
}

function* providersOf(runs: readonly CountedRun[]): Generator<string> {
  for (const { bytes } of runs) {
    const records = recordsIn(bytes);
    for (let at = 0; at < bytes.length; at += recordSize(records, at)) yield recordIdIn(records, at);
  }
}

function failed(error: HubError): OwnerReply {
  return { at: 'failed', error };
}
