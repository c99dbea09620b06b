import { hubError, type HubError } from '../../errors.ts';
import type { Variant } from '../../model/topics.ts';
import type { ClusterContext } from '../context.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { MessageError } from '../messages/codec.ts';
import type { SentSoFar } from '../channel/channel_message.ts';
import { INTEREST, INTEREST_ANSWER } from '../messages/messages.ts';

/**
 * Exchange of interest: each hub publishes to all others the variants that its subscriptions need.
 *
 * One message lists all variants of a hub, with a number that rises with each change. It goes to each member as a request, one
 * at a time and at most every TELL_EVERY_MS, until the member has acknowledged the last number. It is repeated after a change,
 * after a missing answer, and after a lost connection. So lost messages do no harm, and a new member is handled like any other.
 *
 * An acknowledgement states how much its sender has sent to this hub before it.
 */
export interface InterestOptions extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'schedule'> {
  /** Variants that this hub needs. */
  wanted(): readonly Variant[];
  /** Sets the variants that another hub needs; none once it is removed. */
  wants(member: string, variants: readonly Variant[]): void;
  sentTo(member: string): SentSoFar;
  /** A member has acknowledged the interest, after it had sent that much. */
  acknowledgedBy(member: string, sent: SentSoFar): void;
  /** Reports a malformed message. */
  malformed(error: unknown): void;
}

const TELL_EVERY_MS = 20;
const ANSWER_MS = 500;
/** Pause before a member is sent the interest again that has not acknowledged it, or does not know this hub yet. */
const AGAIN_MS = 50;
/** Time that a subscription may wait until all members have acknowledged it. */
const ACKNOWLEDGED_MS = 6000;

interface Member {
  readonly incarnation: string;
  /** See knownTo; undefined for those of the first message. */
  known: ReadonlySet<number> | undefined;
  /** Last number of this hub that it has acknowledged; 0 for none, or none that still counts. */
  acknowledged: number;
  isAsked: boolean;
  /** Last number received from it; 0 for nothing yet. */
  received: number;
}

interface Waiter {
  isDone(): boolean;
  resolve(): void;
  reject(error: HubError): void;
}

export class Interest {
  readonly #options: InterestOptions;
  readonly #listening: Subscription;
  readonly #members = new Map<string, Member>();
  readonly #waiters = new Set<Waiter>();
  #number = 1;
  #message: { readonly bytes: Uint8Array; readonly ids: ReadonlySet<number> } | undefined;
  /** Set while the interest was sent a moment ago: whether it must be sent again. */
  #pause: { isDue: boolean } | undefined;
  #isMember = false;
  #isClosed = false;

  constructor(options: InterestOptions) {
    this.#options = options;
    const { bus, name, incarnation } = options;
    this.#listening = bus.subscribe(`${name}.interest.${incarnation}`, (message) => this.#hear(message));
  }

  /** Resolves when the interest of others arrives. */
  get ready(): Promise<void> {
    return this.#listening.ready;
  }

  /** The variants that this hub needs have changed. */
  changed(): void {
    this.#number++;
    this.#message = undefined;
    this.#tell();
  }

  /** Adds a member, in the order of their joins. */
  joined(incarnation: string): void {
    if (incarnation === this.#options.incarnation) {
      this.#isMember = true;
      return;
    }
    const known = this.#isMember ? undefined : new Set<number>();
    this.#members.set(incarnation, { incarnation, known, acknowledged: 0, isAsked: false, received: 0 });
    this.#tell();
  }

  /**
   * Ids of the variants of this hub for which a member publishes all fence events: since it has acknowledged them, or since it
   * owns objects, if it has joined after this hub. It owns none before it has received the interest of all.
   */
  knownTo(incarnation: string): ReadonlySet<number> {
    return this.#members.get(incarnation)?.known ?? new Set();
  }

  gone(incarnation: string): void {
    const member = this.#members.get(incarnation);
    this.#members.delete(incarnation);
    if (member !== undefined && member.received > 0) this.#options.wants(incarnation, []);
    this.#settle();
  }

