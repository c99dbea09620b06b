import { lend } from '../model/borrowed.ts';
import { type EventBatch, joined } from '../model/event_batch.ts';
import type { FilterFields } from '../model/topics.ts';

/**
 * Maximum length of a frame in bytes; a widespread client rejects longer ones. 128 bytes of it are reserved for the
 * envelope around the payload. The longest envelope, with the longest topic and a 16-digit subscription id, has 96.
 */
export const FRAME_MAX_BYTES = 32_768;
export const PAYLOAD_MAX_BYTES = FRAME_MAX_BYTES - 128;

/** Receiver of events: a connection, or a listener inside the hub. */
export interface EventSubscriber {
  /** Receives the events of one publish for one of its subscriptions. Must neither throw nor wait. */
  deliver(subscriptionId: number, batch: DeliveryBatch): void;
  /** Called when events for one of its subscriptions are permanently lost. */
  missed?(subscriptionId: number, why: string): void;
}

/**
 * Events of one publish for a subscription, in order, as comma-separated UTF-8 JSON. Subscriptions that receive the
 * same events share a batch, so that it is split into payloads once, whatever the number of subscribers.
 */
export class DeliveryBatch {
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;
  #payloads: readonly Uint8Array[] | undefined;
  /** Cached batches of a single event, by its index. */
  #ones: DeliveryBatch[] | undefined;

  /** `ends` are the end offsets of the events in `bytes`. The next event starts after the comma. */
  constructor(bytes: Uint8Array, ends: Uint32Array) {
    this.#bytes = bytes;
    this.#ends = ends;
  }

  static of(strings: readonly string[]): DeliveryBatch {
    const { bytes, ends } = joined(strings);
    return new DeliveryBatch(bytes, ends);
  }

  /** Number of events. */
  get count(): number {
    return this.#ends.length;
  }

  /** The events as JSON strings, for listeners in this process. */
  get strings(): string[] {
    return Array.from(this.#ends, (end, i) => Buffer.from(this.#bytes.subarray(this.#start(i), end)).toString());
  }

  /** Returns the bytes of the event at an index, valid as long as the bytes of the batch. */
  bytesAt(place: number): Uint8Array {
    return this.#bytes.subarray(this.#start(place), this.#ends[place]);
  }

  /** Returns the events at some indexes, which must be ascending. */
  at(places: readonly number[]): DeliveryBatch {
    if (places.length === this.count) return this;
    if (places.length === 1) return this.#one(places[0] as number);
    const ends = new Uint32Array(places.length);
    let length = -1;
    for (let i = 0; i < places.length; i++) {
      const place = places[i] as number;
      length += 1 + (this.#ends[place] as number) - this.#start(place);
      ends[i] = length;
    }
    const bytes = new Uint8Array(Math.max(0, length));
    for (let i = 0; i < places.length; i++) {
      const place = places[i] as number;
      const to = i === 0 ? 0 : (ends[i - 1] as number) + 1;
      if (to > 0) bytes[to - 1] = COMMA;
      bytes.set(this.#bytes.subarray(this.#start(place), this.#ends[place]), to);
    }
    return new DeliveryBatch(bytes, ends);
  }

  /** Returns the events as an EventBatch of a variant, with the values of their filter fields. */
  events(variant: number, fields: readonly FilterFields[]): EventBatch {
    return { variant, bytes: lend(this.#bytes), ends: this.#ends, fields };
  }

  /**
   * Returns one event as a view of the bytes. Cached, since most filters select one provider, and many select the same
   * one. hot
   */
  #one(place: number): DeliveryBatch {
    this.#ones ??= [];
    let one = this.#ones[place];
    if (one === undefined) {
      const [start, end] = [this.#start(place), this.#ends[place] as number];
      one = new DeliveryBatch(this.#bytes.subarray(start, end), Uint32Array.of(end - start));
      this.#ones[place] = one;
    }
    return one;
  }

  /**
   * Returns the events as payloads of at most PAYLOAD_MAX_BYTES: the content between the brackets of a frame. A longer
   * event is a payload of its own.
   */
  payloads(): readonly Uint8Array[] {
    this.#payloads ??= this.#cut();
    return this.#payloads;
  }

  /** hot: once per batch and distinct list of events. */
  #cut(): readonly Uint8Array[] {
    const payloads: Uint8Array[] = [];
    const ends = this.#ends;
    let start = 0;
    let end = 0;
    for (let i = 0; i < ends.length; i++) {
      const next = ends[i] as number;
      if (next - start > PAYLOAD_MAX_BYTES && end > start) {
        payloads.push(this.#bytes.subarray(start, end));
        start = end + 1;
      }
      end = next;
    }
    if (end > start) payloads.push(this.#bytes.subarray(start, end));
    return payloads;
  }

  #start(place: number): number {
    return place === 0 ? 0 : (this.#ends[place - 1] as number) + 1;
  }
}

const COMMA = 0x2c;
