import type { ClusterContext } from '../context.ts';
import type { Bus, Message, Subscription } from '../nats/bus.ts';
import { MessageError } from '../messages/codec.ts';
import { AGAIN, DELIVERED, DELIVERED_ANSWER, SENT_AGAIN } from '../messages/messages.ts';
import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import {
  type ChannelMessage,
  type Kind,
  KINDS,
  ownMessage,
  type Part,
  readMessage,
  type SentSoFar,
} from './channel_message.ts';
import { type Gap, Sequence } from './sequence.ts';

export interface ChannelOptions extends Pick<ClusterContext, 'name' | 'incarnation' | 'schedule'> {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'request' | 'watch'>;
  readonly malformed: ProtocolErrors;
}

/** Receiver of the parts of a kind. */
export interface PartHandler {
  /** Takes a part. `isLate`: it had to wait. An error that it throws counts as a malformed message, and as a loss. */
  take(part: Part, from: string, isLate: boolean): void;
  /** Parts of a sender are lost. Called before later ones are taken. */
  lost(from: string, why: string): void;
}

/** Time that a message may wait for others, and total size of waiting messages. */
const HELD_MS = 1000;
const HELD_BYTES_MAX = 8 << 20;
const ANSWER_MS = 200;
/** Pause before a missing message is requested again. */
const AGAIN_MS = 50;
/** Most gaps that are requested at the same time. */
const GAPS_MAX = 64;

const LOST = 'Messages of another hub were lost';
const LATE = 'Messages of another hub waited too long for earlier ones';

type HeldMessage = ReturnType<typeof ownMessage>;

interface Sender {
  readonly from: string;
  readonly numbers: Sequence<HeldMessage>;
  /** Its last report of sent messages: those with greater numbers may have parts of any kind. */
  reported: SentSoFar;
  /** The next message is missing or has to wait: a function that stops its deadline, and whether that is over. */
  blocked:
    | { readonly number: number; readonly isGap: boolean; readonly cancel: () => void; isLate: boolean }
    | undefined;
  isAsking: boolean;
  /** Whether it has sent its last message. */
  isOver: boolean;
  /** See Channel.receivedUpTo. */
  readonly waiters: Set<{ readonly number: number; resolve(): void }>;
}

/**
 * Receiving side of the channel. Requests for missing messages are sent at once and repeated. All gaps are requested together,
 * since the sender retains messages for two seconds. Messages that the sender has dropped are given up at once, others after a
 * second. The last request is awaited: after a stop of this process its answer may be there unread.
 */
