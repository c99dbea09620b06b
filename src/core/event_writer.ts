import { lend } from '../model/borrowed.ts';
import type { EventBatch, StepPosition } from '../model/event_batch.ts';
import type { FilterFields, Variant } from '../model/topics.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer, Utf8Bytes } from './location/record.ts';

const INITIAL_BYTES = 1 << 12;
const INITIAL_ENDS = 64;
/** `tidy` shrinks buffers that have grown beyond this size. */
const BYTES_RETAINED = 1 << 16;
const COMMA = 0x2c;

/**
 * Events of a step as the bytes that subscribers receive. Events of one variant are contiguous and joined by commas, as
 * in the payload of a frame. The next step reuses the memory.
 */
export class EventWriter {
  readonly #newBuffer: NewRecordBuffer;
  readonly #byVariant = new Map<number, VariantEvents>();
  /** Variants with events, in the order of their first event. */
  readonly #nonEmpty: VariantEvents[] = [];

  constructor(newBuffer: NewRecordBuffer) {
    this.#newBuffer = newBuffer;
  }

  /**
   * Appends an event given as JSON. `fields` are the values that filters compare; undefined if no subscriber filters.
   * `index` is the index of a fence event among those of the step.
   */
  text(variant: number, fields: FilterFields | undefined, text: string, index?: number): void {
    const events = this.begin(variant, fields, UTF8_MAX * text.length);
    events.end(events.at + events.bytes.write(text, events.at));
    if (index !== undefined) events.indices.push(index);
  }

  /**
   * Begins an event of at most `bytesMax` bytes. The caller writes it to `bytes` from `at` and then calls `finish`;
   * nothing else may be written in between.
   */
  // hot
  begin(variant: number, fields: FilterFields | undefined, bytesMax: number): VariantEvents {
    let events = this.#byVariant.get(variant);
    if (events === undefined) {
      events = new VariantEvents(variant, this.#newBuffer);
      this.#byVariant.set(variant, events);
    }
    if (events.count === 0) this.#nonEmpty.push(events);
    events.begin(fields, bytesMax);
    return events;
  }

  /**
   * Returns the events since the last call, by variant. They are valid until the next write. `position` is the journal
   * position of the step, if it is journaled.
   */
  take(position?: StepPosition): EventBatch[] {
    const batches = this.#nonEmpty.map((events) => events.take(position));
    this.#nonEmpty.length = 0;
    return batches;
  }

  /** Frees the buffers of all other variants. Call it between two steps. */
  retain(variants: readonly Variant[]): void {
    const wanted = new Set(variants.map(({ id }) => id));
    for (const variant of this.#byVariant.keys()) if (!wanted.has(variant)) this.#byVariant.delete(variant);
  }

  /** Frees buffers larger than `bytesRetained`. Call it between two steps. */
  tidy(bytesRetained = BYTES_RETAINED): void {
    for (const [variant, { bytes }] of this.#byVariant) {
      if (bytes.length > bytesRetained) this.#byVariant.delete(variant);
    }
  }
}

/** Events of one variant. */
class VariantEvents implements RecordBuffer {
  readonly #variant: number;
  readonly #newBuffer: NewRecordBuffer;
  bytes: Utf8Bytes;
  view: DataView;
  /** Offset at which the next event starts. */
  at = 0;
  #ends = new Uint32Array(INITIAL_ENDS);
  #count = 0;
  /** Filter fields of each event, if a subscriber filters. */
  #fields: FilterFields[] | undefined;
  /** For fence events, the index of each among the fence events of the step. */
  readonly indices: number[] = [];

  constructor(variant: number, newBuffer: NewRecordBuffer) {
    this.#variant = variant;
    this.#newBuffer = newBuffer;
    const { bytes, view } = newBuffer(INITIAL_BYTES);
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

  /** Finishes the current event at offset `at`. */
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

  take(position: StepPosition | undefined): EventBatch {
    const isRecorded = position !== undefined && this.indices.length > 0;
    const batch: EventBatch = {
      variant: this.#variant,
      bytes: lend(this.bytes.subarray(0, this.at)),
      ends: this.#ends.slice(0, this.#count),
      fields: this.#fields,
      ...(isRecorded && { positions: { ...position, indices: Uint32Array.from(this.indices) } }),
    };
    this.indices.length = 0;
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
