import { type RecordBuffer, recordSize } from '../../core/location/record.ts';
import { look } from '../../model/borrowed.ts';
import { newRecordBuffer } from '../../wire/location_record.ts';
import { type CountedRun, recordsIn } from '../../wire/received_run.ts';
import { FORWARD_TAIL } from '../messages/messages.ts';
import { type ForwardHead, RECORDS_AT, writeForwardHead } from './owner_protocol.ts';

/** Bounds of one request; a single location may have more bytes. */
const BATCH_MAX = { locations: 8192, bytes: 4 << 20 };

const BUFFER_BYTES = 1 << 16;
/** Buffers that are retained for reuse. */
const SPARE_MAX = 4;

/** Reused memory of request batches. */
export class BatchBuffers {
  readonly #spare: RecordBuffer[] = [];

  take(bytes = BUFFER_BYTES): RecordBuffer {
    const last = this.#spare.pop();
    return last !== undefined && last.bytes.length >= bytes ? last : newRecordBuffer(Math.max(bytes, BUFFER_BYTES));
  }

  giveBack(buffer: RecordBuffer): void {
    if (this.#spare.length < SPARE_MAX && buffer.bytes.length <= 2 * BATCH_MAX.bytes) this.#spare.push(buffer);
  }
}

/**
 * Locations that go to their owner in one request. They are collected in the memory that is sent, so their bytes are copied
 * once: see owner_protocol.ts for their layout.
 */
export class RequestBatch {
  readonly #buffers: BatchBuffers;
  #buffer: RecordBuffer;
  #end: number = RECORDS_AT;
  readonly #runs: { readonly names: readonly string[]; bytes: number; count: number }[] = [];
  #count = 0;

  constructor(buffers: BatchBuffers) {
    this.#buffers = buffers;
    this.#buffer = buffers.take();
  }

  /** Number of locations. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= BATCH_MAX.locations || this.bytes >= BATCH_MAX.bytes;
  }

  /** Bytes of the locations. */
  get bytes(): number {
    return this.#end - RECORDS_AT;
  }

  /** Its runs, in order and in place. */
  *runs(): Generator<CountedRun> {
    let at: number = RECORDS_AT;
    for (const { names, bytes, count } of this.#runs) {
      yield { names, bytes: this.#buffer.bytes.subarray(at, at + bytes), count };
      at += bytes;
    }
  }

  /**
   * Takes as much of a run as there is room for, from an offset in it on. Returns the offset of the rest. An empty batch always
   * takes something.
   */
  // hot
  take({ names, bytes: records, count }: CountedRun, from: number): { readonly to: number; readonly taken: number } {
    const room = BATCH_MAX.bytes - this.bytes;
    let [to, taken] = [records.length, count];
    if (from > 0 || count > BATCH_MAX.locations - this.#count || records.length > room) {
      [to, taken] = this.#fit(records, from, room);
    }
    if (to > from) this.#copy(names, records.subarray(from, to), taken);
    return { to, taken };
  }

  /** Returns the request message, valid until the next one is made. */
  message(head: ForwardHead): Uint8Array {
    const tail = look(FORWARD_TAIL.packForNow({ ...head, runs: this.#runs }));
    this.#makeRoom(tail.length);
    const { bytes, view } = this.#buffer;
    writeForwardHead(view, this.bytes);
    bytes.set(tail, this.#end);
    return bytes.subarray(0, this.#end + tail.length);
  }

  /** Releases its memory for reuse. */
  end(): void {
    this.#buffers.giveBack(this.#buffer);
  }

  #fit(records: Uint8Array, from: number, room: number): [to: number, taken: number] {
    const buffer = recordsIn(records);
    let [to, taken] = [from, 0];
    while (to < records.length && this.#count + taken < BATCH_MAX.locations) {
      const next = to + recordSize(buffer, to);
      if (next - from > room && this.#count + taken > 0) break;
      to = next;
      taken++;
    }
    return [to, taken];
  }

  #copy(names: readonly string[], records: Uint8Array, count: number): void {
    this.#makeRoom(records.length);
    this.#buffer.bytes.set(records, this.#end);
    this.#end += records.length;
    this.#count += count;
    const last = this.#runs.at(-1);
    if (last !== undefined && areSame(last.names, names)) {
      last.bytes += records.length;
      last.count += count;
    } else this.#runs.push({ names, bytes: records.length, count });
  }

  #makeRoom(more: number): void {
    const { bytes } = this.#buffer;
    if (this.#end + more <= bytes.length) return;
    const larger = newRecordBuffer(Math.max(this.#end + more, 2 * bytes.length));
    larger.bytes.set(bytes.subarray(0, this.#end));
    this.#buffer = larger;
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some === others || (some.length === others.length && some.every((name, index) => name === others[index]));
}
