import type { ElevationRef } from '../../model/location.ts';
import type { Zone } from '../../model/zone.ts';
import { withFields } from '../encoding/layout.ts';
import { DERIVED, RECORD } from '../encoding/layouts.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
import {
  AGE,
  COURSE,
  EAST,
  FLAGS,
  FLOOR,
  LAT,
  LON,
  NORTH,
  OUTLIER,
  P11,
  STILL_UNKNOWN,
  TOO_FAST,
  type Track,
  TRACK_BYTES,
  TRACK_LENGTH,
  Z,
  Z_FROM,
} from '../tracking/track.ts';
import { writeTrackText } from '../tracking/track_text.ts';
import type { ReceivedLocation } from './received.ts';
import { LocationRecord, orUndefined, type RecordBuffer, shiftRecord, type TimeConversion } from './record.ts';

/** Size of the derived values, which precede the record. */
export const DERIVED_BYTES = DERIVED.bytes;

const NO_TRACKABLES: readonly string[] = [];

/** Non-numeric members of a fix. */
export interface FixContext {
  readonly providerId: string;
  readonly source: string;
  readonly zone: Zone | undefined;
  /**
   * Timing of its provider. It applies to every object that holds the fix, even in another shard than the provider's.
   */
  readonly timing: OwnTiming;
  /** Ids of the trackables that the provider was assigned to. */
  readonly trackables: readonly string[];
  /** Whether the position was sent in the zone's own coordinates. */
  readonly isLocal: boolean;
}

/** Values derived from a location. */
export interface Derived {
  readonly lon: number;
  readonly lat: number;
  /** Floor of the location, else of its zone, else 0. */
  readonly floor: number;
  /** min(timestamp_generated, time of receipt): orders locations, and is published in events. */
  readonly eventTimeMs: number;
  /** Meters per second, and degrees clockwise from north: as sent, else from the provider's previous position. */
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

/** Converts the times in `Fix.bytes`, in place. */
export function shiftFix({ buffer, byteOffset, byteLength }: Uint8Array, times: TimeConversion): void {
  const fix = { view: new DataView(buffer, byteOffset, byteLength) };
  DERIVED.set.eventTimeMs(fix, DERIVED_BYTES, times.eventTime(DERIVED.get.eventTimeMs(fix, DERIVED_BYTES)));
  shiftRecord(fix, DERIVED_BYTES, times);
}

/**
 * Last position of an object: the record of a location with the values derived from it, and the track of a filtered
 * object, in reusable memory (fix_slab.ts). While two objects hold a fix, and until the end of the step in which one of them drops it, the fix is
 * immutable apart from its provider's timing. A fix with a single holder is reused for that object's next location.
 */
export class Fix extends withFields(LocationRecord, DERIVED) implements FixContext, Derived {
  providerId = '';
  source = '';
  zone: Zone | undefined = undefined;
  timing = UNSET;
  trackables = NO_TRACKABLES;
  isLocal = false;
  /** Whether the state of a filter follows the record. */
  hasTrack = false;
  /** Number of objects that hold the fix. */
  holders = 0;
  /** Whether the end of the step checks for remaining holders. */
  isTouched = false;
  /** Whether it comes from a location of the current step. */
  isLocated = false;
  /** Number of its provider in the history records (history_rows.ts); 0 for none. */
  providerNumber = 0;
  /** Offset of its provider's effect among those of the current step; -1 for none. */
  effectAt = -1;
  /** Size of its memory in bytes. */
  readonly capacity: number;

  constructor(buffer: RecordBuffer, start: number, capacity: number) {
    super(buffer, start + DERIVED_BYTES);
    this.capacity = capacity;
  }

  get z(): number | undefined {
    return orUndefined(this.sentZ);
  }

  get elevationRef(): ElevationRef {
    return this.sentElevationRef ?? 'floor';
  }

