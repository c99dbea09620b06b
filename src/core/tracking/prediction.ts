import { MovingPlane } from './moving_plane.ts';
import { AGE, EAST, LAT, LON, NORTH, P11, P12, P22, STILL_UNKNOWN, hasFlag, type Track } from './track.ts';

/**
 * Future positions of a filtered object: it continues with its velocity. The acceleration is independent from second to
 * second, so the variance grows with the cube of the time (Bar-Shalom, Li, Kirubarajan 2001, section 6.2.2).
 */

/** Estimate of an object at one time. Meters and seconds; both axes share the variances. */
export interface MotionEstimate {
  readonly lon: number;
  readonly lat: number;
  readonly east: number;
  readonly north: number;
  readonly positionVariance: number;
  readonly covariance: number;
  readonly velocityVariance: number;
  /** Standard deviation of the acceleration. */
  readonly processNoise: number;
}

const plane = new MovingPlane();

/** Variance of a position after `seconds`, in m². */
export function varianceAfter(
  seconds: number,
  { positionVariance, covariance, velocityVariance, processNoise }: MotionEstimate,
): number {
  const noise = processNoise * processNoise * Math.min(seconds, 1);
  return (
    positionVariance +
    2 * seconds * covariance +
    seconds * seconds * velocityVariance +
    (noise * seconds * seconds * seconds) / 3
  );
}

/** Returns the position after `seconds`, `away` meters east and north of the expected one. */
export function positionAfter(
  seconds: number,
  { lon, lat, east, north }: MotionEstimate,
  [awayEast, awayNorth]: readonly [east: number, north: number] = [0, 0],
): readonly [lon: number, lat: number] {
  plane.touch(lon, lat);
  plane.toEarth(east * seconds + awayEast, north * seconds + awayNorth);
  return [plane.position[0], plane.position[1]];
}

/**
 * Returns the estimate of a track `sinceMs` after the event time that its ages count from. Undefined while the velocity is
 * unknown, and after `maxGapMs` without an accepted location.
 */
export function estimateOf(
  track: Track,
  sinceMs: number,
  { processNoise, maxGapMs }: { readonly processNoise: number; readonly maxGapMs: number },
): MotionEstimate | undefined {
  const ageMs = (track[AGE] as number) + sinceMs;
  if (hasFlag(track, STILL_UNKNOWN) || ageMs > maxGapMs) return undefined;
  const seconds = Math.max(0, ageMs) / 1000;
  const before: MotionEstimate = {
    lon: track[LON] as number,
    lat: track[LAT] as number,
    east: track[EAST] as number,
    north: track[NORTH] as number,
    positionVariance: track[P11] as number,
    covariance: track[P12] as number,
    velocityVariance: track[P22] as number,
    processNoise,
  };
  const [lon, lat] = positionAfter(seconds, before);
  const noise = processNoise * processNoise * Math.min(seconds, 1);
  return {
    ...before,
    lon,
    lat,
    positionVariance: varianceAfter(seconds, before),
    covariance: before.covariance + seconds * before.velocityVariance + (noise * seconds * seconds) / 2,
    velocityVariance: before.velocityVariance + noise * seconds,
  };
}
