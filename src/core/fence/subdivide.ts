import { metersPerLatitude, metersPerLongitude } from '../geo/ellipsoid.ts';
import { edgeTurn, wrapLongitude } from '../geo/longitude.ts';

type Ring = number[][];

/** Target distance between consecutive positions, and maximum number of positions created for it. */
const STEP_METERS = 10;
const POSITIONS_MAX = 10_000;

/** Coordinate space of rings. */
export interface CoordinateSpace {
  /** Whether x and y are longitude and latitude. */
  readonly geographic: boolean;
  /** Returns the length in meters of the straight edge between two positions. */
  meters(from: readonly number[], to: readonly number[]): number;
}

/** Coordinates in meters. */
export const METERS: CoordinateSpace = {
  geographic: false,
  meters: ([x1 = 0, y1 = 0], [x2 = 0, y2 = 0]) => Math.hypot(x2 - x1, y2 - y1),
};

/** Longitude and latitude. `meters` never underestimates an edge. */
export const DEGREES: CoordinateSpace = {
  geographic: true,
  meters([lon1 = 0, lat1 = 0], [lon2 = 0, lat2 = 0]) {
    const crossesEquator = lat1 * lat2 <= 0;
    const [least, most] = [Math.min(Math.abs(lat1), Math.abs(lat2)), Math.max(Math.abs(lat1), Math.abs(lat2))];
    const east = eastward([lon1, lat1], [lon2, lat2]) * metersPerLongitude(crossesEquator ? 0 : least);
    return Math.hypot(east, (lat2 - lat1) * metersPerLatitude(most));
  },
};

/**
 * Returns the rings with positions added on their edges so that consecutive ones are at most 10 m apart; the shape is
 * unchanged. The distance is greater if that would take more than 10,000 positions.
 */
export function subdivideRings(rings: readonly Ring[], space: CoordinateSpace): Ring[] {
  let pieces = 0;
  for (const edge of edgesOf(rings)) pieces += Math.ceil(space.meters(...edge) / STEP_METERS);
  const step = STEP_METERS * Math.max(1, pieces / POSITIONS_MAX);
  return rings.map((ring) => {
    const dense: Ring = ring.slice(0, 1);
    for (const [from, to] of edgesOf([ring])) {
      const parts = Math.ceil(space.meters(from, to) / step);
      for (let part = 1; part < parts; part++) dense.push(between(from, to, part / parts, space));
      dense.push(to);
    }
    return dense;
  });
}

function edgesOf(rings: readonly Ring[]): [number[], number[]][] {
  return rings.flatMap((ring) => ring.slice(1).map((to, i): [number[], number[]] => [ring[i] as number[], to]));
}

function between(
  from: readonly number[],
  to: readonly number[],
  share: number,
  { geographic }: CoordinateSpace,
): number[] {
  const [x1 = 0, y1 = 0, z1] = from;
  const [x2 = 0, y2 = 0, z2] = to;
  const dx = geographic ? eastward(from, to) : x2 - x1;
  const x = x1 + dx * share;
  const crosses = dx !== x2 - x1;
  const position = [crosses ? wrapLongitude(x) : x, y1 + (y2 - y1) * share];
  if (z1 !== undefined && z2 !== undefined) position.push(z1 + (z2 - z1) * share);
  return position;
}

/** Returns the degrees of longitude from one position to the next. */
function eastward([lon1 = 0, lat1 = 0]: readonly number[], [lon2 = 0, lat2 = 0]: readonly number[]): number {
  const step = lon2 - lon1;
  return step - edgeTurn(step, lat1 === lat2);
}
