import type { ElevationRef, ProviderType } from '../../model/location.ts';
import { PROVIDER_TYPES } from '../../model/provider_type.ts';
import type { AcceptedLocation } from './accepted.ts';

/**
 * A location as bytes: from receipt until the next one replaces it, it is only copied, never rebuilt.
 *
 * A record, little-endian, at any offset:
 *
 *     0  u32 bytes of the record       4  u32 bytes of the provider's id
 *     8  u16 source and 10 u16 crs, as indexes in a separate list of names
 * 12 u8 provider type, as its index in PROVIDER_TYPES 13 u8 flags 14 u16 bytes of the position, at the start of the
 * JSON 16 f64 seq, receivedMs, generatedMs, x, y, z, accuracy, floor, speed, course; NaN for values that were not sent
 * 96 the provider's id, then the JSON, in UTF-8: see AcceptedLocation, position before members
 */
const [SIZE, ID_SIZE, SOURCE, CRS, TYPE, FLAGS, POSITION_SIZE] = [0, 4, 8, 10, 12, 13, 14] as const;
const [SEQ, RECEIVED, GENERATED, X, Y, Z, ACCURACY, FLOOR, SPEED, COURSE] = [
  16, 24, 32, 40, 48, 56, 64, 72, 80, 88,
] as const;
const HEAD_BYTES = 96;
/**
 * Offsets of the numbers of a scanned record's provider and source, u32. They overlay `seq`, which is set when the
 * record is copied.
 */
export const [PROVIDER_NAME, SOURCE_NAME] = [16, 20] as const;
const [ASSOCIATED, NOT_ASSOCIATED, FROM_FLOOR, FROM_ELLIPSOID, ASCII_ID, ASCII_TEXT, SENT_TIME] = [
  1, 2, 4, 8, 16, 32, 64,
] as const;
/** UTF-8 needs at most three bytes per UTF-16 code unit. */
const UTF8_MAX = 3;
const TYPE_INDEXES = new Map(PROVIDER_TYPES.map((type, index) => [type, index]));

/** Maximum time value of a Date. */
const TIME_MS_MAX = 8.64e15;
const COORDINATES = [
  ['x', X],
  ['y', Y],
] as const;

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
  const { bytes, view } = buffer;
  const { provider_id: id, positionText, text, coordinates, associated, elevation_ref: ref } = location;
  const idBytes = bytes.write(id, start + HEAD_BYTES);
  const textBytes = bytes.write(positionText + text, start + HEAD_BYTES + idBytes);
  const end = start + HEAD_BYTES + idBytes + textBytes;
  let flags = associated === null ? 0 : associated ? ASSOCIATED : NOT_ASSOCIATED;
  if (ref !== null) flags |= ref === 'floor' ? FROM_FLOOR : FROM_ELLIPSOID;
  if (location.hasSentTime) flags |= SENT_TIME;
  if (idBytes === id.length) flags |= ASCII_ID;
  if (textBytes === positionText.length + text.length) flags |= ASCII_TEXT;
  view.setUint32(start + SIZE, end - start, true);
  view.setUint32(start + ID_SIZE, idBytes, true);
  view.setUint16(start + SOURCE, stamp.source, true);
  view.setUint16(start + CRS, stamp.crs, true);
  view.setUint8(start + TYPE, TYPE_INDEXES.get(location.provider_type) as number);
  view.setUint8(start + FLAGS, flags);
  view.setUint16(start + POSITION_SIZE, positionText.length, true);
  view.setFloat64(start + SEQ, stamp.seq, true);
  view.setFloat64(start + RECEIVED, stamp.receivedMs, true);
  view.setFloat64(start + GENERATED, stamp.generatedMs, true);
  view.setFloat64(start + X, coordinates[0] as number, true);
  view.setFloat64(start + Y, coordinates[1] as number, true);
  view.setFloat64(start + Z, coordinates[2] ?? Number.NaN, true);
  view.setFloat64(start + ACCURACY, location.accuracy ?? Number.NaN, true);
  view.setFloat64(start + FLOOR, location.floor ?? Number.NaN, true);
  view.setFloat64(start + SPEED, location.speed ?? Number.NaN, true);
  view.setFloat64(start + COURSE, location.course ?? Number.NaN, true);
  return end;
}

