import { lend } from '../model/borrowed.ts';
import { type EventBatch, joined } from '../model/event_batch.ts';
import type { FilterFields } from '../model/topics.ts';

/**
 * Longest frame in bytes: a widespread client refuses more. The envelope around the payload is given 128 of them; the
 * longest, with the longest topic and a 16-digit subscription id, has 96.
 */
export const FRAME_MAX_BYTES = 32_768;
export const PAYLOAD_MAX_BYTES = FRAME_MAX_BYTES - 128;

/** Whoever wants events: a connection, or a listener inside the hub. */
export interface Subscriber {
  /** Takes what one publish has for one of its subscriptions. Must neither throw nor wait. */
  deliver(subscriptionId: number, batch: Batch): void;
  /** Events for one of its subscriptions are lost for good. */
  missed?(subscriptionId: number, why: string): void;
}

/**
 * The events that one publish has for a subscription, in order, as UTF-8 bytes: their JSON texts, joined by commas.
 * Subscriptions with the same events share one Batch, so that they are cut into payloads once, however many subscribers
 * there are.
 */
export class Batch {
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;
  #payloads: readonly Uint8Array[] | undefined;
  /** Batches of one event, by its place. */
  #ones: Batch[] | undefined;

  /** Takes the bytes, and where in them each text ends; the next one starts behind the comma. */
  constructor(bytes: Uint8Array, ends: Uint32Array) {
    this.#bytes = bytes;
    this.#ends = ends;
  }

  static of(texts: readonly string[]): Batch {
    const { bytes, ends } = joined(texts);
    return new Batch(bytes, ends);
  }

  /** Number of events. */
  get count(): number {
    return this.#ends.length;
  }

  /** The texts, for whoever reads them in this process. */
  get texts(): string[] {
    return Array.from(this.#ends, (end, i) => Buffer.from(this.#bytes.subarray(this.#start(i), end)).toString());
  }

  /** The bytes of the text at a place, good as long as the batch's are. */
  bytesAt(place: number): Uint8Array {
    return this.#bytes.subarray(this.#start(place), this.#ends[place]);
  }

  /** The events at these places, which rise. */
  at(places: readonly number[]): Batch {
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
    return new Batch(bytes, ends);
  }

  /** The same as events of a variant, with the values of their filter fields. */
  events(variant: number, fields: readonly FilterFields[]): EventBatch {
    return { variant, bytes: lend(this.#bytes), ends: this.#ends, fields };
  }

  /** One event, where it lies: most filters want one provider, and many want the same. hot */
  #one(place: number): Batch {
    this.#ones ??= [];
    let one = this.#ones[place];
    if (one === undefined) {
      const [start, end] = [this.#start(place), this.#ends[place] as number];
      one = new Batch(this.#bytes.subarray(start, end), Uint32Array.of(end - start));
      this.#ones[place] = one;
    }
    return one;
  }

  /** Payloads of at most PAYLOAD_MAX_BYTES: what stands between the brackets of a frame. A longer text is one alone. */
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
