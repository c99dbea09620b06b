import type { ParamValue } from '../../reasons.ts';
import { hubError, HubError } from '../../errors.ts';
import { lend } from '../../model/borrowed.ts';
import type { ClusterContext } from '../context.ts';
import { BusBusyError, PAYLOAD_BYTES_MAX } from '../nats/bus.ts';
import { REPLY } from '../messages/messages.ts';
import type { OwnerReply } from './owner_protocol.ts';
import type { Ownership } from '../routing/ownership.ts';

/** Options of calls to owners. */
export interface OwnerCallsOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'elapsed' | 'schedule'> {
  /** Ownership, as far as this hub has applied it. */
  readonly ownership: Ownership;
  /** Whether that hub is a member: the work of removed ones is up to their successors. */
  isMember(incarnation: string): boolean;
  /** Owner server of this hub, for what it serves itself: no bus delivers its own messages to it. */
  readonly localOwner: LocalOwner;
  /** Sequence of the last configuration record that this hub has applied. */
  applied(): number;
  /** Resolves when that record is applied; rejects if that takes too long. */
  reached(sequence: number, timeoutMs: number): Promise<void>;
}

/**
 * Answers requests as it does those of other hubs. The bytes are valid until the call returns. `handedOver`: called when the
 * shards have the locations, so that later input to the shards comes after these.
 */
export interface LocalOwner {
  forwarded(bytes: Uint8Array, handedOver?: () => void): Promise<Uint8Array>;
  asked(bytes: Uint8Array): Promise<Uint8Array>;
}

/** A request to an owner. */
export interface Call {
  readonly subject: 'in' | 'ask';
  /** The failed operation, for error messages. */
  readonly operation: ParamValue<'operation'>;
  /** Deadline in monotonic time. */
  readonly untilMs: number;
  /** Whether a previous owner may have executed it. */
  readonly isInDoubt: boolean;
  /** Returns the request, valid until the next one is made. */
  message(): Uint8Array;
  /** See LocalOwner. */
  handedOver?(): void;
}

/**
 * Outcome of a call. `moved`: the owner does not serve all objects of the request. `lost`: it is no member any more.
 * `isInDoubt`: it may have executed it nevertheless.
 */
export type Called =
  | Exclude<OwnerReply, { at: 'busy' | 'moved' | 'failed' }>
  | { readonly at: 'moved'; readonly applied: number; readonly isInDoubt: boolean }
  | { readonly at: 'lost'; readonly isInDoubt: boolean };

/** Timeout of one attempt. The owner answers repeated requests in the same way. */
const TRY_MS = 1000;
/** Pause before the next attempt if no event ends it. */
const AGAIN_MS = 50;

/** Repeats a request until its owner has answered it: the owner may be busy or stopped, and answers may be lost. */
export class OwnerCalls {
  readonly #options: OwnerCallsOptions;
  readonly #watchers = new Set<() => void>();
  #moved = 0;
  #isClosed = false;

  constructor(options: OwnerCallsOptions) {
    this.#options = options;
  }

  /** Number of requests to hubs that did not serve their objects. */
  get moved(): number {
    return this.#moved;
  }

  /** Follows a change of ownership or members. */
  changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Closes it and rejects everything that is pending. */
  close(): void {
    this.#isClosed = true;
    this.changed();
  }

  /**
   * Resolves with the owner's answer, or when it is no member any more. Rejects with the owner's error, and with
   * HUB_UNAVAILABLE if it has not answered in time; the message says whether the request may have been executed.
   */
  async call(owner: string, call: Call): Promise<Called> {
    let isInDoubt = false;
    let cause: unknown;
    for (let leftMs = this.#leftMs(call); leftMs > 0; leftMs = this.#leftMs(call)) {
      if (!this.#options.isMember(owner)) return { at: 'lost', isInDoubt };
      const reply = await this.#try(owner, call, Math.min(TRY_MS, leftMs));
      if (reply instanceof Error) {
        // The owner has received the request, whatever its answer is.
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
    throw this.late(call.operation, { isInDoubt: call.isInDoubt || isInDoubt, cause });
  }

  /**
   * Resolves when it is time to route again, after an owner did not execute a request of some ownership version: it has applied
   * a later one, or not this one yet.
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

  /** Resolves with a change of ownership, or after a while. */
  async change(ms: number): Promise<void> {
    if (!this.#isClosed) await this.#within(undefined, ms, () => true);
  }

  /** Error of a request that was not executed in time. */
  late(
    operation: ParamValue<'operation'>,
    { isInDoubt, cause }: { readonly isInDoubt: boolean; readonly cause?: unknown },
  ): HubError {
    const params = { operation, ...(isInDoubt && { outcome: 'unknown' as const }) };
    return hubError(this.#isClosed ? 'closing' : 'no_owner_in_time', params, { cause });
  }

  #leftMs({ untilMs }: Call): number {
    return this.#isClosed ? 0 : untilMs - this.#options.elapsed();
  }

  async #try(
    owner: string,
    { subject, operation, message, handedOver }: Call,
    timeoutMs: number,
  ): Promise<OwnerReply | { readonly at: 'noResponders' | 'unanswered' } | Error> {
    const { bus, name, incarnation, localOwner } = this.#options;
    try {
      const bytes = message();
      if (bytes.length > PAYLOAD_BYTES_MAX) {
        throw hubError('hub_request_too_large', { operation, limit: PAYLOAD_BYTES_MAX, count: bytes.length });
      }
      if (owner === incarnation) {
        const own = subject === 'in' ? localOwner.forwarded(bytes, handedOver) : localOwner.asked(bytes);
        const answer = await this.#unlessLost(owner, own, timeoutMs);
        return answer === undefined ? { at: 'unanswered' } : REPLY.read(lend(answer));
      }
      const request = bus.request(`${name}.${subject}.${owner}`, bytes, { timeoutMs, read: REPLY.read });
      const answer = await this.#unlessLost(owner, request, Number.POSITIVE_INFINITY);
      if (answer === undefined) return { at: 'unanswered' };
      return answer.at === 'answered' ? answer.value : answer;
    } catch (error) {
      if (error instanceof HubError) throw error;
      return error instanceof BusBusyError ? { at: 'busy' } : (error as Error);
    }
  }

  /** Result of a promise, or undefined if the owner is no member any more, or if it takes too long. */
  #unlessLost<Value>(owner: string, promise: Promise<Value> | undefined, ms: number): Promise<Value | undefined> {
    return this.#within(promise, ms, () => this.#isClosed || !this.#options.isMember(owner));
  }

  /** Result of a promise, or undefined if a change has made it obsolete, or if it takes too long. */
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

/** Ownership version by which an owner was found, and the deadline. */
export interface Route {
  readonly version: number;
  readonly untilMs: number;
}