  /** Longitude and latitude for motions, fences and collisions: filtered ones if there is a filter. */
  get filteredLon(): number {
    return this.hasTrack ? roundDegrees(this.#tracked(LON)) : this.lon;
  }

  get filteredLat(): number {
    return this.hasTrack ? roundDegrees(this.#tracked(LAT)) : this.lat;
  }

  get filteredZ(): number | undefined {
    return this.hasTrack ? orUndefined(roundMeters(this.#tracked(Z))) : this.z;
  }

  get filteredElevationRef(): ElevationRef {
    if (!this.hasTrack) return this.elevationRef;
    return this.#tracked(Z_FROM) === 0 ? 'floor' : 'wgs84';
  }

  get filteredFloor(): number {
    return this.hasTrack ? this.#tracked(FLOOR) : this.floor;
  }

  /** Standard deviation of the filtered position, per axis; otherwise the accuracy as sent. */
  get filteredAccuracy(): number | undefined {
    return this.hasTrack ? roundMeters(Math.sqrt(this.#tracked(P11))) : this.accuracy;
  }

  /** That of the location while the filter does not know the velocity. */
  get filteredSpeed(): number | undefined {
    if (!this.hasTrack) return this.speed;
    if (this.#hasFlag(STILL_UNKNOWN)) return this.speed;
    return roundMeters(Math.hypot(this.#tracked(EAST), this.#tracked(NORTH)));
  }

  get filteredCourse(): number | undefined {
    if (!this.hasTrack || this.#hasFlag(STILL_UNKNOWN)) return this.course;
    const course = this.#tracked(COURSE);
    // A course that rounds up to a full turn is north.
    return Number.isNaN(course) ? undefined : roundMeters(course < 0 ? course + 360 : course) % 360;
  }

  /** Whether the filter rejected the location. The filtered position is then an earlier one. */
  get isOutlier(): boolean {
    return this.hasTrack && this.#hasFlag(OUTLIER);
  }

  /** Name of the filter's member that an outlier exceeds. */
  get outlierReason(): 'gate' | 'max_speed' {
    return this.#hasFlag(TOO_FAST) ? 'max_speed' : 'gate';
  }

  /** Time from the location that the filtered position comes from to this one, in milliseconds; 0 but for outliers. */
  get outlierMs(): number {
    return this.isOutlier ? this.#tracked(AGE) : 0;
  }

  /** Whether the track has a flag. */
  hasTrackFlag(flag: number): boolean {
    return this.hasTrack && this.#hasFlag(flag);
  }

  #hasFlag(flag: number): boolean {
    return (this.#tracked(FLAGS) & flag) !== 0;
  }

  // hot
  #tracked(index: number): number {
    return this.buffer.view.getFloat64(this.at + this.recordBytes + 8 * index, true);
  }

  /** Copies the track. Returns false for a fix without a track. */
  // hot
  readTrack(into: Track): boolean {
    if (!this.hasTrack) return false;
    const { view } = this.buffer;
    const start = this.at + this.recordBytes;
    for (let i = 0; i < TRACK_LENGTH; i++) into[i] = view.getFloat64(start + 8 * i, true);
    return true;
  }

  /** Writes the track as text: see track_text.ts. Returns the offset after it. */
  // hot
  writeTrackText(to: Uint8Array, at: number): number {
    return writeTrackText(this.buffer.bytes, this.at + this.recordBytes, to, at);
  }

  /** Replaces the track. Only allowed if the fix has memory for one. */
  // hot
  writeTrack(track: Track): void {
    const { view } = this.buffer;
    const start = this.at + this.recordBytes;
    for (let i = 0; i < TRACK_LENGTH; i++) view.setFloat64(start + 8 * i, track[i] as number, true);
    this.hasTrack = true;
  }

  /** Writes the fix of a location. */
  // hot
  write(location: ReceivedLocation, derived: Derived, context: FixContext, track?: Track): void {
    location.copyTo(this.buffer, this.at);
    DERIVED.write(this.buffer, this.at, derived);
    if (track === undefined) this.hasTrack = false;
    else this.writeTrack(track);
    this.setContext(context);
  }

  /** Copies the bytes of another fix. */
  read(bytes: Uint8Array, context: FixContext): void {
    this.buffer.bytes.set(bytes, this.at - DERIVED_BYTES);
    this.hasTrack = bytes.length > DERIVED_BYTES + this.recordBytes;
    this.setContext(context);
  }

  /** Changes the longitude and latitude. Only allowed before an object holds the fix. */
  locate(lon: number, lat: number): void {
    DERIVED.set.lon(this.buffer, this.at, lon);
    DERIVED.set.lat(this.buffer, this.at, lat);
  }

  /** The derived values, the record and the track, in place. */
  get bytes(): Uint8Array {
    const end = this.at + this.recordBytes + (this.hasTrack ? TRACK_BYTES : 0);
    return this.buffer.bytes.subarray(this.at - DERIVED_BYTES, end);
  }

  /**
   * Copies its numbers, NaN for unknown ones: longitude and latitude in degrees, floor, event time, speed, course, time
   * of receipt, x, y and z as sent, accuracy.
   */
  // hot
  copyNumbers(to: Float64Array, at: number): void {
    const { view } = this.buffer;
    to[at] = this.lon;
    to[at + 1] = this.lat;
    to[at + 2] = this.floor;
    to[at + 3] = this.eventTimeMs;
    to[at + 4] = view.getFloat64(this.at + DERIVED.at.speed, true);
    to[at + 5] = view.getFloat64(this.at + DERIVED.at.course, true);
    to[at + 6] = this.receivedMs;
    to[at + 7] = this.sentX;
    to[at + 8] = this.sentY;
    to[at + 9] = this.sentZ;
    to[at + 10] = view.getFloat64(this.at + RECORD.at.accuracy, true);
  }

  /** Like copyNumbers, with filtered values; x and y, which the filter does not have, are NaN. */
  copyFilteredNumbers(to: Float64Array, at: number): void {
    this.copyNumbers(to, at);
    to[at] = this.filteredLon;
    to[at + 1] = this.filteredLat;
    to[at + 2] = this.filteredFloor;
    to[at + 4] = this.filteredSpeed ?? Number.NaN;
    to[at + 5] = this.filteredCourse ?? Number.NaN;
    to[at + 7] = Number.NaN;
    to[at + 8] = Number.NaN;
    to[at + 9] = this.filteredZ ?? Number.NaN;
    to[at + 10] = this.filteredAccuracy ?? Number.NaN;
  }

  /** Copies the track. */
  // hot
  copyTrack(to: Uint8Array, at: number): void {
    const start = this.at + this.recordBytes;
    this.buffer.bytes.copy(to, at, start, start + TRACK_BYTES);
  }

  /** Copies the derived values. */
  // hot
  copyDerived(to: DataView, at: number): void {
    const { view } = this.buffer;
    for (let i = 0; i < DERIVED_BYTES; i += 8) {
      to.setFloat64(at + i, view.getFloat64(this.at - DERIVED_BYTES + i, true), true);
    }
  }

  /** Moves the fix to another buffer. */
  move(buffer: RecordBuffer, start: number): void {
    buffer.bytes.set(this.bytes, start);
    this.buffer = buffer;
    this.at = start + DERIVED_BYTES;
  }

  /** Resets the context. */
  clear(): void {
    this.providerId = '';
    this.zone = undefined;
    this.timing = UNSET;
    this.trackables = NO_TRACKABLES;
  }

  // hot
  protected setContext({ providerId, source, zone, timing, trackables, isLocal }: FixContext): void {
    if (providerId !== this.providerId) this.providerNumber = 0;
    this.providerId = providerId;
    this.source = source;
    this.zone = zone;
    this.timing = timing;
    this.trackables = trackables;
    this.isLocal = isLocal;
    this.isLocated = false;
  }
}
