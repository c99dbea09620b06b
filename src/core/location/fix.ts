import type { ElevationRef } from '../../model/location.ts';
import type { Zone } from '../../model/zone.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { ReceivedLocation } from './received.ts';
import { LocationRecord, orUndefined, type RecordBuffer, type ShiftedTimes, shiftRecord } from './record.ts';

/** In front of the record lies what was derived from it, as f64: NaN for a speed or course that nobody knows. */
const [LON, LAT, FLOOR, EVENT_TIME, SPEED, COURSE] = [-48, -40, -32, -24, -16, -8] as const;
export const DERIVED_BYTES = 48;

const NOBODY: readonly string[] = [];

/** What numbers do not say of a fix. */
export interface FixContext {
  readonly providerId: string;
  readonly source: string;
  readonly zone: Zone | undefined;
  /** What its provider sets. It times whoever holds the fix, also in another shard than the provider's. */
  readonly timing: OwnTiming;
  /** Ids of the trackables that the provider was assigned to. */
  readonly trackables: readonly string[];
  /** Whether its position was sent in the zone's own coordinates. */
  readonly isLocal: boolean;
}

/** What is derived from a location. */
export interface Derived {
  readonly lon: number;
  readonly lat: number;
  /** Its floor, else its zone's, else 0. */
  readonly floor: number;
  /** min(timestamp_generated, time of receipt): what locations are ordered by, and what events carry. */
  readonly eventTimeMs: number;
  /** Metres per second, and degrees clockwise from north: as sent, else from where the provider was before. */
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

/** What was derived from a location, as written by Fix.copyDerived. */
export function derivedIn(view: DataView, at: number): Derived {
  const value = (offset: number): number => view.getFloat64(at + DERIVED_BYTES + offset, true);
  return {
    lon: value(LON),
    lat: value(LAT),
    floor: value(FLOOR),
    eventTimeMs: value(EVENT_TIME),
    speed: orUndefined(value(SPEED)),
    course: orUndefined(value(COURSE)),
  };
}

/** Changes the times in what is kept of a fix: see `bytes` of it. */
export function shiftFix({ buffer, byteOffset, byteLength }: Uint8Array, times: ShiftedTimes): void {
  const view = new DataView(buffer, byteOffset, byteLength);
  const at = DERIVED_BYTES + EVENT_TIME;
  view.setFloat64(at, times.eventTime(view.getFloat64(at, true)), true);
  shiftRecord({ view }, DERIVED_BYTES, times);
}

/**
 * Where an object was last: the record of a location with what was derived from it, in memory that is used again
 * (fix_slab.ts). But for what its provider sets, it does not change as long as two objects hold it, or the step lasts in
 * which one has left. That which one object alone holds is the fix of that object's next location.
 */
export class Fix extends LocationRecord implements FixContext, Derived {
  providerId = '';
  source = '';
  zone: Zone | undefined = undefined;
  timing = UNSET;
  trackables = NOBODY;
  isLocal = false;
  /** How many objects hold it. */
  holders = 0;
  /** Whether it is looked at when the step is over. */
  isTouched = false;
  /** Whether it comes from a location of the step in progress. */
  isLocated = false;
  /** The number by which the history names its provider (recorded.ts); 0 for none. */
  placeName = 0;
  /** The offset of its provider's effect among those of the step in progress; -1 if there is none. */
  effectAt = -1;
  /** Bytes that it may have. */
  readonly capacity: number;

  constructor(buffer: RecordBuffer, start: number, capacity: number) {
    super(buffer, start + DERIVED_BYTES);
    this.capacity = capacity;
  }

  get lon(): number {
    return this.buffer.view.getFloat64(this.at + LON, true);
  }

  get lat(): number {
    return this.buffer.view.getFloat64(this.at + LAT, true);
  }

  get z(): number | undefined {
    return orUndefined(this.sentZ);
  }

  get floor(): number {
    return this.buffer.view.getFloat64(this.at + FLOOR, true);
  }

  get eventTimeMs(): number {
    return this.buffer.view.getFloat64(this.at + EVENT_TIME, true);
  }

  get speed(): number | undefined {
    return orUndefined(this.buffer.view.getFloat64(this.at + SPEED, true));
  }

  get course(): number | undefined {
    return orUndefined(this.buffer.view.getFloat64(this.at + COURSE, true));
  }

  get elevationRef(): ElevationRef {
    return this.sentElevationRef ?? 'floor';
  }

  /** Becomes the fix of a location. */
  // hot
  write(location: ReceivedLocation, derived: Derived, context: FixContext): void {
    location.copyTo(this.buffer, this.at);
    const { view } = this.buffer;
    view.setFloat64(this.at + LON, derived.lon, true);
    view.setFloat64(this.at + LAT, derived.lat, true);
    view.setFloat64(this.at + FLOOR, derived.floor, true);
    view.setFloat64(this.at + EVENT_TIME, derived.eventTimeMs, true);
    view.setFloat64(this.at + SPEED, derived.speed ?? Number.NaN, true);
    view.setFloat64(this.at + COURSE, derived.course ?? Number.NaN, true);
    this.belong(context);
  }

  /** Takes over the bytes of another fix. */
  read(bytes: Uint8Array, context: FixContext): void {
    this.buffer.bytes.set(bytes, this.at - DERIVED_BYTES);
    this.belong(context);
  }

  /** Becomes another place on the earth, before an object holds it. */
  locate(lon: number, lat: number): void {
    this.buffer.view.setFloat64(this.at + LON, lon, true);
    this.buffer.view.setFloat64(this.at + LAT, lat, true);
  }

  /** What was derived, and the record, where they lie. */
  get bytes(): Uint8Array {
    return this.buffer.bytes.subarray(this.at - DERIVED_BYTES, this.at + this.recordBytes);
  }

  /**
   * Copies its numbers, NaN for what is not known: degrees of longitude and latitude, floor, event time, speed, course, time of
   * receipt, x, y and z as they were sent, accuracy.
   */
  // hot
  copyNumbers(to: Float64Array, at: number): void {
    const { view } = this.buffer;
    const from = this.at;
    to[at] = view.getFloat64(from + LON, true);
    to[at + 1] = view.getFloat64(from + LAT, true);
    to[at + 2] = view.getFloat64(from + FLOOR, true);
    to[at + 3] = view.getFloat64(from + EVENT_TIME, true);
    to[at + 4] = view.getFloat64(from + SPEED, true);
    to[at + 5] = view.getFloat64(from + COURSE, true);
    this.copySent(to, at + 6);
  }

  /** Copies what was derived: see derivedIn. */
  // hot
  copyDerived(to: DataView, at: number): void {
    const { view } = this.buffer;
    for (let i = 0; i < DERIVED_BYTES; i += 8) {
      to.setFloat64(at + i, view.getFloat64(this.at - DERIVED_BYTES + i, true), true);
    }
  }

  /** Lies in another buffer from now on. */
  move(buffer: RecordBuffer, start: number): void {
    buffer.bytes.set(this.bytes, start);
    this.buffer = buffer;
    this.at = start + DERIVED_BYTES;
  }

  /** Forgets whose it was. */
  clear(): void {
    this.providerId = '';
    this.zone = undefined;
    this.timing = UNSET;
    this.trackables = NOBODY;
  }

  // hot
  protected belong({ providerId, source, zone, timing, trackables, isLocal }: FixContext): void {
    if (providerId !== this.providerId) this.placeName = 0;
    this.providerId = providerId;
    this.source = source;
    this.zone = zone;
    this.timing = timing;
    this.trackables = trackables;
    this.isLocal = isLocal;
    this.isLocated = false;
  }
}
