import { metersPerLatitude, metersPerLongitude } from '../geo/ellipsoid.ts';
import { shorterTurn } from '../geo/longitude.ts';
import { type MotionEstimate, positionAfter, varianceAfter } from './prediction.ts';

/** A trackable that takes part in collisions, with its motion. */
export interface MovingBody {
  readonly id: string;
  readonly floor: number;
  /** Maximum distance of any part of it from its position, in meters. */
  readonly reachMeters: number;
  /** Its providers, and the trackables that carry it: it does not collide with what has one of them, or is one. */
  readonly providers: readonly string[];
  readonly ancestors: readonly string[];
  readonly estimate: MotionEstimate;
}

/** A forecast collision of two trackables. */
export interface Approach {
  /** The trackable with the smaller id, and the other one. */
  readonly a: MovingBody;
  readonly b: MovingBody;
  /** Time until the closest approach, and the expected distance of the positions then. */
  readonly afterMs: number;
  readonly meters: number;
  /** Probability that they touch at that time. */
  readonly probability: number;
  /** The middle between the two positions then. */
  readonly position: readonly [lon: number, lat: number];
}

/**
 * Returns the pairs that are expected to touch within the horizon, if they continue with their velocities: those whose distance
 * at the closest approach is at most the sum of their extents. The earliest come first, then by id; at most `most`. Pairs that
 * touch already are left out, and those that do not move relative to each other.
 */
export function approaches(
  bodies: readonly MovingBody[],
  { horizonMs, most }: { readonly horizonMs: number; readonly most: number },
): readonly Approach[] {
  const seconds = horizonMs / 1000;
  // Sorted by the south end of the latitudes that a body may reach, so that a body is compared with those that follow only.
  const spans = bodies
    .map((body) => {
      const { lat, east, north } = body.estimate;
      const meters = body.reachMeters + Math.hypot(east, north) * seconds;
      const degrees = meters / metersPerLatitude(0);
      return { body, south: lat - degrees, north: lat + degrees };
    })
    .sort((one, other) => one.south - other.south);
  const found: Approach[] = [];
  for (const [i, one] of spans.entries()) {
    for (let j = i + 1; j < spans.length; j++) {
      const other = spans[j] as (typeof spans)[number];
      if (other.south > one.north) break;
      const [a, b] = one.body.id < other.body.id ? [one.body, other.body] : [other.body, one.body];
      const approach = approachOf(a, b, horizonMs);
      if (approach !== undefined) found.push(approach);
    }
  }
  const sorted = found.sort((x, y) => x.afterMs - y.afterMs || inOrder(x.a.id, y.a.id) || inOrder(x.b.id, y.b.id));
  return sorted.slice(0, most);
}

function approachOf(a: MovingBody, b: MovingBody, horizonMs: number): Approach | undefined {
  if (a.floor !== b.floor) return undefined;
  const [one, other] = [a.estimate, b.estimate];
  const touch = a.reachMeters + b.reachMeters;
  if (touch <= 0) return undefined;
  const vEast = other.east - one.east;
  const vNorth = other.north - one.north;
  const speedSquared = vEast * vEast + vNorth * vNorth;
  // A relative velocity below its own standard deviation is noise.
  if (!(speedSquared > one.velocityVariance + other.velocityVariance)) return undefined;
  const east = shorterTurn(other.lon - one.lon) * metersPerLongitude((one.lat + other.lat) / 2);
  const north = (other.lat - one.lat) * metersPerLatitude((one.lat + other.lat) / 2);
  if (Math.hypot(east, north) <= touch) return undefined;
  const seconds = -(east * vEast + north * vNorth) / speedSquared;
  if (!(seconds > 0 && seconds * 1000 <= horizonMs)) return undefined;
  const meters = Math.hypot(east + vEast * seconds, north + vNorth * seconds);
  if (meters > touch || !canCollide(a, b)) return undefined;
  const variance = varianceAfter(seconds, one) + varianceAfter(seconds, other);
  const middle = [(east + vEast * seconds) / 2, (north + vNorth * seconds) / 2] as const;
  return {
    ...{ a, b, meters, afterMs: seconds * 1000 },
    probability: probabilityWithin(touch, meters, Math.sqrt(variance)),
    position: positionAfter(seconds, one, middle),
  };
}

function canCollide(a: MovingBody, b: MovingBody): boolean {
  if (a.ancestors.includes(b.id) || b.ancestors.includes(a.id)) return false;
  return !a.providers.some((provider) => b.providers.includes(provider));
}

/** Number of pieces of the integral below. */
const PIECES = 64;
/** Standard deviations beyond which the density is zero. */
const TAIL = 6;

/**
 * Returns the probability that a point is within `radius` of another one, of which its expected position is `meters` away, with
 * an error of `sigma` per axis: the cumulative Rice distribution, by the rule of Simpson.
 */
export function probabilityWithin(radius: number, meters: number, sigma: number): number {
  const center = meters / sigma;
  const from = Math.max(0, center - TAIL);
  const to = Math.min(radius / sigma, center + TAIL);
  if (to <= from) return 0;
  const density = (r: number): number => r * Math.exp(-((r - center) ** 2) / 2) * scaledBessel(r * center);
  const width = (to - from) / PIECES;
  let sum = density(from) + density(to);
  for (let i = 1; i < PIECES; i++) sum += (i % 2 === 1 ? 4 : 2) * density(from + i * width);
  return Math.min(1, (sum * width) / 3);
}

/** exp(-x) I0(x) for x >= 0, to 2e-7 (Abramowitz, Stegun: Handbook of Mathematical Functions, 9.8.1 and 9.8.2). */
function scaledBessel(x: number): number {
  if (x < 3.75) {
    const t = (x / 3.75) ** 2;
    const small = [1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813];
    return Math.exp(-x) * polynomial(small, t);
  }
  const large = [
    ...[0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281],
    ...[-0.02057706, 0.02635537, -0.01647633, 0.00392377],
  ];
  return polynomial(large, 3.75 / x) / Math.sqrt(x);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
