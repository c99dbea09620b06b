import { HubError } from '../errors.ts';
import { lend } from '../model/borrowed.ts';
import { type Bus, BusBusyError, PAYLOAD_BYTES_MAX } from './bus.ts';
import { type Reply, unpackReply } from './door_message.ts';
import type { Ownership } from './ownership.ts';

/** What telling and asking owners takes. */
export interface OwnerCallsOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** Of this hub. */
  readonly incarnation: string;
  /** Who serves what, as far as this hub knows. */
  readonly ownership: Ownership;
  /** Whether that incarnation is a member: what one that is none has done is for its heirs to find out. */
  isMember(incarnation: string): boolean;
  /** The door of this hub, for what it serves itself: no bus brings it its own messages. */
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

/**
 * Answers requests as it does those of other hubs. What it is handed is good until the call returns. `handedOver`: called when
 * the shards have the locations, so that what they are handed from then on is behind these.
 */
export interface OwnDoor {
  forwarded(bytes: Uint8Array, handedOver?: () => void): Promise<Uint8Array>;
  asked(bytes: Uint8Array): Promise<Uint8Array>;
}

/** Something that an owner is told or asked. */
export interface Call {
  readonly subject: 'in' | 'ask';
  /** What cannot be done, in the message of an error. */
  readonly what: string;
  /** Until when it may take, by `elapsed`. */
  readonly untilMs: number;
  /** Whether an owner before may have done it. */
  readonly isInDoubt: boolean;
  /** The request, good until the next one is made. */
  message(): Uint8Array;
  /** See OwnDoor. */
  handedOver?(): void;
}

/**
 * What has become of a call. `moved`: the owner does not serve all that it is about. `lost`: it is no member any more.
 * `isInDoubt`: it may have done it all the same.
 */
export type Called =
  | Exclude<Reply, { at: 'busy' | 'moved' | 'failed' }>
  | { readonly at: 'moved'; readonly applied: number; readonly isInDoubt: boolean }
  | { readonly at: 'lost'; readonly isInDoubt: boolean };

/** One try. The owner answers the same request twice in the same way. */
const TRY_MS = 1000;
/** Until a try is followed by another one where nothing is expected to happen before. */
const AGAIN_MS = 50;

/** Repeats a request until its owner has answered it: the owner may be busy, or stand still, and answers are lost. */
export class OwnerCalls {
  readonly #options: OwnerCallsOptions;
  readonly #watchers = new Set<() => void>();
  #moved = 0;
  #isClosed = false;

  constructor(options: OwnerCallsOptions) {
    this.#options = options;
  }

  /** How often somebody was asked who does not serve what it was about. */
  get moved(): number {
    return this.#moved;
  }

  /** Somebody serves something else, or is no member any more. */
  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Ends it: what waits is rejected. */
  close(): void {
    this.#isClosed = true;
    this.changed();
  }

  /**
   * Resolves with the owner's answer, or when it is no member any more. Rejects with the error that the owner answers, and
   * with HUB_UNAVAILABLE when it has not answered in time: whether somebody may have done it is in the message.
   */
  async call(owner: string, call: Call): Promise<Called> {
    let isInDoubt = false;
    let cause: unknown;
    for (let leftMs = this.#leftMs(call); leftMs > 0; leftMs = this.#leftMs(call)) {
      if (!this.#options.isMember(owner)) return { at: 'lost', isInDoubt };
      const reply = await this.#try(owner, call, Math.min(TRY_MS, leftMs));
      if (reply instanceof Error) {
        // Whatever its answer says, it has got the request.
        isInDoubt = true;
        cause = reply;
        await this.#unlessLost(owner, undefined, AGAIN_MS);
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
          await this.#unlessLost(owner, undefined, Math.min(AGAIN_MS, this.#leftMs(call)));
          break;
        case 'moved':
          this.#moved++;
          return { at: 'moved', applied: reply.applied, isInDoubt: !reply.isUntouched };
        default:
          return reply;
      }
    }
    throw this.late(call.what, { isInDoubt: call.isInDoubt || isInDoubt, cause });
  }

  /**
   * Resolves when it is time to look anew who serves what, after an owner did not do what was asked by some version of that:
   * it knows of a later one, or does not know of this one yet.
   */
  async follow(called: Called & { at: 'moved' | 'lost' }, { version, untilMs }: Route): Promise<void> {
    const { applied, reached, elapsed, ownership } = this.#options;
    const leftMs = (): number => Math.max(1, untilMs - elapsed());
    if (called.at === 'moved' && called.applied > applied()) {
      await this.#within(
        reached(called.applied, leftMs()).catch(() => undefined),
        leftMs(),
        () => this.#isClosed,
      );
    }
    if (ownership.version === version) await this.change(Math.min(AGAIN_MS, leftMs()));
  }