/** Completes a scanned record: sets the number of its item and its indexes in the list of names. */
// hot
export function stampRecord(
  { view }: RecordBuffer,
  at: number,
  { seq, source, crs }: Pick<RecordStamp, 'seq' | 'source' | 'crs'>,
): void {
  view.setUint16(at + SOURCE, source, true);
  view.setUint16(at + CRS, crs, true);
  view.setFloat64(at + SEQ, seq, true);
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
export function shiftRecord({ view }: Pick<RecordBuffer, 'view'>, at: number, times: TimeConversion): void {
  view.setFloat64(at + RECEIVED, times.monotonicTime(view.getFloat64(at + RECEIVED, true)), true);
  view.setFloat64(at + GENERATED, times.eventTime(view.getFloat64(at + GENERATED, true)), true);
}

/** Prepares a record written by another hub like a scanned one: sets its name numbers and its times on this hub. */
// hot
export function renameRecord({ view }: RecordBuffer, at: number, { provider, receivedMs, generatedMs }: Renamed): void {
  view.setUint32(at + PROVIDER_NAME, provider, true);
  view.setUint32(at + SOURCE_NAME, view.getUint16(at + SOURCE, true), true);
  view.setFloat64(at + RECEIVED, receivedMs, true);
  view.setFloat64(at + GENERATED, generatedMs, true);
}

interface Renamed {
  /** Number of the provider's name. The number of the source is its index in the list of names. */
  readonly provider: number;
  readonly receivedMs: number;
  readonly generatedMs: number;
}

/** Returns the index of a record's crs in the list of names. */
export function recordCrs({ view }: RecordBuffer, at: number): number {
  return view.getUint16(at + CRS, true);
}

/** Returns the time of generation of a record's location. */
export function recordGeneratedMs({ view }: RecordBuffer, at: number): number {
  return view.getFloat64(at + GENERATED, true);
}

/**
 * Returns why the bytes are not a valid record that refers to a list of `names` names; undefined if a reader finds all
 * members within the bytes.
 */
export function recordProblem({ bytes, view }: RecordBuffer, at: number, names: number): string | undefined {
  const left = bytes.length - at;
  if (left < HEAD_BYTES) return `size must be at least ${HEAD_BYTES}, but ${left} bytes are left`;
  const size = view.getUint32(at + SIZE, true);
  if (size < HEAD_BYTES || size > left) return `size must be ${HEAD_BYTES} to ${left}, but is ${size}`;
  const idBytes = view.getUint32(at + ID_SIZE, true);
  const textBytes = size - HEAD_BYTES - idBytes;
  if (idBytes === 0 || textBytes < 0) return `bytes of the id must be 1 to ${size - HEAD_BYTES}, but are ${idBytes}`;
  const positionBytes = view.getUint16(at + POSITION_SIZE, true);
  if (positionBytes > textBytes) return `bytes of the position must be at most ${textBytes}, but are ${positionBytes}`;
  if (positionBytes > 0 && positionBytes < BEFORE_POINT + AFTER_POINT) {
    return `bytes of the position must be 0, or ${BEFORE_POINT + AFTER_POINT} and more, but are ${positionBytes}`;
  }
  for (const [field, index] of [
    ['source', view.getUint16(at + SOURCE, true)],
    ['crs', view.getUint16(at + CRS, true)],
  ] as const) {
    if (index >= names) return `${field} must be one of ${names} names, but is ${index}`;
  }
  const type = view.getUint8(at + TYPE);
  if (type >= PROVIDER_TYPES.length) return `provider type must be below ${PROVIDER_TYPES.length}, but is ${type}`;
  const generatedMs = view.getFloat64(at + GENERATED, true);
  if (!(Math.abs(generatedMs) <= TIME_MS_MAX)) return `time must be within ${TIME_MS_MAX} ms, but is ${generatedMs}`;
  for (const [field, offset] of COORDINATES) {
    const value = view.getFloat64(at + offset, true);
    if (!Number.isFinite(value)) return `${field} must be a finite number, but is ${value}`;
  }
  return undefined;
}

/** Returns the size of a record in bytes. */
export function recordSize({ view }: RecordBuffer, at: number): number {
  return view.getUint32(at + SIZE, true);
}

/** Returns the number of a record's item. */
export function recordSeq({ view }: RecordBuffer, at: number): number {
  return view.getFloat64(at + SEQ, true);
}

/** Returns the id of a record's provider. */
export function recordIdIn(buffer: RecordBuffer, at: number): string {
  const start = at + HEAD_BYTES;
  return decoded(buffer, (flagsOf(buffer, at) & ASCII_ID) !== 0, start, start + idBytesOf(buffer, at));
}

/** Returns the type of a record's provider. */
export function recordType({ view }: RecordBuffer, at: number): ProviderType {
  return PROVIDER_TYPES[view.getUint8(at + TYPE)] as ProviderType;
}

/** View of a record in its buffer. Numbers that were not sent are NaN, other missing values are undefined. */
export class LocationRecord {
  protected buffer: RecordBuffer;
  protected at: number;

  constructor(buffer: RecordBuffer, at: number) {
    this.buffer = buffer;
    this.at = at;
  }

  get recordBytes(): number {
    return this.buffer.view.getUint32(this.at + SIZE, true);
  }

  /** Converts its times. */
  shift(times: TimeConversion): void {
    shiftRecord(this.buffer, this.at, times);
  }

  get seq(): number {
    return number(this.buffer, this.at + SEQ);
  }

  get receivedMs(): number {
    return number(this.buffer, this.at + RECEIVED);
  }

  get generatedMs(): number {
    return number(this.buffer, this.at + GENERATED);
  }

  /** The position as sent. */
  get sentX(): number {
    return number(this.buffer, this.at + X);
  }

  get sentY(): number {
    return number(this.buffer, this.at + Y);
  }

  get sentZ(): number {
    return number(this.buffer, this.at + Z);
  }

  get sentFloor(): number {
    return number(this.buffer, this.at + FLOOR);
  }

  get sentSpeed(): number {
    return number(this.buffer, this.at + SPEED);
  }

  get sentCourse(): number {
    return number(this.buffer, this.at + COURSE);
  }

  /** Copies the time of receipt, x, y, z and accuracy; NaN for values that were not sent. */
  // hot
  protected copySent(to: Float64Array, at: number): void {
    const { view } = this.buffer;
    const from = this.at;
    to[at] = view.getFloat64(from + RECEIVED, true);
    to[at + 1] = view.getFloat64(from + X, true);
    to[at + 2] = view.getFloat64(from + Y, true);
    to[at + 3] = view.getFloat64(from + Z, true);
    to[at + 4] = view.getFloat64(from + ACCURACY, true);
  }

  get accuracy(): number | undefined {
    return orUndefined(number(this.buffer, this.at + ACCURACY));
  }

  get associated(): boolean | undefined {
    const flags = flagsOf(this.buffer, this.at);
    if ((flags & ASSOCIATED) !== 0) return true;
    return (flags & NOT_ASSOCIATED) !== 0 ? false : undefined;
  }

  get sentElevationRef(): ElevationRef | undefined {
    const flags = flagsOf(this.buffer, this.at);
    if ((flags & FROM_FLOOR) !== 0) return 'floor';
    return (flags & FROM_ELLIPSOID) !== 0 ? 'wgs84' : undefined;
  }

  /** Whether the JSON contains timestamp_sent. */
  get hasSentTime(): boolean {
    return (flagsOf(this.buffer, this.at) & SENT_TIME) !== 0;
  }

  get providerType(): ProviderType {
    return recordType(this.buffer, this.at);
  }

  /** The record without its times and indexes, each byte as a character: for comparison with others. */
  get content(): string {
    const { bytes } = this.buffer;
    const head = bytes.toString('latin1', this.at + TYPE, this.at + SEQ);
    return head + bytes.toString('latin1', this.at + X, this.at + this.recordBytes);
  }

  /** Members of the location as JSON: see AcceptedLocation. */
  get text(): string {
    const start = textStart(this.buffer, this.at) + this.positionBytes;
    return decoded(this.buffer, (flagsOf(this.buffer, this.at) & ASCII_TEXT) !== 0, start, this.at + this.recordBytes);
  }

  /** Bytes of the position as JSON, which precedes the members; 0 if the position is not published as sent. */
  get positionBytes(): number {
    return this.buffer.view.getUint16(this.at + POSITION_SIZE, true);
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

  /** Copies the point of a position that is published as sent, a GeoJSON geometry, and returns the offset after it. */
  // hot
  copyPoint(to: Utf8Bytes, at: number): number {
    const start = textStart(this.buffer, this.at);
    return at + this.buffer.bytes.copy(to, at, start + BEFORE_POINT, start + this.positionBytes - AFTER_POINT);
  }

  protected get recordedId(): string {
    return recordIdIn(this.buffer, this.at);
  }

  /** Source and crs as indexes in the list of names. */
  protected get sourceIndex(): number {
    return this.buffer.view.getUint16(this.at + SOURCE, true);
  }

  protected get crsIndex(): number {
    return this.buffer.view.getUint16(this.at + CRS, true);
  }
}

/** Lengths of the JSON around the point of a position: `"position":` and a comma. */
const [BEFORE_POINT, AFTER_POINT] = ['"position":'.length, 1];

/** Returns a number of a record; undefined for NaN. */
export function orUndefined(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

function number({ view }: RecordBuffer, at: number): number {
  return view.getFloat64(at, true);
}

function flagsOf({ view }: RecordBuffer, at: number): number {
  return view.getUint8(at + FLAGS);
}

function textStart(buffer: RecordBuffer, at: number): number {
  return at + HEAD_BYTES + idBytesOf(buffer, at);
}

function idBytesOf({ view }: RecordBuffer, at: number): number {
  return view.getUint32(at + ID_SIZE, true);
}

function decoded({ bytes }: RecordBuffer, isAscii: boolean, start: number, end: number): string {
  return bytes.toString(isAscii ? 'latin1' : 'utf8', start, end);
}
