import type { ElevationRef } from '../../model/location.ts';
import type { Zone } from '../../model/zone.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { ReceivedLocation } from './received.ts';
import { LocationRecord, orUndefined, type RecordBuffer, type TimeConversion, shiftRecord } from './record.ts';

/** Offsets before the record of the values derived from it, as f64: NaN for an unknown speed or course. */
const [LON, LAT, FLOOR, EVENT_TIME, SPEED, COURSE] = [-48, -40, -32, -24, -16, -8] as const;
export const DERIVED_BYTES = 48;

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
  /** Its floor, else its zone's, else 0. */
  readonly floor: number;
  /** min(timestamp_generated, time of receipt): orders locations, and is published in events. */
  readonly eventTimeMs: number;
  /** Meters per second, and degrees clockwise from north: as sent, else from the provider's previous position. */
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

/** Reads derived values written by Fix.copyDerived. */
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

/** Converts the times in `Fix.bytes`, in place. */
export function shiftFix({ buffer, byteOffset, byteLength }: Uint8Array, times: TimeConversion): void {
  const view = new DataView(buffer, byteOffset, byteLength);
  const at = DERIVED_BYTES + EVENT_TIME;
  view.setFloat64(at, times.eventTime(view.getFloat64(at, true)), true);
  shiftRecord({ view }, DERIVED_BYTES, times);
}

/**
 * Last position of an object: the record of a location with the values derived from it, in reusable memory
 * (fix_slab.ts). Apart from its provider's timing it is immutable while two objects hold it, or until the end of the
 * step in which one has left. A fix that only one object holds is reused for that object's next location.
 */
export class Fix extends LocationRecord implements FixContext, Derived {
  providerId = '';
  source = '';
  zone: Zone | undefined = undefined;
  timing = UNSET;
  trackables = NO_TRACKABLES;
  isLocal = false;
  /** Number of objects that hold it. */
  holders = 0;
  /** Whether it is checked at the end of the step. */
  isTouched = false;
  /** Whether it comes from a location of the current step. */
  isLocated = false;
  /** Number of its provider in the history records (history_rows.ts); 0 for none. */
  providerNumber = 0;
  /** Offset of its provider's effect among those of the current step; -1 for none. */
  effectAt = -1;
  /** Maximum number of bytes. */
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

  /** Writes the fix of a location. */
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
    this.setContext(context);
  }

  /** Copies the bytes of another fix. */
  read(bytes: Uint8Array, context: FixContext): void {
    this.buffer.bytes.set(bytes, this.at - DERIVED_BYTES);
    this.setContext(context);
  }

  /** Sets another position on the earth, before an object holds the fix. */
  locate(lon: number, lat: number): void {
    this.buffer.view.setFloat64(this.at + LON, lon, true);
    this.buffer.view.setFloat64(this.at + LAT, lat, true);
  }

  /** The derived values and the record, in place. */
  get bytes(): Uint8Array {
    return this.buffer.bytes.subarray(this.at - DERIVED_BYTES, this.at + this.recordBytes);
  }

  /**
   * Copies its numbers, NaN for unknown ones: longitude and latitude in degrees, floor, event time, speed, course, time
   * of receipt, x, y and z as sent, accuracy.
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

  /** Copies the derived values: see derivedIn. */
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