  /** The connection is lost: the interest is sent to all again. */
  down(): void {
    for (const member of this.#members.values()) member.acknowledged = 0;
    this.#tell();
  }

  /**
   * Resolves when every other member has acknowledged the current interest; undefined if that is so already. Rejects with
   * HUB_UNAVAILABLE if it takes too long.
   */
  acknowledged(): Promise<void> | undefined {
    const number = this.#number;
    const isDone = (): boolean => this.#all(({ acknowledged }) => acknowledged >= number);
    if (isDone()) return undefined;
    return this.#until(isDone, ACKNOWLEDGED_MS);
  }

  /**
   * Resolves when every other member has sent its interest. A new owner awaits it before it owns anything. Members that never
   * send it are expelled; rejects with HUB_UNAVAILABLE when this is closed.
   */
  async allInterestReceived(): Promise<void> {
    const isDone = (): boolean => this.#all(({ received }) => received > 0);
    if (!isDone()) await this.#until(isDone);
  }

  close(): void {
    this.#isClosed = true;
    this.#listening.end();
    for (const waiter of this.#waiters) waiter.reject(hubError('not_a_member', { operation: 'subscribe' }));
    this.#waiters.clear();
  }

  #all(holds: (member: Member) => boolean): boolean {
    return [...this.#members.values()].every(holds);
  }

  #until(isDone: () => boolean, withinMs?: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(hubError('not_a_member', { operation: 'subscribe' }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { isDone, resolve, reject };
    this.#waiters.add(waiter);
    if (withinMs === undefined) return promise;
    const cancel = this.#options.schedule(withinMs, () => {
      this.#waiters.delete(waiter);
      reject(hubError('interest_late', { limit: withinMs }));
    });
    return promise.finally(cancel);
  }

  #settle(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.isDone()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  #tell(): void {
    if (this.#isClosed) return;
    if (this.#pause !== undefined) {
      this.#pause.isDue = true;
      return;
    }
    const late = [...this.#members.values()].filter(
      ({ acknowledged, isAsked }) => acknowledged < this.#number && !isAsked,
    );
    if (late.length === 0) return;
    const pause = { isDue: false };
    this.#pause = pause;
    this.#options.schedule(TELL_EVERY_MS, () => {
      this.#pause = undefined;
      if (pause.isDue) this.#tell();
    });
    for (const member of late) void this.#ask(member);
  }

  /** Never rejects. */
  async #ask(member: Member): Promise<void> {
    const { bus, name, wanted, schedule } = this.#options;
    member.isAsked = true;
    const number = this.#number;
    this.#message ??= this.#pack(wanted());
    const { bytes: message, ids } = this.#message;
    // It may take this message although its answer is lost.
    member.known = member.known?.intersection(ids) ?? ids;
    const subject = `${name}.interest.${member.incarnation}`;
    let isAcknowledged = false;
    try {
      await bus.request(subject, message, {
        timeoutMs: ANSWER_MS,
        // At the moment of arrival: everything sent before the answer has arrived, and nothing that is sent after it.
        read: (bytes) => {
          const { sent } = INTEREST_ANSWER.read(bytes);
          if (sent === undefined || this.#members.get(member.incarnation) !== member) return;
          isAcknowledged = true;
          member.acknowledged = number;
          member.known = ids;
          this.#options.acknowledgedBy(member.incarnation, sent);
        },
      });
    } catch (error) {
      // Any other error is a temporary failure of the bus.
      if (error instanceof MessageError) this.#options.malformed(error);
    }
    const goOn = (): void => {
      member.isAsked = false;
      this.#tell();
    };
    if (isAcknowledged) goOn();
    else if (!this.#isClosed && this.#members.get(member.incarnation) === member) schedule(AGAIN_MS, goOn);
    this.#settle();
  }

  #pack(variants: readonly Variant[]): { readonly bytes: Uint8Array; readonly ids: ReadonlySet<number> } {
    const bytes = INTEREST.pack({ from: this.#options.incarnation, number: this.#number, variants });
    return { bytes, ids: new Set(variants.map(({ id }) => id)) };
  }

  #hear({ bytes, reply }: Message): void {
    try {
      const { from, number, variants } = INTEREST.read(bytes);
      const { bus, wants, sentTo } = this.#options;
      const member = this.#members.get(from);
      if (member !== undefined && number > member.received) {
        member.received = number;
        wants(from, variants);
        this.#settle();
      }
      if (reply !== '') bus.publish(reply, INTEREST_ANSWER.pack({ sent: member && sentTo(from) }));
    } catch (error) {
      this.#options.malformed(error);
    }
  }
}
