import { RADIANS, metersPerLatitude, metersPerLongitude } from '../geo/ellipsoid.ts';
import { shorterTurn, wrapLongitude } from '../geo/longitude.ts';

/** Longitude and latitude in degrees. */
interface LonLat {
  readonly lon: number;
  readonly lat: number;
}

/**
 * Straight segment between two positions, by the fraction of the way from 0 to 1. It is straight in longitude and
 * latitude, as the edges of regions are; near the poles it is a great circle. Over 100 m the two differ by less than 1
 * cm up to 89° of latitude.
 */
export interface Segment {
  readonly from: LonLat;
  readonly to: LonLat;
  /** Length in meters: an upper bound that exceeds it by less than 0.1 %, or 2 % near the poles. */
  readonly meters: number;
  /** Number of pieces that are straight in longitude and latitude. */
  readonly pieces: number;
  /** Writes longitude (within ±180) and latitude at a fraction to `out`. */
  readonly at: (fraction: number, out: [lon: number, lat: number]) => void;
}

/** Latitude in degrees from which segments are great circles. */
const POLAR_DEGREES = 89;
const POLAR_PIECES = 64;
/**
 * Bounds of the errors of lengths: those of distances to fences, 1 mm per 100 m, and of the sphere instead of the
 * ellipsoid.
 */
const [LENGTH_MARGIN, POLAR_MARGIN] = [1.0005, 1.01] as const;

/** Returns the segment between two positions. */
export function segmentBetween(from: LonLat, to: LonLat): Segment {
  const low = Math.min(Math.abs(from.lat), Math.abs(to.lat));
  const high = Math.max(Math.abs(from.lat), Math.abs(to.lat));
  return high > POLAR_DEGREES ? greatCircle(from, to) : straight(from, to, from.lat * to.lat < 0 ? 0 : low, high);
}

function straight(from: LonLat, to: LonLat, low: number, high: number): Segment {
  const lonStep = shorterTurn(to.lon - from.lon);
  const latStep = to.lat - from.lat;
  return {
    from,
    to,
    meters: Math.hypot(lonStep * metersPerLongitude(low), latStep * metersPerLatitude(high)) * LENGTH_MARGIN,
    pieces: 1,
    at(fraction, out) {
      out[0] = wrapLongitude(from.lon + fraction * lonStep);
      out[1] = from.lat + fraction * latStep;
    },
  };
}

function greatCircle(from: LonLat, to: LonLat): Segment {
  const [a, b] = [onSphere(from), onSphere(to)];
  const [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const angle = 2 * Math.asin(Math.min(1, Math.hypot(x, y, z) / 2));
  const meters = (angle / RADIANS) * metersPerLatitude(90) * POLAR_MARGIN;
  const sine = Math.sin(angle);
  return {
    from,
    to,
    meters,
    pieces: POLAR_PIECES,
    at(fraction, out) {
      // Opposite points have no great circle of their own: a gap of 10 s does not span half the earth.
      const [u, v] =
        sine > 0 ? [Math.sin((1 - fraction) * angle), Math.sin(fraction * angle)] : [1 - fraction, fraction];
      const [px, py, pz] = [u * a[0] + v * b[0], u * a[1] + v * b[1], u * a[2] + v * b[2]];
      out[0] = Math.atan2(py, px) / RADIANS;
      out[1] = Math.atan2(pz, Math.hypot(px, py)) / RADIANS;
    },
  };
}

function onSphere({ lon, lat }: LonLat): readonly [x: number, y: number, z: number] {
  const across = Math.cos(lat * RADIANS);
  return [across * Math.cos(lon * RADIANS), across * Math.sin(lon * RADIANS), Math.sin(lat * RADIANS)];
}
