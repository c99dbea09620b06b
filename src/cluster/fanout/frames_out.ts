import type { EventBatch } from '../../model/event_batch.ts';
import type { Variant } from '../../model/topics.ts';
import { type Bus, type Message, PAYLOAD_BYTES_MAX, type Subscription } from '../nats/bus.ts';
import { type Behind, BlockPacker, FrameWriter } from './event_frame.ts';
import {
  AGAIN,
  ANNOUNCED,
  type AnnouncedEvent,
  type AnnouncedKind,
  SENT_AGAIN,
  type SentSoFar,
} from '../messages/messages.ts';
import { SentBudget, SentMessages } from './sent_messages.ts';

/**
 * Sends events to other hubs: in frames to each hub that wants them, and events from no shard to all.
 *
 * Events published in one turn leave together, in messages of about a megabyte. Each message takes a number even if it cannot
 * be sent: then the receiver sees a gap. So that it also notices a missing last message, `beat` repeats the numbers to each
 * hub.
 *
 * Objects from another owner come with the frame numbers that it has sent to each receiver: for some seconds, frames of this
 * hub say that they follow these.
 *
 * Messages of the last seconds are retained as far as there is room. A receiver requests missing ones, which are sent again
 * unchanged; then the answer says which are unavailable.
 */
export interface FramesOutOptions {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  /** Reports a malformed message. */
  malformed(error: unknown): void;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Approximate bytes of a message; a larger event has its own. */
const MESSAGE_BYTES = 1 << 20;
const BLOCK_EVENTS = 8192;
/**
 * Time during which frames name the frames of other senders that precede them: afterwards these have arrived or are given up.
 */
const BEHIND_MS = 5000;
const BEHIND_NONE: Behind = [];
/** Overhead of an announced event besides its JSON. */
const TEXT_OVERHEAD_BYTES = 32;

interface Receiver {
  readonly subject: string;
  readonly writer: FrameWriter;
  readonly sent: SentMessages;
  /** Number of the last frame. */
  frames: number;
  /** Frames of other senders that precede those of this hub, by sender. */
  readonly behind: Map<string, BehindFrame>;
}

interface BehindFrame {
  readonly number: number;
  readonly cancel: () => void;
}

export class FramesOut {
  readonly #options: FramesOutOptions;
  readonly #listening: Subscription;
  readonly #packer = new BlockPacker();
  readonly #budget = new SentBudget();
  readonly #receivers = new Map<string, Receiver>();
  /** Receivers with unsent blocks. */
  readonly #pending = new Set<Receiver>();
  #announced: AnnouncedEvent[] = [];
  #announcedBytes = 0;
  /** Number of the last message of announced events. */
  #announcements = 0;
  readonly #sentToAll = new SentMessages(this.#budget);
  #after = 0;
  #isLast = false;
  #isToFlush = false;

  constructor(options: FramesOutOptions) {
    this.#options = options;
    const { bus, name, self } = options;
    this.#listening = bus.subscribe(`${name}.again.${self}`, (message) => this.#hear(message));
  }

  /** Resolves when requests of receivers arrive. */
  get ready(): Promise<void> {
    return this.#listening.ready;
  }