export class ChannelReceiver {
  /** Resolves when all messages that are sent arrive. */
  readonly ready: Promise<unknown>;
  readonly #options: ChannelOptions;
  readonly #listening: readonly Subscription[];
  readonly #handlers = new Map<Kind, PartHandler>();
  readonly #senders = new Map<string, Sender>();
  #applied = 0;
  #heldBytes = 0;
  #isReleasing = false;
  #repairs = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { bus, name, incarnation, malformed } = options;
    const take = (message: Message): void => malformed.reading(() => this.#take(message));
    this.#listening = [
      bus.subscribe(`${name}.e.${incarnation}`, take),
      bus.subscribe(`${name}.delivered.${incarnation}`, (message) => malformed.reading(() => this.#answer(message))),
    ];
    this.ready = Promise.all(this.#listening.map(({ ready }) => ready));
  }

  get repairs(): number {
    return this.#repairs;
  }

  serve(kind: Kind, handler: PartHandler): void {
    this.#handlers.set(kind, handler);
  }

  joined(from: string): void {
    const numbers = new Sequence<HeldMessage>();
    const reported = { number: 0, lastOf: KINDS.map(() => 0) };
    const blocked = undefined;
    this.#senders.set(from, { from, numbers, reported, blocked, isAsking: false, isOver: false, waiters: new Set() });
  }

  /** See Channel.gone. */
  gone(member: string): { readonly isOver: boolean; readonly lost: readonly Kind[] } {
    const sender = this.#senders.get(member);
    if (sender === undefined) return { isOver: true, lost: [] };
    const lost = undelivered(sender);
    this.#end(sender);
    return { isOver: sender.isOver, lost };
  }

  /** See Channel.applied. */
  applied(sequence: number): void {
    this.#applied = sequence;
    this.#release();
  }

  /** See Channel.sentUpTo. */
  sentUpTo(member: string, sent: SentSoFar): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    note(sender, sent);
    this.#check(sender);
    this.#release();
  }

  /** See Channel.receivedUpTo. */
  receivedUpTo(member: string, number: number): Promise<void> | undefined {
    const sender = this.#senders.get(member);
    if (sender === undefined || sender.numbers.next > number) return undefined;
    return new Promise((resolve) => sender.waiters.add({ number, resolve }));
  }

  close(): void {
    for (const listening of this.#listening) listening.end();
    for (const sender of this.#senders.values()) this.#end(sender);
  }

  #end(sender: Sender): void {
    this.#senders.delete(sender.from);
    sender.blocked?.cancel();
    sender.blocked = undefined;
    this.#drop(sender.numbers.skip(sender.numbers.sent));
    for (const { resolve } of sender.waiters) resolve();
  }

  #drop(messages: readonly HeldMessage[]): void {
    for (const { size } of messages) this.#heldBytes -= size;
  }

  /** Hot path. */
  #take({ bytes }: Message): void {
    const message = readMessage(bytes);
    const sender = this.#senders.get(message.from);
    // It has left, or its record is not applied here yet: then its first message is requested again.
    if (sender === undefined) return;
    const { numbers } = sender;
    note(sender, message);
    sender.isOver = message.isLast;
    const { number } = message;
    if (message.parts.length > 0 && !numbers.has(number)) {
      if (number === numbers.next && this.#isDue(message)) {
        const isLate = sender.blocked !== undefined;
        numbers.advance();
        this.#deliver(message, isLate);
      } else this.#hold(sender, message);
    }
    this.#check(sender);
    this.#release();
  }

  #hold(sender: Sender, message: ChannelMessage): void {
    const held = ownMessage(message);
    this.#heldBytes += held.size;
    sender.numbers.hold(message.number, held);
    if (this.#heldBytes <= HELD_BYTES_MAX) return;
    for (const each of [...this.#senders.values()]) this.#giveUp(each, LATE);
  }

  #deliver({ from, parts }: ChannelMessage, isLate: boolean): void {
    for (const part of parts) {
      const handler = this.#handlers.get(part.kind);
      try {
        handler?.take(part, from, isLate);
      } catch (error) {
        this.#options.malformed.add(error);
        handler?.lost(from, LOST);
      }
    }
  }

  /** Whether a message waits for nothing but earlier ones of its sender. */
  #isDue({ after }: ChannelMessage): boolean {
    return after <= this.#applied;
  }

