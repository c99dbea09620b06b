import type { Zone } from '../../model/zone.ts';
import { type Track, TRACK_BYTES } from '../tracking/track.ts';
import { DERIVED_BYTES, type Derived, Fix, type FixContext } from './fix.ts';
import type { ReceivedLocation } from './received.ts';
import type { NewRecordBuffer, RecordBuffer } from './record.ts';

/** Memory is allocated in steps of this many bytes, so that the next location nearly always fits freed memory. */
const STEP_BYTES = 64;
/** Larger fixes get a buffer of their own, which is not reused. */
const SHARED_MAX_BYTES = 4096;
const BUFFER_BYTES = 1 << 20;
/**
 * An object reuses the memory of its last fix for a location only if the memory is at most this many times as large.
 */
const SPARE_FACTOR = 2;

/** An object that holds a fix. */
interface Holder {
  fix: Fix | undefined;
  hasHadFix: boolean;
}

/**
 * Allocator of all fixes of a shard. The memory of a fix without holders is reused after the step. Each location
 * replaces the fix of its provider, so on the heap fixes would live just long enough for every garbage collection to
 * copy them.
 */
export class FixSlab {
  /** Fixes without holders, by their number of memory steps. */
  #free: Fix[][] = [];
  readonly #touched: Fix[] = [];
  #buffer: RecordBuffer;
  #used = 0;
  #made = 0;
  #freed = 0;
  readonly #newBuffer: NewRecordBuffer;

  constructor(newBuffer: NewRecordBuffer) {
    this.#newBuffer = newBuffer;
    this.#buffer = newBuffer(0);
  }

  /** Number of fixes with holders. */
  get size(): number {
    return this.#made - this.#freed;
  }

  /** Allocates the fix of a location. It has no holder yet. */
  // hot
  take(location: ReceivedLocation, derived: Derived, context: FixContext, track?: Track): Fix {
    const fix = this.#take(DERIVED_BYTES + location.recordBytes + (track === undefined ? 0 : TRACK_BYTES));
    fix.write(location, derived, context, track);
    return fix;
  }

  /**
   * Sets the fix of an object from a location. Reuses the memory of its last fix if no other object holds that, so that
   * the data of an object stays together in the CPU caches.
   */
  // hot
  renew(object: Holder, location: ReceivedLocation, derived: Derived, context: FixContext, track?: Track): Fix {
    const { fix: last } = object;
    const bytes = DERIVED_BYTES + location.recordBytes + (track === undefined ? 0 : TRACK_BYTES);
    if (last?.holders === 1 && !last.isTouched && last.capacity >= bytes && last.capacity <= SPARE_FACTOR * bytes) {
      last.write(location, derived, context, track);
      last.isLocated = true;
      return last;
    }
    const fix = this.take(location, derived, context, track);
    fix.isLocated = true;
    this.put(object, fix);
    return fix;
  }

  /** Allocates a copy of a fix, given its bytes. It has no holder yet. */
  takeOver(bytes: Uint8Array, context: FixContext): Fix {
    const fix = this.#take(bytes.length);
    fix.read(bytes, context);
    return fix;
  }

  /** Allocates a copy of a fix with a track. It has no holder yet. */
  tracked(fix: Fix, track: Track): Fix {
    const { providerId, source, zone, timing, trackables, isLocal } = fix;
    const bytes = fix.hasTrack ? fix.bytes.subarray(0, -TRACK_BYTES) : fix.bytes;
    const copy = this.#take(bytes.length + TRACK_BYTES);
    copy.read(bytes, { providerId, source, zone, timing, trackables, isLocal });
    copy.writeTrack(track);
    return copy;
  }

  /** Allocates a copy of a fix with other trackables. It has no holder yet. */
  renamed(fix: Fix, trackables: readonly string[]): Fix {
    const { providerId, source, zone, timing, isLocal } = fix;
    return this.takeOver(fix.bytes, { providerId, source, zone, timing, trackables, isLocal });
  }

  /** Allocates a copy of a fix at another position, in a zone that was replaced. It has no holder yet. */
  inZone(fix: Fix, zone: Zone, lon: number, lat: number): Fix {
    const { providerId, source, timing, trackables, isLocal } = fix;
    const moved = this.takeOver(fix.bytes, { providerId, source, zone, timing, trackables, isLocal });
    moved.locate(lon, lat);
    return moved;
  }

  /** Sets or removes the fix of an object. */
  // hot
  put(object: Holder, fix: Fix | undefined): void {
    const { fix: left } = object;
    if (fix !== undefined) {
      fix.holders++;
      object.hasHadFix = true;
    }
    object.fix = fix;
    if (left === undefined) return;
    left.holders--;
    this.#touch(left);
  }

  /** Ends the step: frees the fixes without holders. */
  // hot
  endStep(): void {
    for (const fix of this.#touched) {
      fix.isTouched = false;
      if (fix.holders === 0) this.#release(fix);
    }
    this.#touched.length = 0;
  }

  /** Frees memory if much of it is unused. `objects` are all objects; call it between two steps. */
  tidy(objects: Iterable<Holder>): void {
    if (this.#freed * 2 < this.#made) return;
    this.#free = [];
    this.#buffer = this.#newBuffer(0);
    this.#used = 0;
    this.#made = 0;
    this.#freed = 0;
    const moved = new Set<Fix>();
    for (const { fix } of objects) {
      if (fix === undefined || moved.has(fix)) continue;
      moved.add(fix);
      this.#made++;
      if (fix.capacity <= SHARED_MAX_BYTES) fix.move(...this.#memoryOf(fix.capacity));
    }
  }

  // hot
  #take(bytes: number): Fix {
    const steps = Math.ceil(bytes / STEP_BYTES);
    let fix = this.#free[steps]?.pop();
    if (fix === undefined) {
      const capacity = steps * STEP_BYTES;
      fix = new Fix(...this.#memoryOf(capacity), capacity);
      this.#made++;
    } else this.#freed--;
    this.#touch(fix);
    return fix;
  }

  #touch(fix: Fix): void {
    if (fix.isTouched) return;
    fix.isTouched = true;
    this.#touched.push(fix);
  }

  #release(fix: Fix): void {
    fix.clear();
    if (fix.capacity > SHARED_MAX_BYTES) {
      this.#made--;
      return;
    }
    this.#freed++;
    const steps = fix.capacity / STEP_BYTES;
    const free = this.#free[steps];
    if (free === undefined) this.#free[steps] = [fix];
    else free.push(fix);
  }

  #memoryOf(capacity: number): [buffer: RecordBuffer, start: number] {
    if (capacity > SHARED_MAX_BYTES) return [this.#newBuffer(capacity), 0];
    if (this.#used + capacity > this.#buffer.bytes.length) {
      this.#buffer = this.#newBuffer(BUFFER_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += capacity;
    return [this.#buffer, start];
  }
}
