import type { CountUnsent, Peer, UnsentData } from '../exchange.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';
import { type DeliveryBatch, FRAME_MAX_BYTES, PAYLOAD_MAX_BYTES, type EventSubscriber } from './batch.ts';
import { CopyBuffer } from './copy_buffer.ts';

/**
 * Sends frames to one connection, in order and within a memory bound.
 *
 *   deliver, reply --> network takes it at once ---------------------------> peer
 *                  \-> it does not: queue --> drained(): queue, coalesced --/
 *                                         \-> over the bound: close 1013, drop all
 *   missed ------------------------------------> close 1013, drop all
 *
 * No frame is dropped silently: a connection receives all frames, or it is closed. The waiting bytes of all connections
 * together are bounded as well (`unsent`). Beyond that bound, the connection with the most waiting bytes is closed.
 */
export interface SendQueueOptions {
  /** Maximum waiting bytes, including those in the network buffer. */
  readonly queueMaxBytes: number;
  /**
   * Frames are passed to the network buffer only while it has fewer bytes than this, because they cannot be removed
   * from it.
   */
  readonly networkMaxBytes: number;
  /** Counts the waiting bytes of all connections. */
  readonly unsent?: CountUnsent;
  /** Called when the connection is closed because it is too slow. */
  readonly overflowed: (waitingBytes: number) => void;
}

/** A waiting frame. Consecutive events of one subscription are joined when they are sent. */
type Frame =
  | { readonly kind: 'reply'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'message'; readonly prefix: Uint8Array; readonly payload: Uint8Array; readonly bytes: number };

/** Memory of a waiting frame besides its payload. Counting it keeps a flood of tiny frames within the bound. */
const WAITING_OVERHEAD_BYTES = 128;

/** Close code for a peer that reads too slowly, or for which events were lost. */
const TRY_AGAIN_LATER = 1013;

export class SendQueue implements EventSubscriber, UnsentData {
  readonly #peer: Peer;
  readonly #options: SendQueueOptions;
  /** Bytes before the payload in frames of a subscription. */
  readonly #prefixes = new Map<number, Uint8Array>();
  readonly #copies = new CopyBuffer();
  /** Waiting frames. The slots before #head are empty, since their frames have been sent. */
  #waiting: (Frame | undefined)[] = [];
  #head = 0;
  #waitingBytes = 0;
  /** Waiting bytes, including the network buffer, as last reported to `unsent`. */
  #countedBytes = 0;
  #closed = false;

  constructor(peer: Peer, options: SendQueueOptions) {
    this.#peer = peer;
    this.#options = options;
  }

  /**
   * Starts deliveries for a subscription. Its messages contain the name of the topic and, with `echoId`, the
   * subscription's id.
   */
  open(subscriptionId: number, { topic, echoId }: { readonly topic: string; readonly echoId: boolean }): void {
    const id = echoId ? `,"subscription_id":${subscriptionId}` : '';
    const prefix = `{"event":"message","topic":${JSON.stringify(topic)}${id},"payload":[`;
    this.#prefixes.set(subscriptionId, Buffer.from(prefix));
  }

  /** Stops deliveries for a subscription. */
  forget(subscriptionId: number): void {
    this.#prefixes.delete(subscriptionId);
  }

