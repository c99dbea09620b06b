import type { AcceptedLocation } from './accepted.ts';
import { LocationRecord, type NewRecordBuffer, type RecordBuffer, recordBytesMax, writeRecord } from './record.ts';

/** A location as an item of a batch. Its record is in a buffer and valid until the end of the step. */
export class ReceivedLocation extends LocationRecord {
  readonly kind = 'location';
  /** Names that the record refers to by index: sources and projections. */
  readonly names: readonly string[];

  constructor(buffer: RecordBuffer, at: number, names: readonly string[]) {
    super(buffer, at);
    this.names = names;
  }

  get providerId(): string {
    return this.recordedId;
  }

  get source(): string {
    return this.names[this.sourceIndex] as string;
  }

  get crs(): string {
    return this.names[this.crsIndex] as string;
  }

  /** Bytes of the record, not copied. */
  get bytes(): Uint8Array {
    return this.buffer.bytes.subarray(this.at, this.at + this.recordBytes);
  }

  /** Copies the record. */
  // hot
  copyTo(buffer: RecordBuffer, at: number): void {
    this.buffer.bytes.copy(buffer.bytes, at, this.at, this.at + this.recordBytes);
  }
}

/** Number of an item, and its times in milliseconds since 1970. */
export interface ItemStamp {
  readonly seq: number;
  readonly receivedMs: number;
  readonly generatedMs: number;
}

/** Returns a location as an item, with its record in a buffer of its own. */
export function received(location: AcceptedLocation, stamp: ItemStamp, newBuffer: NewRecordBuffer): ReceivedLocation {
  const { seq, receivedMs, generatedMs } = stamp;
  const buffer = newBuffer(recordBytesMax(location));
  writeRecord(buffer, 0, location, { seq, receivedMs, generatedMs, source: 0, crs: 1 });
  return new ReceivedLocation(buffer, 0, [location.source, location.crs]);
}
