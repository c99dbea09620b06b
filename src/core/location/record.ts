import type { ElevationRef, ProviderType } from '../../model/location.ts';
import { PROVIDER_TYPES } from '../../model/provider_type.ts';
import { withFields } from '../encoding/layout.ts';
import { RECORD, SCANNED } from '../encoding/layouts.ts';
import type { AcceptedLocation } from './accepted.ts';

/**
 * A location as bytes. From its receipt until the next location replaces it, it is only copied, never rebuilt.
 *
 * A record, at any offset: RECORD, then the provider's id and the JSON, in UTF-8: see AcceptedLocation, position before
 * members.
 */
const HEAD_BYTES = RECORD.bytes;
/** Offsets of the numbers of a scanned record's provider and source. */
export const [PROVIDER_NAME, SOURCE_NAME] = [
  RECORD.at.seq + SCANNED.at.providerName,
  RECORD.at.seq + SCANNED.at.sourceName,
] as const;
const [ASSOCIATED, NOT_ASSOCIATED, FROM_FLOOR, FROM_ELLIPSOID, ASCII_ID, ASCII_TEXT, SENT_TIME, PROXIMITY] = [
  1, 2, 4, 8, 16, 32, 64, 128,
] as const;
/** UTF-8 needs at most three bytes per UTF-16 code unit. */
const UTF8_MAX = 3;
const TYPE_INDEXES = new Map(PROVIDER_TYPES.map((type, index) => [type, index]));

/** Maximum time value of a Date. */
const TIME_MS_MAX = 8.64e15;

/** A buffer that holds records. */
export interface RecordBuffer {
  readonly bytes: Utf8Bytes;
  /** View of the same bytes. */
  readonly view: DataView;
}

/** Allocates a buffer of `length` bytes. The core uses no platform API and receives this function. */
export type NewRecordBuffer = (length: number) => RecordBuffer;

/** Bytes with the platform's fastest functions to read and write strings. Node's Buffer implements it. */
export interface Utf8Bytes extends Uint8Array {
  /** Writes a string in UTF-8 and returns the number of bytes written. */
  write(text: string, start: number): number;
  toString(encoding?: 'latin1' | 'utf8', start?: number, end?: number): string;
  copy(target: Uint8Array, targetStart: number, start: number, end: number): number;
}

/** Values of a record besides the location. */
export interface RecordStamp {
  /** Number of the item. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly receivedMs: number;
  readonly generatedMs: number;
  /** Indexes of source and crs in the list of names. */
  readonly source: number;
  readonly crs: number;
}

/** Returns the maximum size of a location's record in bytes. */
export function recordBytesMax({ provider_id: id, positionText, text }: AcceptedLocation): number {
  return HEAD_BYTES + UTF8_MAX * (id.length + text.length) + positionText.length;
}

/** Writes the record of a location and returns the offset after it. The buffer must have recordBytesMax left. */
// hot
export function writeRecord(
  buffer: RecordBuffer,
  start: number,
  location: AcceptedLocation,
  stamp: RecordStamp,
): number {
  const { bytes } = buffer;
  const { provider_id: id, positionText, text, coordinates, associated, elevation_ref: ref } = location;
  const idBytes = bytes.write(id, start + HEAD_BYTES);
  const textBytes = bytes.write(positionText + text, start + HEAD_BYTES + idBytes);
  const end = start + HEAD_BYTES + idBytes + textBytes;
  let flags = associated === null ? 0 : associated ? ASSOCIATED : NOT_ASSOCIATED;
  if (ref !== null) flags |= ref === 'floor' ? FROM_FLOOR : FROM_ELLIPSOID;
  if (location.hasSentTime) flags |= SENT_TIME;
  if (location.isProximity === true) flags |= PROXIMITY;
  if (idBytes === id.length) flags |= ASCII_ID;
  if (textBytes === positionText.length + text.length) flags |= ASCII_TEXT;
  RECORD.write(buffer, start, {
    recordBytes: end - start,
    idBytes,
    sourceIndex: stamp.source,
    crsIndex: stamp.crs,
    typeIndex: TYPE_INDEXES.get(location.provider_type) as number,
    flags,
    positionBytes: positionText.length,
    seq: stamp.seq,
    receivedMs: stamp.receivedMs,
    generatedMs: stamp.generatedMs,
    sentX: coordinates[0] as number,
    sentY: coordinates[1] as number,
    sentZ: coordinates[2] ?? Number.NaN,
    accuracy: location.accuracy,
    sentFloor: location.floor ?? Number.NaN,
    sentSpeed: location.speed ?? Number.NaN,
    sentCourse: location.course ?? Number.NaN,
  });
  return end;
}

