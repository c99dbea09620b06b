import type { Answer, Query } from '../core/item.ts';
import { HubError } from '../errors.ts';
import { look } from '../model/borrowed.ts';
import { type CountedRun, checkRun, RunError } from '../wire/received_run.ts';
import type { Bus, Message, Subscription } from './bus.ts';
import {
  DoorMessageError,
  type ForwardRequest,
  packReply,
  type Reply,
  type RequestHead,
  unpackAsk,
  unpackForward,
} from './door_message.ts';
import { HeldAnswers } from './held_answers.ts';
import { ParcelBuffers } from './parcel.ts';

/**
 * Where front doors hand in what is for the objects of this hub.
 *
 * Whoever asks names the configuration that it has applied, and nothing is done before it is applied here too: so each
 * location finds the fences that it found at its front door. A front door sends its next request with locations when it
 * knows what has become of the last one, so the number of the last that was taken says which are repeated:
 *
 *     number          of the request that came last was
 *     higher          anything              it is taken, or refused as busy or moved: then it may come again
 *     the same        taken                 it gets the same answer, when that is there
 *     the same        refused               as a higher one
 *     lower           anything              it is late: its front door does not wait for it any more
 */
export interface DoorOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** Of this hub. */
  readonly incarnation: string;
  /** The sequence of the last configuration record that this hub has applied. */
  applied(): number;
  /** Resolves when that record is applied; rejects when it is not in time. */
  reached(sequence: number, timeoutMs: number): Promise<void>;
  /** Whether this hub owns the objects, and may process their locations. */
  owns(): boolean;
  /** Runs without the locations that the owner before has recorded. */
  unrecorded(runs: readonly CountedRun[]): readonly CountedRun[];
  /** Whether the shards can take that many more. */
  hasCapacity(count: number): boolean;
  /**
   * Hands locations to the shards, in their order, and resolves when they are processed and that is kept. Their bytes may be
   * changed; they are good until then.
   */
  take(runs: readonly CountedRun[]): Promise<void>;
  ask(query: Query): Promise<readonly Answer[]>;
  /** Deletes locations of providers, and resolves when that is kept. */
  forget(ids: readonly string[]): Promise<void>;
  /** Resolves when the shards are done with everything, and what that has changed in the configuration is applied. */
  settled(): Promise<void>;
  /** Told what the log of the hub should say. */
  notice(text: string): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** How long a request waits for the configuration that it names. */
const REACH_MS = 2000;
/** Requests that are being taken, in bytes. */
const TAKING_BYTES_MAX = 64 << 20;
/** Front doors that are remembered. */
const DOORS_MAX = 1024;

/** Opens the door. It is ended by `close`. */
export function openDoor(options: DoorOptions): Door {
  return new Door(options);
}

/** The last request of a front door. */
interface Last {
  readonly number: number;
  readonly reply: Promise<Reply>;
  /** Whether it was taken, or may still be. */
  isTaken: boolean;
}

export class Door {
  /** Resolves when requests of other hubs come in. */
  readonly ready: Promise<void>;
  readonly #options: DoorOptions;
  readonly #subscriptions: readonly Subscription[];
  readonly #buffers = new ParcelBuffers();
  /** By the incarnation of the front door, whoever came last at the end. */
  readonly #last = new Map<string, Last>();
  /** Front doors that were members, the last of them at the end. */
  readonly #gone = new Set<string>();
  readonly #answers: HeldAnswers;
  #takingBytes = 0;
  #isClosed = false;

