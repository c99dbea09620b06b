import { destination } from '../geo/geodesic.ts';
import { roundDegrees } from '../geo/rounding.ts';

/** How local coordinates lie on the earth without a zone. */
export interface Reference {
  /** Longitude and latitude of the local reference. */
  readonly global: readonly number[];
  readonly local: readonly number[];
  /** Degrees by which the local y axis points clockwise from true north. */
  readonly clockwiseDegrees: number;
}

/**
 * Puts a local position on the earth: as far from the reference as it is in metres, in the direction in which it is.
 * Returns longitude and latitude, with the position's z if it has one.
 */
export function placeLocal(position: readonly number[], { global, local, clockwiseDegrees }: Reference): number[] {
  const [x = 0, y = 0, z] = position;
  const east = x - (local[0] ?? 0);
  const north = y - (local[1] ?? 0);
  const bearing = (Math.atan2(east, north) * 180) / Math.PI + clockwiseDegrees;
  const out: [number, number] = [0, 0];
  destination(global[0] ?? 0, global[1] ?? 0, bearing, Math.hypot(east, north), out);
  const placed = [roundDegrees(out[0]), roundDegrees(out[1])];
  return z === undefined ? placed : [...placed, z];
}