  /** Adds a member. */
  joined(member: string): void {
    const { name, self } = this.#options;
    const sent = new SentMessages(this.#budget);
    const subject = `${name}.e.${member}`;
    this.#receivers.set(member, { subject, writer: new FrameWriter(self), sent, frames: 0, behind: new Map() });
  }

  gone(member: string): void {
    const receiver = this.#receivers.get(member);
    if (receiver === undefined) return;
    this.#pending.delete(receiver);
    receiver.sent.clear();
    for (const { cancel } of receiver.behind.values()) cancel();
    this.#receivers.delete(member);
    for (const { behind } of this.#receivers.values()) noMore(behind, member);
  }

  close(): void {
    this.#listening.end();
    for (const { behind } of this.#receivers.values()) for (const { cancel } of behind.values()) cancel();
  }

  /** Frames from now on follow those of the owners that the configuration, up to that sequence, has replaced. */
  tookAfter(sequence: number): void {
    this.#flush();
    this.#after = Math.max(this.#after, sequence);
  }

  /** Frames of this hub follow those that another owner has sent to each receiver. */
  tookBehind(from: string, sent: Readonly<Record<string, number>>): void {
    this.#flush();
    for (const [member, number] of Object.entries(sent)) {
      const behind = this.#receivers.get(member)?.behind;
      if (behind === undefined || number === 0 || (behind.get(from)?.number ?? 0) > number) continue;
      noMore(behind, from);
      const cancel = this.#options.schedule(BEHIND_MS, () => behind.delete(from));
      behind.set(from, { number, cancel });
    }
  }

  /** Number of the last frame to each member, after sending everything published so far. */
  sentToAll(): Record<string, number> {
    this.#flush();
    return Object.fromEntries([...this.#receivers].map(([member, { frames }]) => [member, frames]));
  }

  /** By other senders, the numbers of their frames to each member that precede those of this hub. */
  behindToAll(): Record<string, Record<string, number>> {
    const all: Record<string, Record<string, number>> = {};
    for (const [member, { behind }] of this.#receivers) {
      for (const [from, { number }] of behind) all[from] = { ...all[from], [member]: number };
    }
    return all;
  }

  sentTo(member: string): SentSoFar {
    return { frames: this.#receivers.get(member)?.frames ?? 0, announced: this.#announcements };
  }

  /** Sends events to the hubs that want them, each under its own variant number. Hot path. */
  forward(events: EventBatch, to: ReadonlyMap<string, Variant>): void {
    const { ends } = events;
    let from = 0;
    while (from < ends.length) {
      const end = blockEnd(ends, from);
      const block = this.#packer.pack(events, from, end);
      for (const [member, { id }] of to) {
        const receiver = this.#receivers.get(member);
        if (receiver !== undefined) this.#add(receiver, id, block);
      }
      from = end;
    }
    this.#flushSoon();
  }

  /** Sends an event that comes from no shard to all hubs, as JSON. */
  announce(kind: AnnouncedKind, text: string): void {
    this.#announced.push([kind, text]);
    this.#announcedBytes += text.length + TEXT_OVERHEAD_BYTES;
    if (this.#announcedBytes > MESSAGE_BYTES) this.#sendAnnounced();
    else this.#flushSoon();
  }

  /** Repeats the current numbers to every hub that was sent anything. `isLast`: this hub sends nothing more. */
  beat({ isLast = false } = {}): void {
    this.#flush();
    this.#isLast = isLast;
    for (const receiver of this.#receivers.values()) {
      if (isLast || receiver.frames > 0 || this.#announcements > 0) this.#send(receiver);
    }
  }

  /** Drops old messages. Call it once a second. */
  age(): void {
    for (const { sent } of this.#receivers.values()) sent.beat();
    this.#sentToAll.beat();
  }

  /** Handles a request for missing messages. */
  #hear({ bytes, reply }: Message): void {
    const { bus, name, malformed } = this.#options;
    try {
      const { from, of, first, last } = AGAIN.read(bytes);
      const receiver = this.#receivers.get(from);
      if (receiver === undefined || reply === '') return;
      const isRendered = of === 'rendered';
      const sent = isRendered ? receiver.sent : this.#sentToAll;
      const again = sent.again(first, Math.min(last, isRendered ? receiver.frames : this.#announcements));
      for (const message of again.messages) bus.publish(isRendered ? receiver.subject : `${name}.f.${from}`, message);
      bus.publish(reply, SENT_AGAIN.pack({ lost: again.lost }));
    } catch (error) {
      malformed(error);
    }
  }

  #add(receiver: Receiver, variant: number, block: Uint8Array): void {
    const { writer } = receiver;
    if (writer.blocks > 0 && writer.lengthWith(block.length) > MESSAGE_BYTES) this.#send(receiver);
    writer.add(variant, block);
    this.#pending.add(receiver);
  }

  #flushSoon(): void {
    if (this.#isToFlush) return;
    this.#isToFlush = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isToFlush = false;
    if (this.#announced.length > 0) this.#sendAnnounced();
    for (const receiver of this.#pending) this.#send(receiver);
    this.#pending.clear();
  }

  /** A frame that cannot be sent uses up its number. */
  #send(receiver: Receiver): void {
    const { writer, subject, sent, behind } = receiver;
    // Earlier announced events leave first.
    if (this.#announced.length > 0) this.#sendAnnounced();
    const isNumbered = writer.blocks > 0;
    if (isNumbered) receiver.frames++;
    const counts = { number: receiver.frames, announced: this.#announcements };
    const others =
      isNumbered && behind.size > 0 ? [...behind].map(([from, { number }]) => [from, number] as const) : BEHIND_NONE;
    const frame = writer.take({ ...counts, after: this.#after, isLast: this.#isLast, behind: others });
    if (frame.length > PAYLOAD_BYTES_MAX) return;
    if (isNumbered) sent.add(receiver.frames, frame);
    this.#options.bus.publish(subject, frame);
  }

  #sendAnnounced(): void {
    const { bus, name, self } = this.#options;
    const bytes = ANNOUNCED.pack({
      ...{ from: self, number: ++this.#announcements, events: this.#announced },
      after: this.#after,
    });
    this.#announced = [];
    this.#announcedBytes = 0;
    if (bytes.length > PAYLOAD_BYTES_MAX) return;
    this.#sentToAll.add(this.#announcements, bytes);
    bus.publish(`${name}.f`, bytes);
  }
}

function noMore(behind: Map<string, BehindFrame>, from: string): void {
  behind.get(from)?.cancel();
  behind.delete(from);
}

/** End of the block that begins with event `from`; it has at least that event. Hot path. */
function blockEnd(ends: Uint32Array, from: number): number {
  const start = from === 0 ? 0 : (ends[from - 1] as number) + 1;
  const most = Math.min(ends.length, from + BLOCK_EVENTS);
  let end = from + 1;
  while (end < most && (ends[end] as number) - start <= MESSAGE_BYTES) end++;
  return end;
}
