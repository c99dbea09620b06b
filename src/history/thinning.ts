import type { RecordBuffer } from '../core/location/record.ts';
import { PLACE_NUMBERS, placeNumber, placeTexts } from '../core/recorded.ts';

const [TIME, LONGITUDE, LATITUDE] = (['time', 'longitude', 'latitude'] as const).map((name) =>
  PLACE_NUMBERS.indexOf(name),
) as [number, number, number];
/** Of more objects the earliest are forgotten. */
const OBJECTS_MAX = 200_000;

interface ThinningOptions {
  readonly minIntervalMs: number;
  readonly minDistanceMetres: number;
  metres(lon1: number, lat1: number, lon2: number, lat2: number): number;
}

interface Last {
  readonly timeMs: number;
  readonly lon: number;
  readonly lat: number;
}

/** Leaves out places of an object that are too soon after, or too near to, the last that was recorded of it. */
export class Thinning {
  readonly #options: ThinningOptions;
  readonly #last = new Map<string, Last>();

  constructor(options: ThinningOptions) {
    this.#options = options;
  }

  /** Whether a place is to be left out; otherwise it is the last one from now on. */
  leavesOut(buffer: RecordBuffer, at: number): boolean {
    const { id } = placeTexts(buffer, at);
    const place = {
      timeMs: placeNumber(buffer, at, TIME),
      lon: placeNumber(buffer, at, LONGITUDE),
      lat: placeNumber(buffer, at, LATITUDE),
    };
    const last = this.#last.get(id);
    if (last !== undefined && this.#isClose(last, place)) return true;
    if (last === undefined && this.#last.size >= OBJECTS_MAX) {
      const [first] = this.#last.keys();
      this.#last.delete(first as string);
    }
    this.#last.set(id, place);
    return false;
  }

  #isClose(last: Last, { timeMs, lon, lat }: Last): boolean {
    const { minIntervalMs, minDistanceMetres, metres } = this.#options;
    if (timeMs - last.timeMs < minIntervalMs) return true;
    return minDistanceMetres > 0 && metres(last.lon, last.lat, lon, lat) < minDistanceMetres;
  }
}
