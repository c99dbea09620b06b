import { copied, lend, look } from '../../model/borrowed.ts';
import type { EventBatch } from '../../model/event_batch.ts';
import type { Bus, Message, Subscription } from '../nats/bus.ts';
import { type Behind, type EventFrame, readFrame } from './event_frame.ts';
import {
  ANNOUNCED,
  type AnnouncedEvent,
  type AnnouncedMessage,
  type Numbered,
  type SentSoFar,
} from '../messages/messages.ts';
import { Repair } from './repair.ts';

/**
 * Receives events of other hubs: those of each sender in order and exactly once, or it reports a loss.
 *
 * The messages of a sender are numbered. Duplicates are dropped; after a gap, later messages wait until the missing ones are
 * sent again (repair.ts). If these are unavailable, the affected subscribers are notified. The same holds for an owner that was
 * removed without declaring its last frame, because other frames may be missing. A lost connection needs no other care: its
 * messages are missing.
 *
 *   the next number of a sender is   | when
 *   ---------------------------------+------------------------------------------------------------------------------
 *   1                                | of frames, when it has joined: it sends them to hubs whose interest it has received
 *   1                                | of announced events, when it joins. Messages before its record wait for that
 *   any                              | of announced events, when it has joined before this hub
 *
 *   the numbers that it has sent     | when a message arrives, when it acknowledges the interest of this hub, and with
 *   are known                        | each of its heartbeats
 *
 * Frames in sequence may still have to wait, and with them later frames of their sender:
 *
 *   a frame waits for                | because
 *   ---------------------------------+------------------------------------------------------------------------------
 *   announced events of its sender   | these were sent before it
 *   a record of the configuration    | that makes its sender the successor of a removed member. Frames of removed members
 *                                    | are dropped. NATS orders the messages of each sender only. Announced events wait for
 *                                    | it, too
 *   frames of other senders          | that may have earlier events of its objects. A removed sender has sent everything
 */
export interface FramesInOptions {
  readonly bus: Bus;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  /** Takes the events of one variant, by the number that this hub has assigned. */
  receive(events: EventBatch, from: string): void;
  /** Takes an event that comes from no shard. An error that it throws counts as a malformed message. */
  announced(event: AnnouncedEvent, from: string): void;
  /** Reports lost events: rendered or announced ones, or rendered ones of a removed owner. */
  lost(what: Numbered | 'ofGone', why: string): void;
  /** Reports a malformed message. */
  malformed(error: unknown): void;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Time that frames in sequence may wait, and total size of waiting messages. */
const HELD_MS = 1000;
const HELD_BYTES_MAX = 8 << 20;
/** Upper bound, in most cases, of the difference in transit time between two senders. */
const OTHERS_MS = 100;
/** Most messages of announced events, and characters in total, that may wait for the `join` of their sender. */
const EARLY_MAX = { messages: 100, length: 4 << 20 };

/** Most removed senders that are remembered. */
const GONE_MAX = 100;

interface Sender {
  readonly from: string;
  readonly frames: Repair<HeldFrame>;
  readonly announced: Repair<AnnouncedMessage>;
  /** Frames in sequence that have to wait. */
  waiting: HeldFrame[];
  cancelWaiting: (() => void) | undefined;
  /** Whether it has sent its last frame. */
  isOver: boolean;
}

/** A caller that waits for frames of a sender. */
interface Waiter {
  readonly from: string;
  readonly number: number;
  readonly resolve: () => void;
}

type FrameOrder = Pick<EventFrame, 'number' | 'announced' | 'after' | 'behind'>;

/** A frame in its own memory. */
interface HeldFrame extends FrameOrder {
  readonly blocks: readonly EventBatch[];
  readonly bytes: number;
}

export class FramesIn {
  readonly #options: FramesInOptions;
  readonly #listening: readonly Subscription[];
  readonly #senders = new Map<string, Sender>();
  /** Last frame received from each removed sender. */
  readonly #lastOfGone = new Map<string, number>();
  /** Messages of hubs that may become members in a moment, or that wait for a record that is not applied. */
  #early: AnnouncedMessage[] = [];
  #owners: ReadonlySet<string> = new Set();
  #applied = 0;
  #heldBytes = 0;
  #isReleasing = false;
  readonly #waiters = new Set<Waiter>();
  /** Repairs of removed senders. */
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