  /** Says which messages of a sender are delivered, and requests those that are missing. */
  #answer({ bytes, reply }: Message): void {
    const { from, number } = DELIVERED.read(bytes);
    const sender = this.#senders.get(from);
    if (sender === undefined || reply === '') return;
    sender.numbers.reach(number);
    this.#check(sender);
    this.#options.bus.publish(reply, DELIVERED_ANSWER.pack({ number: sender.numbers.next - 1 }));
  }

  /** Delivers messages that have nothing left to wait for. A delivery may release more of them. */
  #release(): void {
    if (this.#heldBytes === 0 || this.#isReleasing) return;
    this.#isReleasing = true;
    while ([...this.#senders.values()].filter((sender) => this.#releaseOf(sender)).length > 0);
    this.#isReleasing = false;
  }

  /** Returns whether there were any. */
  #releaseOf(sender: Sender): boolean {
    const { numbers } = sender;
    const before = numbers.next;
    for (let { first } = numbers; first !== undefined && this.#isDue(first); { first } = numbers) {
      this.#heldBytes -= first.size;
      numbers.advance();
      this.#deliver(first, true);
    }
    if (numbers.next === before) return false;
    this.#check(sender);
    return true;
  }

  /** Requests missing messages, and sets the deadline of the next message. */
  #check(sender: Sender): void {
    const { numbers, blocked, waiters } = sender;
    for (const waiter of waiters) if (waiter.number < numbers.next && waiters.delete(waiter)) waiter.resolve();
    if (blocked?.number !== (numbers.isComplete ? undefined : numbers.next)) {
      blocked?.cancel();
      sender.blocked = undefined;
      if (blocked?.isGap === true && (numbers.isComplete || numbers.first !== undefined)) this.#repairs++;
      if (!numbers.isComplete) this.#block(sender);
    }
    if (numbers.hasGaps && !sender.isAsking) void this.#ask(sender);
  }

  #block(sender: Sender): void {
    const { numbers } = sender;
    const isGap = numbers.first === undefined;
    const cancel = this.#options.schedule(HELD_MS, () => {
      blocked.isLate = true;
      if (numbers.first !== undefined) this.#giveUp(sender, LATE);
    });
    const blocked: NonNullable<Sender['blocked']> = { number: numbers.next, isGap, cancel, isLate: false };
    sender.blocked = blocked;
  }

  /** Requests each gap once, and after a moment what is still missing, or at once if some of it has arrived. Never rejects. */
  async #ask(sender: Sender): Promise<void> {
    const { numbers } = sender;
    const isMember = (): boolean => this.#senders.get(sender.from) === sender;
    if (!numbers.hasGaps || !isMember()) return;
    const gaps = numbers.gaps(GAPS_MAX);
    sender.isAsking = true;
    const isLast = sender.blocked?.isLate === true;
    await Promise.all(gaps.map((gap) => this.#askFor(sender, gap)));
    const isStill = numbers.gaps(1)[0]?.first === gaps[0]?.first;
    if (isStill && isLast && isMember()) this.#giveUp(sender, LOST);
    const goOn = (): void => {
      sender.isAsking = false;
      void this.#ask(sender);
    };
    if (isStill && !isLast) this.#options.schedule(AGAIN_MS, goOn);
    else goOn();
  }

  /** Never rejects. */
  async #askFor(sender: Sender, gap: Gap): Promise<void> {
    const { bus, name, incarnation, malformed } = this.#options;
    try {
      await bus.request(`${name}.again.${sender.from}`, AGAIN.pack({ from: incarnation, ...gap }), {
        timeoutMs: ANSWER_MS,
        // At the moment of arrival: the messages that were sent again have arrived before.
        read: (bytes) => this.#answered(sender, gap, SENT_AGAIN.read(bytes).lost),
      });
    } catch (error) {
      // Any other error is a temporary failure of the bus.
      if (error instanceof MessageError) malformed.add(error);
    }
  }

  /** The sender has dropped messages up to a number. Numbers before the gap were requested too, and may still arrive. */
  #answered(sender: Sender, { first }: Gap, lost: number): void {
    const [missing] = sender.numbers.gaps(1);
    const isNext = missing !== undefined && missing.first === sender.numbers.next;
    if (!isNext || missing.first < first || missing.first > lost) return;
    this.#giveUp(sender, LOST, Math.min(missing.last, lost));
  }

  /** Gives up what is not delivered, up to a number; left out: all of it. */
  #giveUp(sender: Sender | undefined, why: string, upTo = sender?.numbers.sent ?? 0): void {
    if (sender === undefined || upTo < sender.numbers.next || this.#senders.get(sender.from) !== sender) return;
    const lost = undelivered(sender);
    this.#drop(sender.numbers.skip(upTo));
    sender.blocked?.cancel();
    sender.blocked = undefined;
    for (const kind of lost) this.#handlers.get(kind)?.lost(sender.from, why);
    this.#check(sender);
    this.#release();
  }
}

/** Notes how much a sender has sent. Hot path. */
function note(sender: Sender, { number, lastOf }: SentSoFar): void {
  sender.numbers.reach(number);
  if (number > sender.reported.number) sender.reported = { number, lastOf };
}

/** Kinds of which parts may be among what is not delivered. */
function undelivered({ numbers, reported }: Sender): readonly Kind[] {
  if (numbers.isComplete) return [];
  const isUnknown = numbers.sent > reported.number;
  return KINDS.filter((_, i) => isUnknown || (reported.lastOf[i] as number) >= numbers.next);
}
