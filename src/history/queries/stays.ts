import { geodesicMetres } from '../../core/geo/geodesic.ts';

/** Places of an object in the order of their times, as columns. */
export interface Track {
  /** Milliseconds since 1970. */
  readonly times: ArrayLike<number>;
  readonly lons: ArrayLike<number>;
  readonly lats: ArrayLike<number>;
}

/** A stay within a circle, of the places from one to another one, which is not in it. */
export interface Stay {
  readonly first: number;
  readonly end: number;
  /** The mean of its places. */
  readonly lon: number;
  readonly lat: number;
}

interface StayOptions {
  readonly radiusMetres: number;
  readonly minStopMs: number;
  /** Places that are further apart in time belong to no common stay. */
  readonly maxGapMs: number;
}

/**
 * Stays by the first place of each (Li et al., "Mining user similarity based on location history", 2008): as long as the
 * object is within the radius of it. One that is long enough is a stop, and the next begins behind it; otherwise the next
 * begins at the next place.
 */
export function staysOf(
  { times, lons, lats }: Track,
  { radiusMetres, minStopMs, maxGapMs }: StayOptions,
): readonly Stay[] {
  const stays: Stay[] = [];
  const count = times.length;
  const at = (values: ArrayLike<number>, i: number): number => values[i] as number;
  for (let first = 0; first < count; ) {
    let end = first + 1;
    while (
      end < count &&
      at(times, end) - at(times, end - 1) <= maxGapMs &&
      geodesicMetres(at(lons, first), at(lats, first), at(lons, end), at(lats, end)) <= radiusMetres
    ) {
      end++;
    }
    if (at(times, end - 1) - at(times, first) < minStopMs) {
      first++;
      continue;
    }
    let [lon, lat] = [0, 0];
    for (let i = first; i < end; i++) {
      lon += at(lons, i);
      lat += at(lats, i);
    }
    stays.push({ first, end, lon: lon / (end - first), lat: lat / (end - first) });
    first = end;
  }
  return stays;
}

/** How far it is from place to place, in metres. */
export function lengthOf({ lons, lats }: Track, first: number, last: number): number {
  let metres = 0;
  for (let i = first; i < last; i++) {
    metres += geodesicMetres(lons[i] as number, lats[i] as number, lons[i + 1] as number, lats[i + 1] as number);
  }
  return metres;
}