  /** hot: once per subscription and batch. */
  deliver(subscriptionId: number, batch: DeliveryBatch): void {
    const prefix = this.#prefixes.get(subscriptionId);
    if (prefix === undefined) return;
    for (const payload of batch.payloads()) {
      if (this.#closed) return;
      if (this.#flows()) this.#peer.send(message(prefix, [payload]));
      else this.#keep(prefix, payload);
    }
  }

  /** Sends a frame that is not an event, after all earlier deliveries. */
  reply(text: string): void {
    if (this.#closed) return;
    if (this.#flows()) this.#peer.send(text);
    else this.#wait({ kind: 'reply', text, bytes: Buffer.byteLength(text) + WAITING_OVERHEAD_BYTES });
  }

  /** Sends waiting frames. Called when the network buffer has room. */
  drained(): void {
    while (this.#head < this.#waiting.length && this.#networkHasCapacity()) this.#peer.send(this.#next());
    if (this.#head === this.#waiting.length) this.#clear();
    else this.#compact();
    this.#count(this.waitingBytes());
  }

  /** Bytes waiting here and in the network buffer, as of the last send or drain. */
  get bytes(): number {
    return this.#countedBytes;
  }

  /** Returns the bytes waiting here and in the network buffer. */
  waitingBytes(): number {
    return this.#closed ? 0 : this.#waitingBytes + this.#peer.bufferedBytes();
  }

  /** Stops sending and frees waiting frames. */
  close(): void {
    this.#closed = true;
    this.#prefixes.clear();
    this.#clear();
    this.#count(0);
  }

  /** Closes the connection because too many bytes are waiting for it. */
  drop(): void {
    if (!this.#closed) this.#closeSlow('which is most of what may wait for all connections');
  }

  /** Closes the connection if it has the subscription, because its events would be incomplete. */
  missed(subscriptionId: number, why: string): void {
    if (!this.#prefixes.has(subscriptionId)) return;
    this.close();
    this.#peer.close(TRY_AGAIN_LATER, why);
  }

  /** Queues a copy of the payload: the original may be part of a much larger buffer. */
  #keep(prefix: Uint8Array, payload: Uint8Array): void {
    const bytes = payload.byteLength + WAITING_OVERHEAD_BYTES;
    this.#wait({ kind: 'message', prefix, payload: this.#copies.copy(payload, this.#waitingBytes), bytes });
  }

  #flows(): boolean {
    return this.#waiting.length === 0 && this.#networkHasCapacity();
  }

  #networkHasCapacity(): boolean {
    const bufferedBytes = this.#peer.bufferedBytes();
    this.#count(this.#waitingBytes + bufferedBytes);
    // Counting the bytes may have closed this connection.
    return !this.#closed && bufferedBytes < this.#options.networkMaxBytes;
  }

  #count(bytes: number): void {
    const by = bytes - this.#countedBytes;
    if (by === 0) return;
    this.#countedBytes = bytes;
    this.#options.unsent?.changed(by, this);
  }

  #wait(frame: Frame): void {
    if (this.#closed) return;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    const bytes = this.waitingBytes();
    if (bytes > this.#options.queueMaxBytes) this.#closeSlow(`${this.#options.queueMaxBytes} may`);
    else this.#count(bytes);
  }

  #closeSlow(why: string): void {
    const bytes = this.waitingBytes();
    this.close();
    this.#options.overflowed(bytes);
    this.#peer.close(TRY_AGAIN_LATER, `Too slow: ${bytes} bytes wait, ${why}`);
  }

  /** Takes the next frame, joined with directly following events of the same subscription. */
  #next(): string | Borrowed {
    const frame = this.#take();
    if (frame.kind === 'reply') return frame.text;
    const payloads = [frame.payload];
    let bytes = frame.payload.byteLength;
    for (;;) {
      const following = this.#waiting[this.#head];
      if (following?.kind !== 'message' || following.prefix !== frame.prefix) break;
      bytes += 1 + following.payload.byteLength;
      if (bytes > PAYLOAD_MAX_BYTES) break;
      payloads.push(following.payload);
      this.#take();
    }
    return message(frame.prefix, payloads);
  }

  #take(): Frame {
    const frame = this.#waiting[this.#head] as Frame;
    this.#waiting[this.#head] = undefined;
    this.#head++;
    this.#waitingBytes -= frame.bytes;
    return frame;
  }

  #clear(): void {
    this.#copies.clear();
    this.#waiting = [];
    this.#head = 0;
    this.#waitingBytes = 0;
  }

  /** Frees empty slots occasionally. Doing so for each frame would make draining quadratic. */
  #compact(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }
}

/**
 * Buffer in which frames are built. It is reused because allocation is expensive and the peer has copied the bytes when
 * `send` returns.
 */
const scratch = Buffer.allocUnsafeSlow(FRAME_MAX_BYTES);

/** Builds a frame of prefix, payloads joined by commas, and closing brackets. Valid until the next call. hot */
function message(prefix: Uint8Array, payloads: readonly Uint8Array[]): Borrowed {
  let length = prefix.byteLength + payloads.length - 1 + 2;
  for (const payload of payloads) length += payload.byteLength;
  const frame = length > scratch.length ? Buffer.allocUnsafe(length) : scratch.subarray(0, length);
  frame.set(prefix);
  let at = prefix.byteLength;
  for (let i = 0; i < payloads.length; i++) {
    const payload = payloads[i] as Uint8Array;
    if (i > 0) frame[at++] = COMMA;
    frame.set(payload, at);
    at += payload.byteLength;
  }
  frame[at] = CLOSING_BRACKET;
  frame[at + 1] = CLOSING_BRACE;
  return lend(frame);
}

const COMMA = 0x2c;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;