/** Completes a scanned record: sets the number of its item and its indexes in the list of names. */
// hot
export function stampRecord(
  buffer: RecordBuffer,
  at: number,
  { seq, source, crs }: Pick<RecordStamp, 'seq' | 'source' | 'crs'>,
): void {
  RECORD.set.sourceIndex(buffer, at, source);
  RECORD.set.crsIndex(buffer, at, crs);
  RECORD.set.seq(buffer, at, seq);
}

/**
 * Conversions of a record's times, which are wall-clock times or those of another hub, to times of this hub
 * (model/clock_steps.ts).
 */
export interface TimeConversion {
  /** Converts the time of generation. */
  eventTime(ms: number): number;
  /** Converts the time of receipt. */
  monotonicTime(ms: number): number;
}

/** Converts the times of a record, in place. */
export function shiftRecord(buffer: Pick<RecordBuffer, 'view'>, at: number, times: TimeConversion): void {
  RECORD.set.receivedMs(buffer, at, times.monotonicTime(RECORD.get.receivedMs(buffer, at)));
  RECORD.set.generatedMs(buffer, at, times.eventTime(RECORD.get.generatedMs(buffer, at)));
}

/**
 * Converts a record written by another hub to the form of a scanned one: sets the numbers of its names and its times on
 * this hub.
 */
// hot
export function renameRecord(buffer: RecordBuffer, at: number, { provider, receivedMs, generatedMs }: Renamed): void {
  SCANNED.write(buffer, at + RECORD.at.seq, { providerName: provider, sourceName: RECORD.get.sourceIndex(buffer, at) });
  RECORD.set.receivedMs(buffer, at, receivedMs);
  RECORD.set.generatedMs(buffer, at, generatedMs);
}

interface Renamed {
  /** Number of the provider's name. The number of the source is its index in the list of names. */
  readonly provider: number;
  readonly receivedMs: number;
  readonly generatedMs: number;
}

/** Returns the index of a record's crs in the list of names. */
export const recordCrs = RECORD.get.crsIndex;

/** Returns the time of generation of a record's location. */
export const recordGeneratedMs = RECORD.get.generatedMs;

/**
 * Validates the bytes as a record that refers to a list of `names` names. Returns the problem; undefined if a reader
 * finds all members within the bytes.
 */
export function recordProblem(buffer: RecordBuffer, at: number, names: number): string | undefined {
  const left = buffer.bytes.length - at;
  if (left < HEAD_BYTES) return `size must be at least ${HEAD_BYTES}, but ${left} bytes are left`;
  const head = RECORD.read(buffer, at);
  const { recordBytes: size, idBytes, positionBytes, typeIndex: type, generatedMs } = head;
  if (size < HEAD_BYTES || size > left) return `size must be ${HEAD_BYTES} to ${left}, but is ${size}`;
  const textBytes = size - HEAD_BYTES - idBytes;
  if (idBytes === 0 || textBytes < 0) return `bytes of the id must be 1 to ${size - HEAD_BYTES}, but are ${idBytes}`;
  if (positionBytes > textBytes) return `bytes of the position must be at most ${textBytes}, but are ${positionBytes}`;
  if (positionBytes > 0 && positionBytes < BEFORE_POINT + AFTER_POINT) {
    return `bytes of the position must be 0, or ${BEFORE_POINT + AFTER_POINT} and more, but are ${positionBytes}`;
  }
  for (const [field, index] of [
    ['source', head.sourceIndex],
    ['crs', head.crsIndex],
  ] as const) {
    if (index >= names) return `${field} must be one of ${names} names, but is ${index}`;
  }
  if (type >= PROVIDER_TYPES.length) return `provider type must be below ${PROVIDER_TYPES.length}, but is ${type}`;
  if (!(Math.abs(generatedMs) <= TIME_MS_MAX)) return `time must be within ${TIME_MS_MAX} ms, but is ${generatedMs}`;
  for (const [field, value] of [
    ['x', head.sentX],
    ['y', head.sentY],
  ] as const) {
    if (!Number.isFinite(value)) return `${field} must be a finite number, but is ${value}`;
  }
  return undefined;
}

