import type { ToWgs84 } from './crs.ts';
import { metersPerLatitude, metersPerLongitude } from './ellipsoid.ts';
import { shorterTurn } from './longitude.ts';
import { flatLine, flatRing } from './rings.ts';

/** Target deviation between an edge and its chords, and maximum number of points of all rings together. */
const DEVIATION_METERS = 1e-4;
const MAX_POINTS = 20_000;
const MAX_DEPTH = 30;

/**
 * Converts closed rings of a plane to longitude and latitude. A straight edge of the plane is curved there, so it is
 * halved until each piece deviates less than 0.1 mm from its chord. If that takes too many points, for edges of
 * hundreds of kilometers, the allowed deviation grows; the deviation used is returned.
 */
export function densifyRings(
  rings: readonly Float64Array[],
  toWgs84: ToWgs84,
): { readonly rings: Float64Array[]; readonly deviationMeters: number } {
  const given = rings.reduce((sum, ring) => sum + ring.length / 2, 0);
  // Each factor of four halves the number of pieces. An infinite deviation adds no point, so the loop ends.
  for (let deviationMeters = DEVIATION_METERS; ; deviationMeters *= 4) {
    const limit = deviationMeters > 1e3 ? Number.POSITIVE_INFINITY : deviationMeters;
    const budget = { points: Math.max(MAX_POINTS - given, MAX_POINTS / 2) };
    const dense = rings.map((ring) => flatRing(densify(ring, { toWgs84, limit, budget }), true));
    if (budget.points >= 0 || limit === Number.POSITIVE_INFINITY) return { rings: dense, deviationMeters };
  }
}

/** Converts a line of a plane to longitude and latitude, like densifyRings, but always to within 0.1 mm. */
export function densifyLine(line: Float64Array, toWgs84: ToWgs84): Float64Array {
  return flatLine(densify(line, { toWgs84, limit: DEVIATION_METERS, budget: { points: MAX_POINTS } }), true);
}

interface Task {
  readonly toWgs84: ToWgs84;
  readonly limit: number;
  /** Points that may still be added; negative once the limit is exceeded. */
  readonly budget: { points: number };
}

/** A point of an edge, in the plane and on the earth. */
interface Spot {
  readonly x: number;
  readonly y: number;
  readonly lon: number;
  readonly lat: number;
}

function densify(ring: Float64Array, task: Task): [number, number][] {
  const positions: [number, number][] = [];
  let from = spot(ring[0] as number, ring[1] as number, task);
  positions.push([from.lon, from.lat]);
  for (let i = 2; i < ring.length; i += 2) {
    const to = spot(ring[i] as number, ring[i + 1] as number, task);
    halve({ from, to }, task, positions, 0);
    from = to;
  }
  return positions;
}

function halve({ from, to }: { from: Spot; to: Spot }, task: Task, positions: [number, number][], depth: number): void {
  const middle = spot((from.x + to.x) / 2, (from.y + to.y) / 2, task);
  const isFine = depth >= MAX_DEPTH || task.budget.points < 0 || task.limit === Number.POSITIVE_INFINITY;
  if (isFine || followsChord({ from, to }, middle, task)) {
    positions.push([to.lon, to.lat]);
    return;
  }
  task.budget.points--;
  halve({ from, to: middle }, task, positions, depth + 1);
  halve({ from: middle, to }, task, positions, depth + 1);
}

/**
 * Whether an edge follows its chord. A quarter point is checked too, since an S-shaped edge may cross its chord in the
 * middle.
 */
function followsChord({ from, to }: { from: Spot; to: Spot }, middle: Spot, task: Task): boolean {
  if (deviation(from, to, middle) > task.limit) return false;
  const quarter = spot(from.x * 0.75 + to.x * 0.25, from.y * 0.75 + to.y * 0.25, task);
  // NaN (the plane is not defined here) counts as following: the region is rejected later.
  return !(deviation(from, to, quarter) > task.limit);
}

/**
 * Returns the distance in meters of a spot from the chord between two others, which is straight in longitude and
 * latitude.
 */
function deviation(from: Spot, to: Spot, at: Spot): number {
  const scaleX = metersPerLongitude(at.lat);
  const scaleY = metersPerLatitude(at.lat);
  const dx = shorterTurn(to.lon - from.lon) * scaleX;
  const dy = (to.lat - from.lat) * scaleY;
  const px = shorterTurn(at.lon - from.lon) * scaleX;
  const py = (at.lat - from.lat) * scaleY;
  const length = Math.hypot(dx, dy);
  return length === 0 ? Math.hypot(px, py) : Math.abs(dx * py - dy * px) / length;
}

function spot(x: number, y: number, { toWgs84 }: Task): Spot {
  const out: [number, number] = [Number.NaN, Number.NaN];
  toWgs84(x, y, out);
  return { x, y, lon: out[0], lat: out[1] };
}
