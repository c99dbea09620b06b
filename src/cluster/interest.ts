import { HubError } from '../errors.ts';
import type { Variant } from '../model/topics.ts';
import type { Bus, Message, Subscription } from './bus.ts';
import { FrameFormatError } from './event_frame.ts';
import { packAnswer, packInterest, readAnswer, readInterest, type SentSoFar } from './fan_out_message.ts';

/**
 * Tells all other hubs what the subscriptions of this one want, and hears the same from them.
 *
 * Everything that is wanted is said in one message, with a number that rises whenever it changes. Each member is asked to
 * hear it, one request at a time and in all at most every TELL_EVERY_MS, until it has answered the last number: again when
 * it has changed, when it was not answered, and when the connection was lost. So it does not matter what gets lost, and a
 * new member hears it as any other does.
 *
 * Who answers says how much it has sent to this hub, and to all: its answer comes behind that.
 */
export interface InterestOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  /** What this hub wants. */
  wanted(): readonly Variant[];
  /** What another hub wants, in the place of what it wanted before; nothing when it is gone. */
  wants(member: string, variants: readonly Variant[]): void;
  sentTo(member: string): SentSoFar;
  /** A member has heard this hub, and has sent so much before. */
  heardBy(member: string, sent: SentSoFar): void;
  /** A message does not fit. */
  misfit(error: unknown): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

const TELL_EVERY_MS = 20;
const ANSWER_MS = 500;
/** Until a member is told again that has not answered, or does not know this hub yet. */
const AGAIN_MS = 50;
/** How long a subscription may wait until all have heard of it. */
const TOLD_MS = 6000;

interface Member {
  readonly incarnation: string;
  /** The number that it has heard of this hub; 0 for none, or none that still counts. */
  heard: number;
  isAsked: boolean;
  /** The number of what it has said last itself; 0 for nothing yet. */
  said: number;
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
  /** While it was told a moment ago: whether it is to be told again. */
  #pause: { isDue: boolean } | undefined;
  #isClosed = false;

  constructor(options: InterestOptions) {
    this.#options = options;
    const { bus, name, self } = options;
    this.#listening = bus.subscribe(`${name}.interest.${self}`, (message) => this.#hear(message));
  }

  /** Resolves when what others say is heard. */
  get ready(): Promise<void> {
    return this.#listening.ready;
  }

  /** What this hub wants has changed. */
  changed(): void {
    this.#number++;
    this.#message = undefined;
    this.#tell();
  }

  /** Another hub is a member from now on. */
  joined(incarnation: string): void {
    this.#members.set(incarnation, { incarnation, heard: 0, isAsked: false, said: 0 });
    this.#tell();
  }

  gone(incarnation: string): void {
    const member = this.#members.get(incarnation);
    this.#members.delete(incarnation);
    if (member !== undefined && member.said > 0) this.#options.wants(incarnation, []);
    this.#settle();
  }

  /** The connection is lost: all are told again. */
  down(): void {
    for (const member of this.#members.values()) member.heard = 0;
    this.#tell();
  }

  /**
   * Resolves when every other member knows what this hub wants now; undefined where that is so. Rejects with HUB_UNAVAILABLE
   * where it takes too long.
   */
  told(): Promise<void> | undefined {
    const number = this.#number;
    const isDone = (): boolean => this.#all(({ heard }) => heard >= number);
    if (isDone()) return undefined;
    return this.#until(isDone, TOLD_MS);
  }

  /**
   * Resolves when every other member has told what it wants. To be awaited by whoever is to own something, before it does.
   * It ends with the membership of those that do not tell; rejects with HUB_UNAVAILABLE when this is closed.
   */
  async allHeard(): Promise<void> {
    const isDone = (): boolean => this.#all(({ said }) => said > 0);
    if (!isDone()) await this.#until(isDone);
  }

  close(): void {
    this.#isClosed = true;
    this.#listening.end();
    for (const waiter of this.#waiters) waiter.reject(unavailable('this hub is no member any more'));
    this.#waiters.clear();
  }

  #all(holds: (member: Member) => boolean): boolean {
    return [...this.#members.values()].every(holds);
  }

  #until(isDone: () => boolean, withinMs?: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(unavailable('this hub is no member any more'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { isDone, resolve, reject };
    this.#waiters.add(waiter);
    if (withinMs === undefined) return promise;
    const cancel = this.#options.schedule(withinMs, () => {
      this.#waiters.delete(waiter);
      reject(unavailable(`not all hubs have heard of it in ${withinMs} ms`));
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
    const late = [...this.#members.values()].filter(({ heard, isAsked }) => heard < this.#number && !isAsked);
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
    const { bus, name, self, wanted, schedule } = this.#options;
    member.isAsked = true;
    const number = this.#number;
    this.#message ??= packInterest({ from: self, number, variants: wanted() });
    const subject = `${name}.interest.${member.incarnation}`;
    let hasHeard = false;
    try {
      await bus.request(subject, this.#message, {
        timeoutMs: ANSWER_MS,
        // In the moment in which it comes: what was sent before it has come, and nothing of what is sent after it.
        read: (bytes) => {
          const sent = readAnswer(bytes);
          if (sent === undefined || this.#members.get(member.incarnation) !== member) return;
          hasHeard = true;
          member.heard = number;
          this.#options.heardBy(member.incarnation, sent);
        },
      });
    } catch (error) {
      // Whatever else it is, the bus cannot do it now.
      if (error instanceof FrameFormatError) this.#options.misfit(error);
    }
    const goOn = (): void => {
      member.isAsked = false;
      this.#tell();
    };
    if (hasHeard) goOn();
    else if (!this.#isClosed && this.#members.get(member.incarnation) === member) schedule(AGAIN_MS, goOn);
    this.#settle();
  }

  #hear({ bytes, reply }: Message): void {
    try {
      const { from, number, variants } = readInterest(bytes);
      const { bus, wants, sentTo } = this.#options;
      const member = this.#members.get(from);
      if (member !== undefined && number > member.said) {
        member.said = number;
        wants(from, variants);
        this.#settle();
      }
      if (reply !== '') bus.publish(reply, packAnswer(member && sentTo(from)));
    } catch (error) {
      this.#options.misfit(error);
    }
  }
}

function unavailable(why: string): HubError {
  return new HubError('HUB_UNAVAILABLE', `Cannot subscribe: ${why}`);
}
