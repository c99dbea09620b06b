import { lend } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { FilterFields, Variant } from '../model/topics.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer, TextBytes } from './location/record.ts';

const BYTES_AT_FIRST = 1 << 12;
const ENDS_AT_FIRST = 64;
/** A buffer that has grown beyond this is let go of when the shard tidies up. */
const BYTES_KEPT = 1 << 16;
const COMMA = 0x2c;

/**
 * The events of a step, as the bytes that subscribers get: texts of one variant stand one behind the other, joined by
 * commas as in the payload of a frame. The memory is used again by the next step.
 */
export class EventWriter {
  readonly #newBuffer: NewRecordBuffer;
  readonly #byVariant = new Map<number, VariantEvents>();
  /** Those with events, in the order of their first. */
  readonly #begun: VariantEvents[] = [];

  constructor(newBuffer: NewRecordBuffer) {
    this.#newBuffer = newBuffer;
  }

  /** Writes an event whose JSON text is known. `fields`: what filters look at; undefined where nobody filters. */
  text(variant: number, fields: FilterFields | undefined, text: string): void {
    const events = this.begin(variant, fields, UTF8_MAX * text.length);
    events.end(events.at + events.bytes.write(text, events.at));
  }

  /**
   * Begins an event of at most so many bytes: whoever asks writes them to its `bytes` from `at` on, and says where they end.
   * Nothing else may be written before that.
   */
  // hot
  begin(variant: number, fields: FilterFields | undefined, bytesMax: number): VariantEvents {
    let events = this.#byVariant.get(variant);
    if (events === undefined) {
      events = new VariantEvents(variant, this.#newBuffer);
      this.#byVariant.set(variant, events);
    }
    if (events.count === 0) this.#begun.push(events);
    events.begin(fields, bytesMax);
    return events;
  }

  /** All events since the last call, by variant. They are good until the next one is written. */
  take(): EventBatch[] {
    const batches = this.#begun.map((events) => events.take());
    this.#begun.length = 0;
    return batches;
  }

  /** Lets go of the memory of all variants but these. Between two steps. */
  retain(variants: readonly Variant[]): void {
    const wanted = new Set(variants.map(({ id }) => id));
    for (const variant of this.#byVariant.keys()) if (!wanted.has(variant)) this.#byVariant.delete(variant);
  }

  /** Lets go of memory of variants that have more than that. Between two steps. */
  tidy(bytesKept = BYTES_KEPT): void {
    for (const [variant, { bytes }] of this.#byVariant) {
      if (bytes.length > bytesKept) this.#byVariant.delete(variant);
    }
  }
}

/** The events of one variant. */
class VariantEvents implements RecordBuffer {
  readonly #variant: number;
  readonly #newBuffer: NewRecordBuffer;
  bytes: TextBytes;
  view: DataView;
  /** Where the event that was begun starts. */
  at = 0;
  #ends = new Uint32Array(ENDS_AT_FIRST);
  #count = 0;
  /** Of each event, where somebody filters. */
  #fields: FilterFields[] | undefined;

  constructor(variant: number, newBuffer: NewRecordBuffer) {
    this.#variant = variant;
    this.#newBuffer = newBuffer;
    const { bytes, view } = newBuffer(BYTES_AT_FIRST);
    this.bytes = bytes;
    this.view = view;
  }

  get count(): number {
    return this.#count;
  }

  // hot
  begin(fields: FilterFields | undefined, bytesMax: number): void {
    if (this.at + 1 + bytesMax > this.bytes.length) this.#grow(this.at + 1 + bytesMax);
    if (this.#count === 0) this.#fields = fields === undefined ? undefined : [];
    else this.bytes[this.at++] = COMMA;
    if (fields !== undefined) this.#fields?.push(fields);
  }

  /** The event that was begun ends there. */
  // hot
  end(at: number): void {
    this.at = at;
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(2 * this.#count);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#ends[this.#count++] = at;
  }

  take(): EventBatch {
    const batch = {
      variant: this.#variant,
      bytes: lend(this.bytes.subarray(0, this.at)),
      ends: this.#ends.slice(0, this.#count),
      fields: this.#fields,
    };
    this.at = 0;
    this.#count = 0;
    this.#fields = undefined;
    return batch;
  }

  #grow(bytes: number): void {
    const grown = this.#newBuffer(Math.max(bytes, 2 * this.bytes.length));
    this.bytes.copy(grown.bytes, 0, 0, this.at);
    this.bytes = grown.bytes;
    this.view = grown.view;
  }
}
