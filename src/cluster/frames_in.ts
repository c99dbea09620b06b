import { copied, lend, look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { Bus, Message, Subscription } from './bus.ts';
import { type EventFrame, readFrame } from './event_frame.ts';
import { type AnnouncedEvent, type AnnouncedMessage, readAnnounced, type SentSoFar } from './fan_out_message.ts';

/**
 * Takes events of other hubs: of each sender in order and once, or tells that some are lost.
 *
 * The messages of a sender are numbered. One whose number has come already is dropped; where a number is missing, its events
 * cannot be had any more, and whoever has subscribed to such events is told. An owner that is gone is the same, unless it
 * has said before it left that this was all: otherwise nobody knows whether its last frame has come. That the connection was
 * down needs no other care: what was sent meanwhile is missing, and what was not is not.
 *
 *   the next number of a sender is   | when
 *   ---------------------------------+------------------------------------------------------------------------------
 *   1                                | of frames, when it has joined: it sends them to those whose interest it has heard
 *   1                                | of announced events, when it joins. What comes before its record waits for that
 *   any                              | of announced events, when it has joined before this hub
 *   behind what it says to have sent | it answers that it has heard the interest of this hub, or beats
 *   behind the one that has come     | one has come
 *
 * Between two owners: NATS keeps the order of each sender alone. So the frames of one that has taken over wait until the
 * record is applied here that has made it owner, which ends what came before: frames of who is no member are dropped.
 */
export interface FramesInOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  /** Gets the events of one variant, by the number that this hub has given it. */
  receive(events: EventBatch): void;
  /** Gets an event that comes from no shard. What it throws counts as a message that does not fit. */
  announced(event: AnnouncedEvent): void;
  /** Events are lost: rendered ones of any variant, or announced ones. */
  lost(what: 'rendered' | 'announced', why: string): void;
  /** A message does not fit. */
  misfit(error: unknown): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** How long frames of a new owner may wait, and how many bytes of all together. */
const HELD_MS = 1000;
const HELD_BYTES_MAX = 8 << 20;
/** How many messages of announced events, and characters of all together, may wait for the record by which their sender joins. */
const EARLY_MAX = { messages: 100, length: 4 << 20 };

interface Sender {
  readonly frames: Numbers;
  readonly announced: Numbers;
  held: Held[];
  /** All that it sends has come. */
  isOver: boolean;
}

interface Held {
  /** It never falls from one frame to the next. */
  readonly after: number;
  readonly blocks: readonly EventBatch[];
  readonly bytes: number;
}

export class FramesIn {
  readonly #options: FramesInOptions;
  readonly #listening: readonly Subscription[];
  readonly #senders = new Map<string, Sender>();
  /** Announced by who is no member, and may be one in a moment. */
  #early: AnnouncedMessage[] = [];
  #owners: ReadonlySet<string> = new Set();
  #applied = 0;
  #heldBytes = 0;
  #cancelHeld: (() => void) | undefined;

  constructor(options: FramesInOptions) {
    this.#options = options;
    const { bus, name, self } = options;
    this.#listening = [
      bus.subscribe(`${name}.e.${self}`, (message) => this.#reading(() => this.#take(message))),
      bus.subscribe(`${name}.f`, (message) => this.#reading(() => this.#takeAnnounced(message))),
    ];
  }

  /** Resolves when everything that is sent comes. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
  }

  /** Another hub is a member from now on; or it was one before this hub. */
  joined(member: string, { isNew }: { readonly isNew: boolean }): void {
    const announced = new Numbers(isNew ? 1 : undefined);
    this.#senders.set(member, { frames: new Numbers(1), announced, held: [], isOver: false });
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#hearAnnounced(message);
  }

  /** A member is expelled, or has left: what still comes of it is dropped. */
  gone(member: string): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    this.#senders.delete(member);
    for (const { bytes } of sender.held) this.#heldBytes -= bytes;
    const isWhole = sender.isOver && sender.held.length === 0;
    if (this.#owners.has(member) && !isWhole)
      this.#options.lost('rendered', 'The hub that has made the events is gone');
  }

  /** Who owns partitions, or the collision stage, from now on. Told behind who is gone. */
  owners(owners: Iterable<string>): void {
    this.#owners = new Set(owners);
  }

  /** The configuration is applied up to there. Told behind all else that the record says. */
  applied(sequence: number): void {
    this.#applied = sequence;
    for (const sender of this.#senders.values()) {
      while (sender.held[0] !== undefined && sender.held[0].after <= sequence) {
        const { blocks, bytes } = sender.held.shift() as Held;
        this.#heldBytes -= bytes;
        for (const block of blocks) this.#options.receive(block);
      }
    }
    if (this.#heldBytes === 0) this.#stopHolding();
  }

  /** A member has said what it has sent, and all of that has come if it ever comes. */
  heard(member: string, { frames, announced }: SentSoFar): void {
    const sender = this.#senders.get(member);
    if (sender === undefined) return;
    if (!sender.frames.reach(frames)) this.#miss('rendered');
    if (!sender.announced.reach(announced)) this.#miss('announced');
  }

  close(): void {
    for (const listening of this.#listening) listening.end();
    this.#dropHeld();
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
    if (!sender.announced.reach(frame.announced)) this.#miss('announced');
    sender.isOver = frame.isLast;
    if (frame.blocks.length === 0) {
      if (!sender.frames.reach(frame.number)) this.#miss('rendered');
      return;
    }
    const came = sender.frames.come(frame.number);
    if (came === 'again') return;
    if (came === 'gap') this.#miss('rendered');
    if (frame.after > this.#applied) this.#hold(sender, frame, look(bytes).length);
    else for (const block of frame.blocks) this.#options.receive(block);
  }

  #takeAnnounced({ bytes }: Message): void {
    this.#hearAnnounced(readAnnounced(bytes));
  }

  #hearAnnounced(message: AnnouncedMessage): void {
    const { from, number, events } = message;
    const sender = this.#senders.get(from);
    if (sender === undefined) {
      this.#early.push(message);
      while (isTooMuch(this.#early)) this.#early.shift();
      return;
    }
    const came = sender.announced.come(number);
    if (came === 'again') return;
    if (came === 'gap') this.#miss('announced');
    for (const event of events) {
      try {
        this.#options.announced(event);
      } catch (error) {
        this.#options.misfit(error);
      }
    }
  }

  #hold(sender: Sender, { after, blocks }: EventFrame, bytes: number): void {
    this.#heldBytes += bytes;
    const kept = blocks.map((block) => ({ ...block, bytes: lend(copied(block.bytes)) }));
    sender.held.push({ after, blocks: kept, bytes });
    this.#cancelHeld ??= this.#options.schedule(HELD_MS, () => this.#giveUp());
    if (this.#heldBytes > HELD_BYTES_MAX) this.#giveUp();
  }

  #giveUp(): void {
    this.#dropHeld();
    this.#options.lost('rendered', 'The hub that has made the events has waited too long for others');
  }

  #dropHeld(): void {
    for (const sender of this.#senders.values()) sender.held = [];
    this.#heldBytes = 0;
    this.#stopHolding();
  }

  #stopHolding(): void {
    this.#cancelHeld?.();
    this.#cancelHeld = undefined;
  }

  #miss(what: 'rendered' | 'announced'): void {
    this.#options.lost(what, 'Events of another hub were lost');
  }
}

function isTooMuch(early: readonly AnnouncedMessage[]): boolean {
  const length = early.reduce((sum, { events }) => events.reduce((part, [, text]) => part + text.length, sum), 0);
  return early.length > EARLY_MAX.messages || length > EARLY_MAX.length;
}

/** The numbers of one sender's messages, from the first that is known; undefined while none is. */
class Numbers {
  #next: number | undefined;

  constructor(next: number | undefined) {
    this.#next = next;
  }

  /** A message has come: in turn, again, or behind one that has not. */
  come(number: number): 'inTurn' | 'again' | 'gap' {
    const next = this.#next ?? number;
    if (number < next) return 'again';
    this.#next = number + 1;
    return number === next ? 'inTurn' : 'gap';
  }

  /** All up to a number should have come. False where one has not. */
  reach(number: number): boolean {
    const hasCome = this.#next === undefined || this.#next > number;
    this.#next = Math.max(this.#next ?? 0, number + 1);
    return hasCome;
  }
}