  /** Resolves when all messages that are sent arrive. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
  }

  /** Number of gaps that were closed. */
  get repaired(): number {
    return [...this.#senders.values()].reduce((sum, sender) => sum + repairedOf(sender), this.#repaired);
  }

  /** Adds a member. `isNew`: it joined after this hub. */
  joined(member: string, { isNew }: { readonly isNew: boolean }): void {
    const { bus, name, self, malformed, schedule } = this.#options;
    const options = { bus, name, self, from: member, malformed, schedule };
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
    this.#takeEarly();
  }

  /** Removes a member that was expelled or has left: later messages of it are dropped. */
  gone(member: string): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    sender.announced.giveUp();
    const isLate = sender.frames.numbers.missing !== undefined || sender.waiting.length > 0;
    const isOwner = this.#owners.has(member);
    if (isLate || (isOwner && !sender.isOver)) {
      this.#options.lost(isOwner ? 'ofGone' : 'rendered', 'The hub that made the events was removed');
    }
    this.#senders.delete(member);
    this.#lastOfGone.set(member, lastOf(sender));
    for (const [oldest] of this.#lastOfGone) if (this.#lastOfGone.size > GONE_MAX) this.#lastOfGone.delete(oldest);
    this.#repaired += repairedOf(sender);
    this.#end(sender);
    this.#release();
  }

  /** Sets the owners of partitions and of the collision stage. Call it after `gone`. */
  owners(owners: Iterable<string>): void {
    this.#owners = new Set(owners);
  }

  /** The configuration is applied up to that sequence. Call it after all other effects of the record. */
  applied(sequence: number): void {
    this.#applied = sequence;
    this.#takeEarly();
    this.#release();
  }

  /** A member has reported its last number; everything that arrives at all has arrived. */
  sentUpTo(member: string, { frames, announced }: SentSoFar): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    reach(sender.announced, announced);
    reach(sender.frames, frames);
    this.#release();
  }

  /**
   * Resolves when the frames of a sender up to a number have arrived, or it is removed. After a second missing ones are
   * reported as lost first, so that none is delivered after later events of this hub.
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
      this.#options.malformed(error);
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
    this.#takeInSequence(ANNOUNCED.read(bytes));
    this.#release();
  }

  #takeInSequence(message: AnnouncedMessage): void {
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

  #takeEarly(): void {
    if (this.#early.length === 0) return;
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#takeInSequence(message);
  }

  #announce({ events, from }: AnnouncedMessage): void {
    for (const event of events) this.#reading(() => this.#options.announced(event, from));
  }

  #receive({ from }: Sender, { blocks, behind }: Pick<EventFrame, 'blocks' | 'behind'>): void {
    for (const [other, number] of behind) this.#checkGone(other, number);
    for (const block of blocks) this.#options.receive(block, from);
  }

  /** Reports frames of a removed sender that should precede the frame being delivered. */
  #checkGone(other: string, number: number): void {
    const last = this.#lastOfGone.get(other);
    if (last === undefined || last >= number) return;
    this.#lastOfGone.set(other, number);
    this.#options.lost('rendered', 'The hub that made the events was removed, and other hubs own its objects');
  }

  /** Whether a frame waits for nothing but earlier frames of its sender. */
  #isDue({ announced }: Sender, frame: FrameOrder): boolean {
    if (frame.after > this.#applied || !announced.numbers.has(frame.announced)) return false;
    return frame.behind.length === 0 || frame.behind.every(([from, number]) => this.#hasCome(from, number));
  }

  /** Whether subscribers have the frames of a sender up to a number. A removed sender sends nothing more. */
  #hasCome(from: string, number: number): boolean {
    const sender = this.#senders.get(from);
    if (sender === undefined) return true;
    const [first] = sender.waiting;
    return sender.frames.numbers.has(number) && (first === undefined || first.number > number);
  }

  /** Other senders must have sent these frames: requests the missing ones. */
  #expect(behind: Behind): void {
    for (const [from, number] of behind) {
      const frames = this.#senders.get(from)?.frames;
      if (frames !== undefined) reach(frames, number);
    }
    this.#release();
  }

  /** Takes an early frame that is in sequence now. */
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

  /** Delivers frames that have nothing left to wait for. A delivery for one sender may release those of another. */
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

  /** Returns whether there were any. */
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
    this.#options.lost('rendered', 'Events of another hub waited too long for earlier ones');
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

/** Last frame received without a gap that has been delivered. */
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