  /** Only for openDoor. */
  constructor(options: DoorOptions) {
    this.#options = options;
    const { bus, name, incarnation, schedule } = options;
    this.#answers = new HeldAnswers({ schedule });
    this.#subscriptions = [
      bus.subscribe(`${name}.in.${incarnation}`, (message) => this.#answer(message, this.forwarded)),
      bus.subscribe(`${name}.ask.${incarnation}`, (message) => this.#answer(message, this.asked)),
    ];
    this.ready = Promise.all(this.#subscriptions.map(({ ready }) => ready)).then(() => undefined);
  }

  /** Takes a request with locations, which is good until the call returns, and resolves with its answer. */
  readonly forwarded = async (bytes: Uint8Array): Promise<Uint8Array> => packReply(await this.#forward(bytes));

  /** The same with a request for anything else. */
  readonly asked = async (bytes: Uint8Array): Promise<Uint8Array> => packReply(await this.#ask(bytes));

  /**
   * A front door is no member any more, and nothing that it sends is taken: it may be what was taken already. Nothing else of
   * it is remembered.
   */
  forgetDoor(incarnation: string): void {
    this.#gone.add(incarnation);
    if (this.#gone.size > DOORS_MAX) for (const oldest of [...this.#gone].slice(0, 1)) this.#gone.delete(oldest);
    this.#last.delete(incarnation);
    this.#answers.forgetDoor(incarnation);
  }

  /** Ends it: what comes is not answered. */
  close(): void {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions) subscription.end();
    this.#answers.close();
  }

  #answer({ bytes, reply }: Message, answer: (bytes: Uint8Array) => Promise<Uint8Array>): void {
    const { bus, notice } = this.#options;
    // An answer that cannot be sent is one that was lost: it is asked for again.
    answer(look(bytes))
      .then((answered) => !this.#isClosed && reply !== '' && bus.publish(reply, answered))
      .catch((error: unknown) => notice(`Cannot answer another hub: ${(error as Error).message}`));
  }

  async #forward(bytes: Uint8Array): Promise<Reply> {
    if (this.#takingBytes + bytes.length > TAKING_BYTES_MAX) return { at: 'busy' };
    const buffer = this.#buffers.take(bytes.length);
    buffer.bytes.set(bytes);
    this.#takingBytes += bytes.length;
    try {
      return await this.#inTurn(unpackForward(buffer.bytes.subarray(0, bytes.length)));
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#takingBytes -= bytes.length;
      this.#buffers.giveBack(buffer);
    }
  }

  #inTurn(request: ForwardRequest): Promise<Reply> | Reply {
    const { door, number } = request;
    if (this.#gone.has(door)) return failed('their front door is no member any more', 'HUB_UNAVAILABLE');
    const last = this.#last.get(door);
    if (last !== undefined && number < last.number) return failed(`request ${number} comes behind ${last.number}`);
    if (last?.number === number && last.isTaken) return last.reply;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const now: Last = { number, reply: promise, isTaken: true };
    this.#remember(door, now);
    void this.#take(request)
      .catch((error) => this.#failed(error))
      .then((reply) => {
        now.isTaken = reply.at === 'done' || reply.at === 'failed';
        resolve(reply);
      });
    return promise;
  }

  async #take({ applied, isRepeated, runs: sent }: ForwardRequest): Promise<Reply> {
    const { owns, hasCapacity, take, unrecorded } = this.#options;
    for (const run of sent) checkRun(run);
    const refused = await this.#refused(applied);
    if (refused !== undefined) return refused;
    const runs = isRepeated ? unrecorded(sent) : sent;
    const count = runs.reduce((sum, run) => sum + run.count, 0);
    if (!hasCapacity(count)) return { at: 'busy' };
    try {
      await take(runs);
    } catch (error) {
      // Whoever owns them now is sent them again.
      if (!owns()) return this.#movedReply();
      throw error;
    }
    return { at: 'done' };
  }

  async #ask(bytes: Uint8Array): Promise<Reply> {
    try {
      const request = unpackAsk(bytes);
      const refused = await this.#refused(request.applied);
      if (refused !== undefined) return refused;
      return await this.#answers.reply(request, () => this.#make(request));
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #make({ kind, argument }: ReturnType<typeof unpackAsk>): Promise<unknown> {
    const { ask, forget, settled, applied } = this.#options;
    switch (kind) {
      case 'read':
        return ask(argument);
      case 'forget':
        return forget(argument);
      case 'settle':
        await settled();
        return applied();
    }
  }

  /** Why a request is not taken now; undefined where it is, and what it has to find is applied. */
  async #refused(applied: RequestHead['applied']): Promise<Reply | undefined> {
    const { owns, reached } = this.#options;
    if (this.#options.applied() < applied) {
      const isReached = await reached(applied, REACH_MS).then(
        () => true,
        () => false,
      );
      if (!isReached) return { at: 'busy' };
    }
    return owns() && !this.#isClosed ? undefined : this.#movedReply();
  }

  #movedReply(): Reply {
    return { at: 'moved', applied: this.#options.applied() };
  }

  #remember(door: string, last: Last): void {
    this.#last.delete(door);
    this.#last.set(door, last);
    if (this.#last.size <= DOORS_MAX) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
  }

  #failed(error: unknown): Reply {
    if (error instanceof HubError) return { at: 'failed', error };
    const isMisfit = error instanceof DoorMessageError || error instanceof RunError;
    const text = isMisfit ? error.message : `Cannot do what another hub asks: ${(error as Error).message}`;
    this.#options.notice(text);
    return { at: 'failed', error: new HubError('HUB_INTERNAL', text, { cause: error }) };
  }
}

function failed(found: string, code: 'HUB_INTERNAL' | 'HUB_UNAVAILABLE' = 'HUB_INTERNAL'): Reply {
  return { at: 'failed', error: new HubError(code, `Cannot process locations: ${found}`) };
}
