import { geodesicMeters } from '../../core/geo/geodesic.ts';

/** Positions of an object by time, as columns. */
export interface Track {
  /** Milliseconds since 1970. */
  readonly times: ArrayLike<number>;
  readonly lons: ArrayLike<number>;
  readonly lats: ArrayLike<number>;
}

/** A stay within a circle, as a range of positions that excludes `end`. */
export interface TrackStay {
  readonly first: number;
  readonly end: number;
  /** Mean of the positions. */
  readonly lon: number;
  readonly lat: number;
}

interface StayOptions {
  readonly radiusMeters: number;
  readonly minStopMs: number;
  /** A longer gap between positions ends a stay. */
  readonly maxGapMs: number;
}

/**
 * Finds stops in a track (Li et al., "Mining user similarity based on location history", 2008). A stay lasts as long as
 * the object is within the radius of the stay's first position. If it is long enough, it is a stop, and the next stay
 * starts after it; otherwise the next stay starts at the next position.
 *
 * A stay is long enough if all positions up to `needed`, the first one that is `minStopMs` later, are near its first
 * position. If one is not, this outlier is usually too far from the following first positions as well, so one
 * comparison rules out each of them. Otherwise another outlier is searched, backwards from the latest position, because
 * a late outlier serves longest. So the run time grows with the number of positions, not with the length of stops.
 */
export function staysOf(
  { times, lons, lats }: Track,
  { radiusMeters, minStopMs, maxGapMs }: StayOptions,
): readonly TrackStay[] {
  const stays: TrackStay[] = [];
  const count = times.length;
  const at = (values: ArrayLike<number>, i: number): number => values[i] as number;
  const isFar = (a: number, b: number): boolean =>
    geodesicMeters(at(lons, a), at(lats, a), at(lons, b), at(lats, b)) > radiusMeters;
  const isCut = (i: number): boolean => i === count || at(times, i) - at(times, i - 1) > maxGapMs;
  /** The first position at least `minStopMs` after `first`, or the last one before a gap. */
  let needed = 0;
  let outlier = 0;
  for (let first = 0; first < count; ) {
    needed = Math.max(needed, first);
    while (at(times, needed) - at(times, first) < minStopMs && !isCut(needed + 1)) needed++;
    if (at(times, needed) - at(times, first) < minStopMs) {
      // The track ends, or the object is silent, before any stay that starts here or later could be long enough.
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

/** Returns the length of a range of positions, in meters. */
export function lengthOf({ lons, lats }: Track, first: number, last: number): number {
  let meters = 0;
  for (let i = first; i < last; i++) {
    meters += geodesicMeters(lons[i] as number, lats[i] as number, lons[i + 1] as number, lats[i + 1] as number);
  }
  return meters;
}
