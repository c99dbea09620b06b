import { copied, lend, look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { Bus, Message, Subscription } from './bus.ts';
import { type Behind, type EventFrame, readFrame } from './event_frame.ts';
import {
  type AnnouncedEvent,
  type AnnouncedMessage,
  type Numbered,
  readAnnounced,
  type SentSoFar,
} from './fan_out_message.ts';
import { Repair } from './repair.ts';

/**
 * Takes events of other hubs: of each sender in order and once, or tells that some are lost.
 *
 * The messages of a sender are numbered. One whose number has come already is dropped; where a number is missing, those
 * behind it wait until it was sent again (repair.ts). If it cannot be had, whoever has subscribed to such events is told. An
 * owner that is gone is the same, unless it has said before it left that this was all: otherwise nobody knows whether its
 * last frame has come. That the connection was down needs no other care: what was sent meanwhile is missing.
 *
 *   the next number of a sender is   | when
 *   ---------------------------------+------------------------------------------------------------------------------
 *   1                                | of frames, when it has joined: it sends them to those whose interest it has heard
 *   1                                | of announced events, when it joins. What comes before its record waits for that
 *   any                              | of announced events, when it has joined before this hub
 *
 *   it is known what it has sent     | when a message has come, when it answers that it has heard the interest of this hub,
 *                                    | or beats
 *
 * Frames that are in turn may have to wait all the same, and those of their sender behind them:
 *
 *   a frame waits for                | since
 *   ---------------------------------+------------------------------------------------------------------------------
 *   announced events of its sender   | these were sent before it
 *   a record of the configuration    | that has made its sender the owner of what others have owned, and ends what came
 *                                    | before: frames of who is no member are dropped. NATS keeps the order of each sender
 *                                    | alone. What was announced waits for that, too
 *   frames of other senders          | it goes on with objects of which these may tell. A sender that is gone has sent all
 */
export interface FramesInOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  /** Gets the events of one variant, by the number that this hub has given it. */
  receive(events: EventBatch, from: string): void;
  /** Gets an event that comes from no shard. What it throws counts as a message that does not fit. */
  announced(event: AnnouncedEvent, from: string): void;
  /** Events are lost: rendered ones of any variant, or announced ones. Or rendered ones of an owner that is gone. */
  lost(what: Numbered | 'ofGone', why: string): void;
  /** A message does not fit. */
  misfit(error: unknown): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** How long frames that are in turn may wait, and how many bytes of all that waits together. */
const HELD_MS = 1000;
const HELD_BYTES_MAX = 8 << 20;
/** How long it takes at most, in most cases, until frames of two senders have come that were sent at the same time. */
const OTHERS_MS = 100;
/** How many messages of announced events, and characters of all together, may wait for the record by which their sender joins. */
const EARLY_MAX = { messages: 100, length: 4 << 20 };

/** How many senders that are gone are known. */
const GONE_MAX = 100;

interface Sender {
  readonly from: string;
  readonly frames: Repair<HeldFrame>;
  readonly announced: Repair<AnnouncedMessage>;
  /** Frames that were in turn. */
  waiting: HeldFrame[];
  cancelWaiting: (() => void) | undefined;
  /** All that it sends was sent. */
  isOver: boolean;
}

/** Somebody who waits for frames of a sender. */
interface Waiter {
  readonly from: string;
  readonly number: number;
  readonly resolve: () => void;
}

type FrameOrder = Pick<EventFrame, 'number' | 'announced' | 'after' | 'behind'>;

/** A frame in memory of its own. */
interface HeldFrame extends FrameOrder {
  readonly blocks: readonly EventBatch[];
  readonly bytes: number;
}

export class FramesIn {
  readonly #options: FramesInOptions;
  readonly #listening: readonly Subscription[];
  readonly #senders = new Map<string, Sender>();
  /** The last frame that has come of each sender that is gone. */
  readonly #lastOfGone = new Map<string, number>();
  /** Announced by who is no member, and may be one in a moment; or behind a record that is not applied. */
  #early: AnnouncedMessage[] = [];
  #owners: ReadonlySet<string> = new Set();
  #applied = 0;
  #heldBytes = 0;
  #isReleasing = false;
  readonly #waiters = new Set<Waiter>();
  /** Of senders that are gone. */
  #repaired = 0;

  constructor(options: FramesInOptions) {
    this.#options = options;
    const { bus, name, self } = options;
    const announced = (message: Message): void => this.#reading(() => this.#takeAnnounced(message));
    this.#listening = [
      bus.subscribe(`${name}.e.${self}`, (message) => this.#reading(() => this.#take(message))),
      bus.subscribe(`${name}.f`, announced),
      bus.subscribe(`${name}.f.${self}`, announced),
    ];
  }

  /** Resolves when everything that is sent comes. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
  }

  /** How often something was missing and has come then. */
  get repaired(): number {
    return [...this.#senders.values()].reduce((sum, sender) => sum + repairedOf(sender), this.#repaired);
  }

  /** Another hub is a member from now on; or it was one before this hub. */
  joined(member: string, { isNew }: { readonly isNew: boolean }): void {
    const { bus, name, self, misfit, schedule } = this.#options;
    const options = { bus, name, self, from: member, misfit, schedule };
    const sender: Sender = {
      from: member,
      frames: new Repair<HeldFrame>({
        ...{ ...options, of: 'rendered', first: 1 },
        take: (held) => this.#inTurn(sender, held),
        lost: () => this.#miss('rendered'),
      }),
      announced: new Repair<AnnouncedMessage>({
        ...{ ...options, of: 'announced', first: isNew ? 1 : undefined },
        take: (message) => {
          this.#heldBytes -= lengthOf(message);
          this.#announce(message);
        },
        lost: () => this.#miss('announced'),
      }),
      waiting: [],
      cancelWaiting: undefined,
      isOver: false,
    };
    this.#senders.set(member, sender);
    this.#hearEarly();
  }

  /** A member is expelled, or has left: what still comes of it is dropped. */
  gone(member: string): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    sender.announced.giveUp();
    const isLate = sender.frames.numbers.missing !== undefined || sender.waiting.length > 0;
    const isOwner = this.#owners.has(member);
    if (isLate || (isOwner && !sender.isOver)) {
      this.#options.lost(isOwner ? 'ofGone' : 'rendered', 'The hub that has made the events is gone');
    }
    this.#senders.delete(member);
    this.#lastOfGone.set(member, lastOf(sender));
    for (const [oldest] of this.#lastOfGone) if (this.#lastOfGone.size > GONE_MAX) this.#lastOfGone.delete(oldest);
    this.#repaired += repairedOf(sender);
    this.#end(sender);
    this.#release();
  }

  /** Who owns partitions, or the collision stage, from now on. Told behind who is gone. */
  owners(owners: Iterable<string>): void {
    this.#owners = new Set(owners);
  }

  /** The configuration is applied up to there. Told behind all else that the record says. */
  applied(sequence: number): void {
    this.#applied = sequence;
    this.#hearEarly();
    this.#release();
  }

  /** A member has said what it has sent, and all of that has come if it ever comes. */
  heard(member: string, { frames, announced }: SentSoFar): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    reach(sender.announced, announced);
    reach(sender.frames, frames);
    this.#release();
  }

  /**
   * Resolves when the frames of a sender up to a number have come, or it is gone. What has not come after a second is
   * lost, and that is told before: it is not to come behind what is published then.
   */
  async reachedFrom(from: string, number: number): Promise<void> {
    if (this.#hasCome(from, number)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { from, number, resolve };
    this.#waiters.add(waiter);
    const { schedule } = this.#options;
    const cancels = [
      schedule(OTHERS_MS, () => this.#expect([[from, number]])),
      schedule(HELD_MS, () => this.#giveUpTo(from, number)),
    ];
    await promise;
    this.#waiters.delete(waiter);
    for (const cancel of cancels) cancel();
  }

  close(): void {
    for (const listening of this.#listening) listening.end();
    for (const sender of this.#senders.values()) this.#end(sender);
    this.#senders.clear();
    this.#settle();
  }

  #end(sender: Sender): void {
    for (const message of sender.announced.end()) this.#heldBytes -= lengthOf(message);
    for (const { bytes } of sender.frames.end()) this.#heldBytes -= bytes;
    this.#dropWaiting(sender);
  }

  #reading(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#options.misfit(error);
    }
  }

  /** hot */
  #take({ bytes }: Message): void {
    const frame = readFrame(bytes);
    const sender = this.#senders.get(frame.from);
    if (sender === undefined) return;
    const { frames, announced } = sender;
    reach(announced, frame.announced);
    if (frame.blocks.length === 0) {
      sender.isOver = frame.isLast;
      reach(frames, frame.number);
    } else {
      const came = frames.numbers.come(frame.number);
      if (came === 'again') return;
      if (came === 'early') frames.numbers.keep(frame.number, this.#hold(frame, look(bytes).length));
      else if (sender.waiting.length === 0 && this.#isDue(sender, frame)) this.#receive(sender, frame);
      else this.#wait(sender, this.#hold(frame, look(bytes).length));
      frames.check();
    }
    this.#release();
  }

  #takeAnnounced({ bytes }: Message): void {
    this.#hearAnnounced(readAnnounced(bytes));
    this.#release();
  }

  #hearAnnounced(message: AnnouncedMessage): void {
    const { from, number, after } = message;
    const sender = this.#senders.get(from);
    if (sender === undefined || after > this.#applied) {
      if (this.#early.some((other) => other.from === from && other.number === number)) return;
      this.#early.push(message);
      while (isTooMuch(this.#early)) this.#early.shift();
      return;
    }
    const { announced } = sender;
    const came = announced.numbers.come(number);
    if (came === 'again') return;
    if (came === 'early') {
      announced.numbers.keep(number, message);
      this.#heldBytes += lengthOf(message);
    } else this.#announce(message);
    announced.check();
  }

  #hearEarly(): void {
    if (this.#early.length === 0) return;
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#hearAnnounced(message);
  }

  #announce({ events, from }: AnnouncedMessage): void {
    for (const event of events) this.#reading(() => this.#options.announced(event, from));
  }

  #receive({ from }: Sender, { blocks, behind }: Pick<EventFrame, 'blocks' | 'behind'>): void {
    for (const [other, number] of behind) this.#checkGone(other, number);
    for (const block of blocks) this.#options.receive(block, from);
  }

  /** What a sender has sent that is gone comes before what is received now. */
  #checkGone(other: string, number: number): void {
    const last = this.#lastOfGone.get(other);
    if (last === undefined || last >= number) return;
    this.#lastOfGone.set(other, number);
    this.#options.lost('rendered', 'The hub that has made the events is gone, and has left others what it owned');
  }

  /** Whether a frame has nothing to wait for but those of its sender in front of it. */
  #isDue({ announced }: Sender, frame: FrameOrder): boolean {
    if (frame.after > this.#applied || !announced.numbers.has(frame.announced)) return false;
    return frame.behind.length === 0 || frame.behind.every(([from, number]) => this.#hasCome(from, number));
  }

  /** Whether subscribers have what a sender has sent up to a number. One that is gone sends nothing more. */
  #hasCome(from: string, number: number): boolean {
    const sender = this.#senders.get(from);
    if (sender === undefined) return true;
    const [first] = sender.waiting;
    return sender.frames.numbers.has(number) && (first === undefined || first.number > number);
  }

  /** Other senders have sent that by now: what has not come is asked for. */
  #expect(behind: Behind): void {
    for (const [from, number] of behind) {
      const frames = this.#senders.get(from)?.frames;
      if (frames !== undefined) reach(frames, number);
    }
    this.#release();
  }

  /** A frame that was early is in turn. */
  #inTurn(sender: Sender, held: HeldFrame): void {
    if (sender.waiting.length > 0 || !this.#isDue(sender, held)) {
      this.#wait(sender, held);
      return;
    }
    this.#heldBytes -= held.bytes;
    this.#receive(sender, held);
  }

  #hold({ number, announced, after, behind, blocks }: EventFrame, bytes: number): HeldFrame {
    this.#heldBytes += bytes;
    const kept = blocks.map((block) => ({ ...block, bytes: lend(copied(block.bytes)) }));
    return { number, announced, after, behind, blocks: kept, bytes };
  }

  #wait(sender: Sender, held: HeldFrame): void {
    sender.waiting.push(held);
    const { behind } = held;
    if (behind.length > 0)
      this.#options.schedule(OTHERS_MS, () => sender.waiting.includes(held) && this.#expect(behind));
    sender.cancelWaiting ??= this.#options.schedule(HELD_MS, () => this.#giveUpWaiting(sender));
  }

  /** Lets go what has nothing more to wait for. What one sender lets go may be what another one waits for. */
  #release(): void {
    if (this.#heldBytes > HELD_BYTES_MAX) this.#giveUpAll();
    if (!this.#isReleasing && this.#heldBytes > 0) {
      this.#isReleasing = true;
      while ([...this.#senders.values()].filter((sender) => this.#releaseOf(sender)).length > 0);
      this.#isReleasing = false;
    }
    this.#settle();
  }

  #settle(): void {
    for (const { from, number, resolve } of this.#waiters) if (this.#hasCome(from, number)) resolve();
  }

  /** Whether there was something. */
  #releaseOf(sender: Sender): boolean {
    const before = sender.waiting.length;
    for (let [first] = sender.waiting; first !== undefined && this.#isDue(sender, first); [first] = sender.waiting) {
      sender.waiting.shift();
      this.#heldBytes -= first.bytes;
      this.#receive(sender, first);
    }
    if (sender.waiting.length === before) return false;
    sender.cancelWaiting?.();
    const isLeft = sender.waiting.length > 0;
    sender.cancelWaiting = isLeft ? this.#options.schedule(HELD_MS, () => this.#giveUpWaiting(sender)) : undefined;
    return true;
  }

  #giveUpWaiting(sender: Sender): void {
    this.#options.lost('rendered', 'The hub that has made the events has waited too long for others');
    this.#dropWaiting(sender);
    this.#release();
  }

  #giveUpTo(from: string, number: number): void {
    const sender = this.#senders.get(from);
    sender?.frames.giveUp(number);
    const [first] = sender?.waiting ?? [];
    if (sender !== undefined && first !== undefined && first.number <= number) this.#giveUpWaiting(sender);
    this.#release();
  }

  #giveUpAll(): void {
    for (const sender of this.#senders.values()) {
      sender.announced.giveUp();
      sender.frames.giveUp();
      if (sender.waiting.length > 0) this.#giveUpWaiting(sender);
    }
  }

  #dropWaiting(sender: Sender): void {
    for (const { bytes } of sender.waiting) this.#heldBytes -= bytes;
    sender.waiting = [];
    sender.cancelWaiting?.();
    sender.cancelWaiting = undefined;
  }

  #miss(what: Numbered): void {
    this.#options.lost(what, 'Events of another hub were lost');
  }
}

function reach(repair: Repair<unknown>, number: number): void {
  repair.numbers.reach(number);
  repair.check();
}

/** The last frame of those that have come without a gap, and have nothing to wait for. */
function lastOf({ frames, waiting }: Sender): number {
  return (waiting[0]?.number ?? frames.numbers.next ?? 1) - 1;
}

function repairedOf({ frames, announced }: Sender): number {
  return frames.repaired + announced.repaired;
}

function lengthOf({ events }: AnnouncedMessage): number {
  return events.reduce((sum, [, text]) => sum + text.length, 0);
}

function isTooMuch(early: readonly AnnouncedMessage[]): boolean {
  const length = early.reduce((sum, message) => sum + lengthOf(message), 0);
  return early.length > EARLY_MAX.messages || length > EARLY_MAX.length;
}