  /** Resolves when somebody serves something else, or after a while. */
  async change(ms: number): Promise<void> {
    if (!this.#isClosed) await this.#within(undefined, ms, () => true);
  }

  /** The error of what was not done in time. */
  late(what: string, { isInDoubt, cause }: { readonly isInDoubt: boolean; readonly cause?: unknown }): HubError {
    const found = this.#isClosed ? 'this hub is closing' : 'no hub has done it in time';
    const doubt = isInDoubt ? '; it may be done all the same, or in part' : '';
    return new HubError('HUB_UNAVAILABLE', `${what}: ${found}${doubt}`, { cause });
  }

  #leftMs({ untilMs }: Call): number {
    return this.#isClosed ? 0 : untilMs - this.#options.elapsed();
  }

  async #try(
    owner: string,
    { subject, what, message, handedOver }: Call,
    timeoutMs: number,
  ): Promise<Reply | { readonly at: 'noResponders' | 'unanswered' } | Error> {
    const { bus, name, incarnation, ownDoor } = this.#options;
    try {
      const bytes = message();
      if (bytes.length > PAYLOAD_BYTES_MAX) {
        const found = `must have at most ${PAYLOAD_BYTES_MAX} bytes between hubs, but has ${bytes.length}`;
        throw new HubError('HUB_PAYLOAD_TOO_LARGE', `${what}: it ${found}`);
      }
      if (owner === incarnation) {
        const own = subject === 'in' ? ownDoor.forwarded(bytes, handedOver) : ownDoor.asked(bytes);
        const answer = await this.#unlessLost(owner, own, timeoutMs);
        return answer === undefined ? { at: 'unanswered' } : unpackReply(lend(answer));
      }
      const request = bus.request(`${name}.${subject}.${owner}`, bytes, { timeoutMs, read: unpackReply });
      const answer = await this.#unlessLost(owner, request, Number.POSITIVE_INFINITY);
      if (answer === undefined) return { at: 'unanswered' };
      return answer.at === 'answered' ? answer.value : answer;
    } catch (error) {
      if (error instanceof HubError) throw error;
      return error instanceof BusBusyError ? { at: 'busy' } : (error as Error);
    }
  }

  /** What a promise says, or undefined when the owner is no member any more, or when it takes too long. */
  #unlessLost<Value>(owner: string, promise: Promise<Value> | undefined, ms: number): Promise<Value | undefined> {
    return this.#within(promise, ms, () => this.#isClosed || !this.#options.isMember(owner));
  }

  /** What a promise says, or undefined when something has changed so that it is over before, or when it takes too long. */
  #within<Value>(promise: Promise<Value> | undefined, ms: number, isOver: () => boolean): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#watchers.delete(watcher);
        cancel?.();
      };
      const late = (): void => {
        end();
        resolve(undefined);
      };
      const watcher = (): void => {
        if (isOver()) late();
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
}

/** By what version of who serves what an owner was found, and how long that may take. */
export interface Route {
  readonly version: number;
  readonly untilMs: number;
}
