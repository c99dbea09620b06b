import { type MotionEstimate, positionAfter, varianceAfter } from './prediction.ts';

/**
 * Forecast of entries and exits. The future position of an object has a normal distribution, which a fixed set of
 * points of equal probability represents: a sunflower of Fibonacci (H. Vogel, 1979) in units of the standard deviation.
 * Each point is a way, and the probability of an event is the share of the ways with it. So regions of any form, and
 * extents, need no formula of their own. The result depends on nothing but its arguments.
 */

/** The region of a fence for an object with its extent. */
export interface ForecastRegion {
  /** Whether the object touches it at a position. */
  touches(lon: number, lat: number): boolean;
  /** Distance in meters from a position outside, minus the depth inside. */
  separation(lon: number, lat: number): number;
}

/** Event of an object at a fence within the horizon. `afterMs` is the time until it; absent for a stay. */
export interface FenceForecast {
  readonly event: 'enter' | 'exit' | 'stay';
  readonly probability: number;
  readonly afterMs?: number;
}

/** Number of ways, and of times at which they are evaluated. */
const [WAYS, STEPS] = [50, 20] as const;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Points of equal probability of the normal distribution in the plane. */
const POINTS = Array.from({ length: WAYS }, (_, i): readonly [number, number] => {
  const radius = Math.sqrt(-2 * Math.log(1 - (i + 0.5) / WAYS));
  return [radius * Math.cos(i * GOLDEN_ANGLE), radius * Math.sin(i * GOLDEN_ANGLE)];
});
const RADIUS_MAX = Math.sqrt(-2 * Math.log(0.5 / WAYS));

/** Returns how far from its present position an object may be within the horizon, in meters. */
export function reachWithin(horizonMs: number, estimate: MotionEstimate): number {
  const seconds = horizonMs / 1000;
  return Math.hypot(estimate.east, estimate.north) * seconds + RADIUS_MAX * Math.sqrt(varianceAfter(seconds, estimate));
}

/**
 * Returns what an object will do at a fence that it is inside of or not. Undefined for an object outside that does not enter on
 * any of the ways. Times are exact to a twentieth of the horizon.
 */
export function forecastFence(
  region: ForecastRegion,
  { estimate, isInside, horizonMs }: { estimate: MotionEstimate; isInside: boolean; horizonMs: number },
): FenceForecast | undefined {
  const changedMs: number[] = [];
  let waiting: readonly (readonly [number, number])[] = POINTS;
  for (let step = 0; step <= STEPS && waiting.length > 0; step++) {
    const afterMs = (horizonMs * step) / STEPS;
    const seconds = afterMs / 1000;
    const sigma = Math.sqrt(varianceAfter(seconds, estimate));
    const separation = region.separation(...positionAfter(seconds, estimate));
    // Far from the edge all ways are on the same side of it.
    const isClear = Math.abs(separation) > RADIUS_MAX * sigma;
    if (isClear && separation <= 0 === isInside) continue;
    const isOnSide = ([x, y]: readonly [number, number]): boolean => {
      if (isClear) return false;
      return region.touches(...positionAfter(seconds, estimate, [sigma * x, sigma * y])) === isInside;
    };
    const staying = waiting.filter(isOnSide);
    for (let i = staying.length; i < waiting.length; i++) changedMs.push(afterMs);
    waiting = staying;
  }
  const probability = changedMs.length / WAYS;
  const median = changedMs[changedMs.length >> 1];
  if (isInside && (median === undefined || probability < 0.5)) return { event: 'stay', probability: 1 - probability };
  return median === undefined ? undefined : { event: isInside ? 'exit' : 'enter', probability, afterMs: median };
}
