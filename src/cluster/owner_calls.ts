import { HubError } from '../errors.ts';
import { lend } from '../model/borrowed.ts';
import { type Bus, BusBusyError, PAYLOAD_BYTES_MAX } from './bus.ts';
import { type Reply, unpackReply } from './door_message.ts';

/** What finding an owner takes. */
export interface OwnerCallsOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** Of this hub. */
  readonly incarnation: string;
  /** The incarnation that owns all objects now, as far as this hub knows; undefined while nobody does. */
  owner(): string | undefined;
  /** The door of this hub, for the time in which it is the owner itself: no bus brings it its own messages. */
  readonly ownDoor: OwnDoor;
  /** The sequence of the last configuration record that this hub has applied. */
  applied(): number;
  /** Resolves when that record is applied; rejects when it is not in time. */
  reached(sequence: number, timeoutMs: number): Promise<void>;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Answers requests as it does those of other hubs. What it is handed is good until the call returns. */
export interface OwnDoor {
  forwarded(bytes: Uint8Array): Promise<Uint8Array>;
  asked(bytes: Uint8Array): Promise<Uint8Array>;
}

/** Something that an owner is told or asked. */
export interface Call {
  readonly subject: 'in' | 'ask';
  /** What cannot be done, in the message of an error. */
  readonly what: string;
  /** Until when it may take, by `elapsed`. */
  readonly untilMs: number;
  /** The request, good until the next one is made. */
  message(owner: string): Uint8Array;
}

export type FinalReply = Exclude<Reply, { at: 'busy' | 'moved' | 'failed' }>;

/** One try. The owner answers the same request twice in the same way. */
const TRY_MS = 1000;
/** Until a try is followed by another one where nothing is expected to happen before. */
const AGAIN_MS = 50;

/**
 * Finds whoever owns the objects of a request and repeats the request until it is answered: the owner may be busy, another
 * one, dead, or nobody yet, and answers are lost. Whoever waits goes on as soon as the owner is another one.
 */
export class OwnerCalls {
  readonly #options: OwnerCallsOptions;
  readonly #watchers = new Set<() => void>();
  #moved = 0;
  #isClosed = false;

  constructor(options: OwnerCallsOptions) {
    this.#options = options;
  }

  /** How often somebody was asked who is not the owner. */
  get moved(): number {
    return this.#moved;
  }

  /** The owner is another one, or nobody. */
  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Ends it: what waits is rejected. */
  close(): void {
    this.#isClosed = true;
    this.changed();
  }

  /**
   * Resolves with the owner's answer. Rejects with the error that the owner answers, and with HUB_UNAVAILABLE when nobody
   * has answered in time: whether somebody may have taken it is in the message.
   */
  async call(call: Call): Promise<FinalReply> {
    let isInDoubt = false;
    let cause: unknown;
    for (let leftMs = this.#leftMs(call); leftMs > 0; leftMs = this.#leftMs(call)) {
      const owner = this.#options.owner();
      if (owner === undefined) {
        await this.#change(owner, leftMs);
        continue;
      }
      const reply = await this.#try(owner, call, Math.min(TRY_MS, leftMs));
      if (reply instanceof Error) {
        // Whatever its answer says, it has got the request.
        isInDoubt = true;
        cause = reply;
        await this.#change(owner, AGAIN_MS);
        continue;
      }
      switch (reply.at) {
        case 'failed':
          throw reply.error;
        case 'unanswered':
          isInDoubt = true;
          break;
        case 'busy':
        case 'noResponders':
          await this.#change(owner, Math.min(AGAIN_MS, this.#leftMs(call)));
          break;
        case 'moved':
          // It may have been the owner when it took the request.
          isInDoubt = true;
          await this.#follow(owner, reply.applied, call);
          break;
        default:
          return reply;
      }
    }
    throw this.#late(call.what, isInDoubt, cause);
  }

  #leftMs({ untilMs }: Call): number {
    return this.#isClosed ? 0 : untilMs - this.#options.elapsed();
  }

  async #try(
    owner: string,
    { subject, what, message }: Call,
    timeoutMs: number,
  ): Promise<Reply | { readonly at: 'noResponders' | 'unanswered' } | Error> {
    const { bus, name, incarnation, ownDoor } = this.#options;
    try {
      const bytes = message(owner);
      if (bytes.length > PAYLOAD_BYTES_MAX) {
        const found = `must have at most ${PAYLOAD_BYTES_MAX} bytes between hubs, but has ${bytes.length}`;
        throw new HubError('HUB_PAYLOAD_TOO_LARGE', `${what}: it ${found}`);
      }
      if (owner === incarnation) {
        const own = subject === 'in' ? ownDoor.forwarded(bytes) : ownDoor.asked(bytes);
        const answer = await this.#unlessChanged(owner, own, timeoutMs);
        return answer === undefined ? { at: 'unanswered' } : unpackReply(lend(answer));
      }
      const request = bus.request(`${name}.${subject}.${owner}`, bytes, { timeoutMs, read: unpackReply });
      const answer = await this.#unlessChanged(owner, request, Number.POSITIVE_INFINITY);
      if (answer === undefined) return { at: 'unanswered' };
      return answer.at === 'answered' ? answer.value : answer;
    } catch (error) {
      if (error instanceof HubError) throw error;
      return error instanceof BusBusyError ? { at: 'busy' } : (error as Error);
    }
  }

  /** Whoever is asked knows of a later map, or does not know of ours yet. */
  async #follow(owner: string, applied: number, call: Call): Promise<void> {
    this.#moved++;
    const { reached } = this.#options;
    if (applied > this.#options.applied())
      await reached(applied, Math.max(1, this.#leftMs(call))).catch(() => undefined);
    if (this.#options.owner() === owner) await this.#change(owner, Math.min(AGAIN_MS, this.#leftMs(call)));
  }

  /** Resolves when the owner is another one, or after a while. */
  #change(owner: string | undefined, ms: number): Promise<void> {
    return this.#unlessChanged(owner, undefined, ms);
  }

  /** What a promise says, or undefined when the owner is another one before, or when it takes too long. */
  #unlessChanged<Value>(owner: string | undefined, promise: Promise<Value> | undefined, ms: number) {
    return new Promise<Value | undefined>((resolve, reject) => {
      const end = (): void => {
        this.#watchers.delete(watcher);
        cancel?.();
      };
      const watcher = (): void => {
        if (!this.#isClosed && this.#options.owner() === owner) return;
        end();
        resolve(undefined);
      };
      const late = (): void => {
        end();
        resolve(undefined);
      };
      const cancel = ms === Number.POSITIVE_INFINITY ? undefined : this.#options.schedule(Math.max(0, ms), late);
      this.#watchers.add(watcher);
      promise?.then(
        (value) => {
          end();
          resolve(value);
        },
        (error) => {
          end();
          reject(error);
        },
      );
    });
  }

  #late(what: string, isInDoubt: boolean, cause: unknown): HubError {
    const found = this.#isClosed ? 'this hub is closing' : 'no hub has done it in time';
    const doubt = isInDoubt ? '; it may be done all the same, or in part' : '';
    return new HubError('HUB_UNAVAILABLE', `${what}: ${found}${doubt}`, { cause });
  }
}
