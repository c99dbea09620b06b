import type { EventBatch } from '../model/event_batch.ts';
import type { Variant } from '../model/topics.ts';
import { type Bus, PAYLOAD_BYTES_MAX } from './bus.ts';
import { BlockPacker, FrameWriter } from './event_frame.ts';
import { type AnnouncedEvent, type AnnouncedKind, packAnnounced, type SentSoFar } from './fan_out_message.ts';

/**
 * Sends events to other hubs: in frames to each hub that wants them, and those that come from no shard to all.
 *
 * What is published in one turn leaves together, in messages of about a megabyte. Each message has a number, whether it
 * can be sent or not: what was not sent is missing, and the receiver sees that it is. So that it also sees when the last
 * one is missing, each hub is told the numbers again by `beat`.
 */
export interface FramesOutOptions {
  readonly bus: Pick<Bus, 'publish'>;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
}

/** Bytes of a message, about; an event that is larger is in one by itself. */
const MESSAGE_BYTES = 1 << 20;
const BLOCK_EVENTS = 8192;
/** What a text of an announced event costs beside itself. */
const TEXT_OVERHEAD_BYTES = 32;

interface Receiver {
  readonly subject: string;
  readonly writer: FrameWriter;
  /** The number of the last frame. */
  frames: number;
}

export class FramesOut {
  readonly #options: FramesOutOptions;
  readonly #packer = new BlockPacker();
  readonly #receivers = new Map<string, Receiver>();
  /** Those with blocks that have not left. */
  readonly #pending = new Set<Receiver>();
  #announced: AnnouncedEvent[] = [];
  #announcedBytes = 0;
  /** The number of the last message of announced events. */
  #announcements = 0;
  #after = 0;
  #isLast = false;
  #isToFlush = false;

  constructor(options: FramesOutOptions) {
    this.#options = options;
  }

  /** Another hub is a member from now on. */
  joined(member: string): void {
    const { name, self } = this.#options;
    this.#receivers.set(member, { subject: `${name}.e.${member}`, writer: new FrameWriter(self), frames: 0 });
  }

  gone(member: string): void {
    const receiver = this.#receivers.get(member);
    if (receiver !== undefined) this.#pending.delete(receiver);
    this.#receivers.delete(member);
  }

  /** Frames from now on come behind those of whoever the configuration, up to that sequence, has named owner before. */
  tookAfter(sequence: number): void {
    this.#flush();
    this.#after = Math.max(this.#after, sequence);
  }

  sentTo(member: string): SentSoFar {
    return { frames: this.#receivers.get(member)?.frames ?? 0, announced: this.#announcements };
  }

  /** Sends events to the hubs that want them, each under its own number of the variant. hot */
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

  /** Sends an event that comes from no shard to all hubs, as JSON text. */
  announce(kind: AnnouncedKind, text: string): void {
    this.#announced.push([kind, text]);
    this.#announcedBytes += text.length + TEXT_OVERHEAD_BYTES;
    if (this.#announcedBytes > MESSAGE_BYTES) this.#sendAnnounced();
    else this.#flushSoon();
  }

  /** Tells every hub what it was sent, if it was sent anything. `isLast`: this hub sends nothing more. */
  beat({ isLast = false } = {}): void {
    this.#flush();
    this.#isLast = isLast;
    for (const receiver of this.#receivers.values()) {
      if (isLast || receiver.frames > 0 || this.#announcements > 0) this.#send(receiver);
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

  /** A frame that cannot be sent has had its number. */
  #send(receiver: Receiver): void {
    const { writer, subject } = receiver;
    if (writer.blocks > 0) receiver.frames++;
    const counts = { number: receiver.frames, announced: this.#announcements };
    const head = { ...counts, after: this.#after, isLast: this.#isLast };
    const frame = writer.take(head);
    if (frame.length <= PAYLOAD_BYTES_MAX) this.#options.bus.publish(subject, frame);
  }

  #sendAnnounced(): void {
    const { bus, name, self } = this.#options;
    const bytes = packAnnounced({ from: self, number: ++this.#announcements, events: this.#announced });
    this.#announced = [];
    this.#announcedBytes = 0;
    if (bytes.length <= PAYLOAD_BYTES_MAX) bus.publish(`${name}.f`, bytes);
  }
}

/** Before which event a block ends that begins with one: it has at least that. hot */
function blockEnd(ends: Uint32Array, from: number): number {
  const start = from === 0 ? 0 : (ends[from - 1] as number) + 1;
  const most = Math.min(ends.length, from + BLOCK_EVENTS);
  let end = from + 1;
  while (end < most && (ends[end] as number) - start <= MESSAGE_BYTES) end++;
  return end;
}
