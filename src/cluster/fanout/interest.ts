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
 * A member acknowledges it when all later steps of its shards render these variants, and the events of all other steps are sent.
 * It states how much that is, and which steps follow. The acknowledgement counts once this hub has received that much.
 */
export interface InterestOptions extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'schedule'> {
  /** Variants that this hub needs. */
  wanted(): readonly Variant[];
  /** Sets the variants that another hub needs; none once it is removed. */
  wants(member: string, variants: readonly Variant[]): void;
  /** See ClusterFanoutOptions. */
  published(): Promise<readonly number[]>;
  sentTo(member: string): SentSoFar;
  /**
   * A member has acknowledged the interest. Resolves when everything that it had sent before is received or lost, with whether it
   * still is a member.
   */
  acknowledgedBy(member: string, answer: Acknowledgement): Promise<boolean>;
  /** Reports a malformed message. */
  malformed(error: unknown): void;
}

/** Acknowledgement of interest. */
export interface Acknowledgement {
  /** How much its sender had sent before. */
  readonly sent: SentSoFar;
  /** First step of each of its shards whose events it had not sent. */
  readonly unpublished: readonly number[];
}

const NONE = -1;
const TELL_EVERY_MS = 20;
const ANSWER_MS = 500;
/** Pause before a member is sent the interest again that has not acknowledged it, or does not know this hub yet. */
const AGAIN_MS = 50;
/** Time that a subscription may wait until all members have acknowledged it. */
const ACKNOWLEDGED_MS = 6000;

interface Member {
  readonly incarnation: string;
  /** See acknowledgedBy; undefined for that of the first message. */
  known: number | undefined;
  /** Last number of this hub that it has acknowledged; 0 for none, or none that still counts. */
  acknowledged: number;
  isAsked: boolean;
  /** Last number received from it; 0 for nothing yet. */
  received: number;
  /** See ClusterFanoutOptions.published, for that number. */
  published: Promise<readonly number[]> | undefined;
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
  #message: Uint8Array | undefined;
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

  /** Number of the current interest; it rises with each change. */
  get number(): number {
    return this.#number;
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
    const known = this.#isMember ? undefined : NONE;
    const nothing = { acknowledged: 0, isAsked: false, received: 0, published: undefined };
    this.#members.set(incarnation, { incarnation, known, ...nothing });
    this.#tell();
  }

  has(incarnation: string): boolean {
    return this.#members.has(incarnation);
  }

  /**
   * Number of the last interest for which a member publishes all fence events: since it has acknowledged it, or since it owns
   * objects, if it has joined after this hub. It owns none before it has received the interest of all. -1 for none.
   */
  acknowledgedBy(incarnation: string): number {
    return this.#members.get(incarnation)?.known ?? NONE;
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
    const { bus, name, incarnation: from, wanted, schedule } = this.#options;
    member.isAsked = true;
    const number = this.#number;
    this.#message ??= INTEREST.pack({ from, number, variants: wanted() });
    member.known ??= number;
    const subject = `${name}.interest.${member.incarnation}`;
    let counted: Promise<boolean> | undefined;
    try {
      await bus.request(subject, this.#message, {
        timeoutMs: ANSWER_MS,
        // At the moment of arrival: everything sent before the answer has arrived, and nothing that is sent after it.
        read: (bytes) => {
          const { sent, unpublished } = INTEREST_ANSWER.read(bytes);
          if (sent === undefined || this.#members.get(member.incarnation) !== member) return;
          counted = this.#options.acknowledgedBy(member.incarnation, { sent, unpublished });
        },
      });
    } catch (error) {
      // Any other error is a temporary failure of the bus.
      if (error instanceof MessageError) this.#options.malformed(error);
    }
    const isAcknowledged = (await counted) === true;
    if (isAcknowledged) {
      member.acknowledged = number;
      member.known = Math.max(member.known, number);
    }
    const goOn = (): void => {
      member.isAsked = false;
      this.#tell();
    };
    if (isAcknowledged) goOn();
    else if (!this.#isClosed && this.#members.get(member.incarnation) === member) schedule(AGAIN_MS, goOn);
    this.#settle();
  }

  #hear({ bytes, reply }: Message): void {
    try {
      const { from, number, variants } = INTEREST.read(bytes);
      const { bus, wants } = this.#options;
      const member = this.#members.get(from);
      if (member !== undefined && number > member.received) {
        member.received = number;
        wants(from, variants);
        member.published = undefined;
        this.#settle();
      }
      if (reply === '') return;
      if (member === undefined) bus.publish(reply, INTEREST_ANSWER.pack({ sent: undefined, unpublished: [] }));
      else void this.#acknowledge(member, reply);
    } catch (error) {
      this.#options.malformed(error);
    }
  }

  /** Never rejects. */
  async #acknowledge(member: Member, reply: string): Promise<void> {
    const { bus, published, sentTo } = this.#options;
    const { incarnation } = member;
    member.published ??= published();
    try {
      // A repeated request gets the same answer: steps since then render what it needs.
      const unpublished = await member.published;
      if (this.#isClosed || this.#members.get(incarnation) !== member) return;
      bus.publish(reply, INTEREST_ANSWER.pack({ sent: sentTo(incarnation), unpublished }));
    } catch {
      // The next request retries.
      member.published = undefined;
    }
  }
}