/** Returns the size of a record in bytes. */
export const recordSize = RECORD.get.recordBytes;

/** Returns the number of a record's item. */
export const recordSeq = RECORD.get.seq;

/** Returns the id of a record's provider. */
export function recordIdIn(buffer: RecordBuffer, at: number): string {
  const start = at + HEAD_BYTES;
  return decoded(
    buffer,
    (RECORD.get.flags(buffer, at) & ASCII_ID) !== 0,
    start,
    start + RECORD.get.idBytes(buffer, at),
  );
}

/** Returns the type of a record's provider. */
export function recordType(buffer: RecordBuffer, at: number): ProviderType {
  return PROVIDER_TYPES[RECORD.get.typeIndex(buffer, at)] as ProviderType;
}

/** A record in its buffer. */
class Recorded {
  protected buffer: RecordBuffer;
  protected at: number;

  constructor(buffer: RecordBuffer, at: number) {
    this.buffer = buffer;
    this.at = at;
  }
}

/** View of a record in its buffer. Numbers that were not sent are NaN, other missing values are undefined. */
export class LocationRecord extends withFields(Recorded, RECORD) {
  /** Converts its times. */
  shift(times: TimeConversion): void {
    shiftRecord(this.buffer, this.at, times);
  }

  get associated(): boolean | undefined {
    const { flags } = this;
    if ((flags & ASSOCIATED) !== 0) return true;
    return (flags & NOT_ASSOCIATED) !== 0 ? false : undefined;
  }

  get sentElevationRef(): ElevationRef | undefined {
    const { flags } = this;
    if ((flags & FROM_FLOOR) !== 0) return 'floor';
    return (flags & FROM_ELLIPSOID) !== 0 ? 'wgs84' : undefined;
  }

  /** Whether the JSON contains timestamp_sent. */
  get hasSentTime(): boolean {
    return (this.flags & SENT_TIME) !== 0;
  }

  /** Whether it was sent as a proximity. */
  get isProximity(): boolean {
    return (this.flags & PROXIMITY) !== 0;
  }

  get providerType(): ProviderType {
    return recordType(this.buffer, this.at);
  }

  /** The record without its times and indexes, each byte as a character, for comparison with other records. */
  get content(): string {
    const { bytes } = this.buffer;
    const head = bytes.toString('latin1', this.at + RECORD.at.typeIndex, this.at + RECORD.at.seq);
    return head + bytes.toString('latin1', this.at + RECORD.at.sentX, this.at + this.recordBytes);
  }

  /** Members of the location as JSON: see AcceptedLocation. */
  get text(): string {
    const start = textStart(this.buffer, this.at) + this.positionBytes;
    return decoded(this.buffer, (this.flags & ASCII_TEXT) !== 0, start, this.at + this.recordBytes);
  }

  /** Bytes of the JSON: the position and the members. */
  get textBytes(): number {
    return this.at + this.recordBytes - textStart(this.buffer, this.at);
  }

  /** Copies the JSON and returns the offset after it. */
  // hot
  copyText(to: Utf8Bytes, at: number): number {
    const { buffer } = this;
    return at + buffer.bytes.copy(to, at, textStart(buffer, this.at), this.at + this.recordBytes);
  }

  /** Copies the GeoJSON point of a position that is published as sent. Returns the offset after it. */
  // hot
  copyPoint(to: Utf8Bytes, at: number): number {
    const start = textStart(this.buffer, this.at);
    return at + this.buffer.bytes.copy(to, at, start + BEFORE_POINT, start + this.positionBytes - AFTER_POINT);
  }

  protected get recordedId(): string {
    return recordIdIn(this.buffer, this.at);
  }
}

/** Lengths of the JSON around the point of a position: `"position":` and a comma. */
const [BEFORE_POINT, AFTER_POINT] = ['"position":'.length, 1];

/** Returns a number of a record; undefined for NaN. */
export function orUndefined(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

function textStart(buffer: RecordBuffer, at: number): number {
  return at + HEAD_BYTES + RECORD.get.idBytes(buffer, at);
}

function decoded({ bytes }: RecordBuffer, isAscii: boolean, start: number, end: number): string {
  return bytes.toString(isAscii ? 'latin1' : 'utf8', start, end);
}
