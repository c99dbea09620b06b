import { geodesicMeters } from '../../core/geo/geodesic.ts';

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
 * object is within the radius of it. One that is long enough is a stop, and the next begins after it; otherwise the next
 * begins at the next place.
 *
 * A stay is long enough if all places up to `needed`, the first one that is `minStopMs` later, are near its first place. Where
 * one is not, that place, the outlier, is as a rule too far from the next first places as well: one comparison rules each of
 * them out. Only when it no longer does are places searched for another outlier, from the latest one backwards, since the
 * latest one serves longest. So the time grows with the number of places, and not with that of the places in a stop.
 */
export function staysOf(
  { times, lons, lats }: Track,
  { radiusMetres, minStopMs, maxGapMs }: StayOptions,
): readonly Stay[] {
  const stays: Stay[] = [];
  const count = times.length;
  const at = (values: ArrayLike<number>, i: number): number => values[i] as number;
  const isFar = (a: number, b: number): boolean =>
    geodesicMeters(at(lons, a), at(lats, a), at(lons, b), at(lats, b)) > radiusMetres;
  const isCut = (i: number): boolean => i === count || at(times, i) - at(times, i - 1) > maxGapMs;
  /** Between `first` and `needed` there is no cut. */
  let needed = 0;
  let outlier = 0;
  for (let first = 0; first < count; ) {
    needed = Math.max(needed, first);
    while (at(times, needed) - at(times, first) < minStopMs && !isCut(needed + 1)) needed++;
    if (at(times, needed) - at(times, first) < minStopMs) {
      // The places end, or the object is silent, before a stay can be long enough: also one that begins later.
      first = needed + 1;
      continue;
    }
    if (outlier <= first || !isFar(first, outlier)) {
      outlier = needed;
      while (outlier > first && !isFar(first, outlier)) outlier--;
    }
    if (outlier > first) {
      first++;
      continue;
    }
    let end = needed + 1;
    while (!isCut(end) && !isFar(first, end)) end++;
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
    metres += geodesicMeters(lons[i] as number, lats[i] as number, lons[i + 1] as number, lats[i + 1] as number);
  }
  return metres;
}
