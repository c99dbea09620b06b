import type { Zone } from '../../model/zone.ts';
import { DERIVED_BYTES, type Derived, Place, type PlaceContext } from './fix.ts';
import type { ReceivedLocation } from './received.ts';
import type { NewRecordBuffer, RecordBuffer } from './record.ts';

/** Memory is given out in steps of so many bytes: one that was left fits the next location nearly always. */
const STEP_BYTES = 64;
/** Larger places have a buffer of their own, which is not used again. */
const SHARED_MAX_BYTES = 4096;
const BUFFER_BYTES = 1 << 20;

/** Who is at a place. */
interface Holder {
  place: Place | undefined;
}

/**
 * All places of a shard. Each location replaces the place of its provider: as objects of the heap places would live just
 * long enough to be copied by each collection of garbage. So the memory of a place that nobody is at any more is
 * used again, once the step is over.
 */
export class Places {
  /** Places that nobody is at, by steps of memory. */
  #free: Place[][] = [];
  readonly #touched: Place[] = [];
  #buffer: RecordBuffer;
  #used = 0;
  #made = 0;
  #freed = 0;
  readonly #newBuffer: NewRecordBuffer;

  constructor(newBuffer: NewRecordBuffer) {
    this.#newBuffer = newBuffer;
    this.#buffer = newBuffer(0);
  }

  /** How many places somebody is at. */
  get size(): number {
    return this.#made - this.#freed;
  }

  /** The place of a location. Nobody is at it yet. */
  // hot
  take(location: ReceivedLocation, derived: Derived, context: PlaceContext): Place {
    const place = this.#take(DERIVED_BYTES + location.recordBytes);
    place.write(location, derived, context);
    return place;
  }

  /** A place as another one was, given its bytes. Nobody is at it yet. */
  takeOver(bytes: Uint8Array, context: PlaceContext): Place {
    const place = this.#take(bytes.length);
    place.read(bytes, context);
    return place;
  }

  /** The same place, naming other trackables. Nobody is at it yet. */
  renamed(place: Place, trackables: readonly string[]): Place {
    const { providerId, source, zone, timing, isLocal } = place;
    return this.takeOver(place.bytes, { providerId, source, zone, timing, trackables, isLocal });
  }

  /** The same location at another place on the earth, in a zone that was replaced. Nobody is at it yet. */
  inZone(place: Place, zone: Zone, lon: number, lat: number): Place {
    const { providerId, source, timing, trackables, isLocal } = place;
    const moved = this.takeOver(place.bytes, { providerId, source, zone, timing, trackables, isLocal });
    moved.locate(lon, lat);
    return moved;
  }

  /** Puts an object to a place, or to none. */
  // hot
  put(object: Holder, place: Place | undefined): void {
    const { place: left } = object;
    if (place !== undefined) place.holders++;
    object.place = place;
    if (left === undefined) return;
    left.holders--;
    this.#touch(left);
  }

  /** The step is over: what nobody is at may be used again. */
  // hot
  endStep(): void {
    for (const place of this.#touched) {
      place.isTouched = false;
      if (place.holders === 0) this.#release(place);
    }
    this.#touched.length = 0;
  }

  /** Gives back memory that is not used, when it is much; given all objects, between two steps. */
  tidy(objects: Iterable<Holder>): void {
    if (this.#freed * 2 < this.#made) return;
    this.#free = [];
    this.#buffer = this.#newBuffer(0);
    this.#used = 0;
    this.#made = 0;
    this.#freed = 0;
    const moved = new Set<Place>();
    for (const { place } of objects) {
      if (place === undefined || moved.has(place)) continue;
      moved.add(place);
      this.#made++;
      if (place.capacity <= SHARED_MAX_BYTES) place.move(...this.#memoryOf(place.capacity));
    }
  }

  // hot
  #take(bytes: number): Place {
    const steps = Math.ceil(bytes / STEP_BYTES);
    let place = this.#free[steps]?.pop();
    if (place === undefined) {
      const capacity = steps * STEP_BYTES;
      place = new Place(...this.#memoryOf(capacity), capacity);
      this.#made++;
    } else this.#freed--;
    this.#touch(place);
    return place;
  }

  #touch(place: Place): void {
    if (place.isTouched) return;
    place.isTouched = true;
    this.#touched.push(place);
  }

  #release(place: Place): void {
    place.clear();
    if (place.capacity > SHARED_MAX_BYTES) {
      this.#made--;
      return;
    }
    this.#freed++;
    const steps = place.capacity / STEP_BYTES;
    const free = this.#free[steps];
    if (free === undefined) this.#free[steps] = [place];
    else free.push(place);
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
