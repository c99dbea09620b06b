import type { AcceptedLocation } from './accepted.ts';
import { LocationRecord, newRecordRoom, type RecordRoom, recordBytesMax, writeRecord } from './record.ts';

/** A location as an item of a batch: where its record lies, which is good until the step is over. */
export class ReceivedLocation extends LocationRecord {
  readonly kind = 'location';
  /** What the record names by places: sources and projections. */
  readonly names: readonly string[];

  constructor(room: RecordRoom, at: number, names: readonly string[]) {
    super(room, at);
    this.names = names;
  }

  get providerId(): string {
    return this.recordedId;
  }

  get source(): string {
    return this.names[this.sourcePlace] as string;
  }

  get crs(): string {
    return this.names[this.crsPlace] as string;
  }

  /** The bytes of the record, not copied. */
  get bytes(): Uint8Array {
    return this.room.bytes.subarray(this.at, this.at + this.recordBytes);
  }

  /** Copies the record to another place. */
  // hot
  copyTo(room: RecordRoom, at: number): void {
    this.room.bytes.copy(room.bytes, at, this.at, this.at + this.recordBytes);
  }
}

/** The number of an item, and its times in milliseconds since 1970. */
export interface ItemStamp {
  readonly seq: number;
  readonly receivedMs: number;
  readonly generatedMs: number;
}

/** A location as an item, with a record of its own. */
export function received(location: AcceptedLocation, { seq, receivedMs, generatedMs }: ItemStamp): ReceivedLocation {
  const room = newRecordRoom(recordBytesMax(location));
  writeRecord(room, 0, location, { seq, receivedMs, generatedMs, source: 0, crs: 1 });
  return new ReceivedLocation(room, 0, [location.source, location.crs]);
}
