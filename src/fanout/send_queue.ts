import type { CountUnsent, Peer, UnsentData } from '../exchange.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';
import { type Batch, FRAME_MAX_BYTES, PAYLOAD_MAX_BYTES, type Subscriber } from './batch.ts';
import { CopyBuffer } from './copy_buffer.ts';

/**
 * Sends to one connection, in order and within a bound.
 *
 *   deliver, reply --> network takes it at once ---------------------------> peer
 *                  \-> it does not: queue --> drained(): queue, coalesced --/
 *                                         \-> over the bound: close 1013, forget all
 *   missed ------------------------------------> close 1013, forget all
 *
 * Nothing is dropped silently: a connection gets everything, or it is closed. What waits for all connections together is
 * bounded, too (`unsent`): the one that most waits for is closed then.
 */
export interface SendQueueOptions {
  /** Most bytes that may wait, those that the network has not taken included. */
  readonly queueMaxBytes: number;
  /** Frames go out while fewer bytes wait in the network: what is there cannot be taken back or freed. */
  readonly networkMaxBytes: number;
  /** Counts what waits; left out: nobody does. */
  readonly unsent?: CountUnsent;
  /** Told when the connection is closed because it is too slow. */
  readonly overflowed: (waitingBytes: number) => void;
}

/** A frame that waits. Events of one subscription that wait one behind the other are joined when they are sent. */
type Frame =
  | { readonly kind: 'reply'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'message'; readonly prefix: Uint8Array; readonly payload: Uint8Array; readonly bytes: number };

/** What a waiting frame costs beside its text; without it, a flood of tiny frames would outgrow the bound. */
const WAITING_OVERHEAD_BYTES = 128;

/** Closes for trying again later: the peer has not read what was sent, or what it wants cannot be had. */
const TRY_AGAIN_LATER = 1013;

export class SendQueue implements Subscriber, UnsentData {
  readonly #peer: Peer;
  readonly #options: SendQueueOptions;
  /** What stands before the payload in frames of a subscription. */
  readonly #prefixes = new Map<number, Uint8Array>();
  readonly #copies = new CopyBuffer();
  /** The slots before #head are empty: their frames have been sent. */
  #waiting: (Frame | undefined)[] = [];
  #head = 0;
  #waitingBytes = 0;
  /** Of these, and those in the network, as many are counted. */
  #countedBytes = 0;
  #closed = false;

  constructor(peer: Peer, options: SendQueueOptions) {
    this.#peer = peer;
    this.#options = options;
  }

  /** Expects deliveries for a subscription. Its messages carry the topic's name, and its id when that is echoed. */
  open(subscriptionId: number, { topic, echoId }: { readonly topic: string; readonly echoId: boolean }): void {
    const id = echoId ? `,"subscription_id":${subscriptionId}` : '';
    const prefix = `{"event":"message","topic":${JSON.stringify(topic)}${id},"payload":[`;
    this.#prefixes.set(subscriptionId, Buffer.from(prefix));
  }

  /** Expects no more deliveries for a subscription. */
  forget(subscriptionId: number): void {
    this.#prefixes.delete(subscriptionId);
  }

  /** hot: once per subscription and batch. */
  deliver(subscriptionId: number, batch: Batch): void {
    const prefix = this.#prefixes.get(subscriptionId);
    if (prefix === undefined) return;
    for (const payload of batch.payloads()) {
      if (this.#closed) return;
      if (this.#flows()) this.#peer.send(message(prefix, [payload]));
      else this.#keep(prefix, payload);
    }
  }

  /** Sends a frame that is no event, behind everything delivered before. */
  reply(text: string): void {
    if (this.#closed) return;
    if (this.#flows()) this.#peer.send(text);
    else this.#wait({ kind: 'reply', text, bytes: Buffer.byteLength(text) + WAITING_OVERHEAD_BYTES });
  }

  /** The network has taken something: sends on. */
  drained(): void {
    while (this.#head < this.#waiting.length && this.#networkHasCapacity()) this.#peer.send(this.#next());
    if (this.#head === this.#waiting.length) this.#clear();
    else this.#compact();
    this.#count(this.waitingBytes());
  }

  /** Bytes that wait here and in the network, as of when something was sent or taken last. */
  get bytes(): number {
    return this.#countedBytes;
  }

  /** Bytes that wait here and in the network. */
  waitingBytes(): number {
    return this.#closed ? 0 : this.#waitingBytes + this.#peer.bufferedBytes();
  }

  /** Sends nothing more and frees what waits. */
  close(): void {
    this.#closed = true;
    this.#prefixes.clear();
    this.#clear();
    this.#count(0);
  }

  /** Closes the connection, since too much waits for it. */
  drop(): void {
    if (!this.#closed) this.#closeSlow('which is most of what may wait for all connections');
  }

  /** Closes the connection, if it was told of the subscription: it would not get everything any more. */
  missed(subscriptionId: number, why: string): void {
    if (!this.#prefixes.has(subscriptionId)) return;
    this.close();
    this.#peer.close(TRY_AGAIN_LATER, why);
  }

  /** A payload that waits is a copy: the bytes that it is cut from may hold much more, for others. */
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
    // To count may have closed this very connection.
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

  /** Takes the next frame, joined with the events of the same subscription that directly follow it. */
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

  /** Frees the empty slots now and then: doing so for each would cost the square of the queue's length. */
  #compact(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }
}

/** Where frames are put together: the peer has taken the bytes when it returns, and memory that comes and goes is dear. */
const scratch = Buffer.allocUnsafeSlow(FRAME_MAX_BYTES);

/** A frame, lent until the next one: the prefix, the payloads joined by commas, and what closes it. hot */
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
