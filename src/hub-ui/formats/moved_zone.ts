import { roundMeters } from '../../core/geo/rounding.ts';
import { type ControlPoints, hull, georeference } from '../map/plane/georeference.ts';
import { EARTH, fromMap, type MapPoint, type Position, toMap, unitsPerMeter } from '../map/plane/plane.ts';
import { type Pair, pairsOf, rowsOf } from '../setup/zones/pairs.ts';

/** Tolerance of a rigid motion of all corners, in meters. */
const RIGID_M = 0.05;
/** Tolerance of the scale of a rigid motion: distances in a map projection are not exact. */
const SCALE_DIFFERENCE = 0.001;

/** Outline of a zone in exports: the convex hull of its control points, open, counterclockwise. */
export function outlineOf(rows: ControlPoints): readonly Position[] {
  return hull(pairsOf(rows).map(({ earth }) => earth));
}

/**
 * Control points of a zone whose outline was edited in another program.
 *
 *     outline                              control points
 *     unchanged                            unchanged
 *     moved or turned as a whole           moved with it: each keeps its meters
 *     some corners moved, added, removed   new corners get the meters that the previous points give them there, so axes,
 *                                          scale and origin stay; the others are unchanged
 */
export function controlPointsFor(
  outline: readonly Position[],
  rows: ControlPoints,
  toleranceDegrees: number,
): number[][] {
  const isSame = (one: Position, other: Position): boolean =>
    [0, 1].every((axis) => Math.abs((one[axis] ?? 0) - (other[axis] ?? 0)) <= toleranceDegrees);
  const pairs = pairsOf(rows);
  const before = outlineOf(rows);
  const isUnchanged = (corner: Position): boolean => outline.some((each) => isSame(each, corner));
  const isNew = (corner: Position): boolean => !pairs.some(({ earth }) => isSame(earth, corner));
  const added = outline.filter(isNew);
  const removed = before.filter((corner) => !isUnchanged(corner));
  if (added.length === 0 && removed.length === 0) return rowsOf(pairs);
  if (added.length === outline.length && removed.length === before.length) {
    const moved = movedAsWhole(pairs, before, outline);
    if (moved !== undefined) return rowsOf(moved);
  }
  const placement = georeference(rows);
  if (placement === undefined) return rowsOf(pairs);
  const extended = added.map((corner): Pair => {
    return { earth: corner.slice(0, 2), own: placement.fromMap(toMap(EARTH, corner)).map(roundMeters) };
  });
  return rowsOf([...pairs.filter(({ earth }) => !removed.includes(earth)), ...extended]);
}

/** Moved pairs, if one rigid motion moves all corners; undefined otherwise. */
function movedAsWhole(
  pairs: readonly Pair[],
  before: readonly Position[],
  after: readonly Position[],
): Pair[] | undefined {
  if (before.length !== after.length) return undefined;
  // A square matches itself in four ways. The order of the corners decides, unless a program has changed it.
  const motions = ordersOf(after).flatMap((corners) => motionOf(before, corners) ?? []);
  const motion = motionOf(before, after) ?? motions.sort((one, other) => other.cosine - one.cosine)[0];
  return motion && pairs.map(({ earth, own }) => ({ earth: motion.move(earth), own }));
}

/** All rotations and both directions of a ring, the original first, since programs start rings at any corner. */
function ordersOf(ring: readonly Position[]): readonly (readonly Position[])[] {
  return [ring, ring.toReversed()].flatMap((each) => {
    return each.map((_, start) => [...each.slice(start), ...each.slice(0, start)]);
  });
}
interface Motion {
  readonly move: (position: Position) => Position;
  /** Cosine of the rotation angle. */
  readonly cosine: number;
}

/** Rigid motion that maps corners onto others, or undefined. */
function motionOf(before: readonly Position[], after: readonly Position[]): Motion | undefined {
  const from = before.map((corner) => toMap(EARTH, corner));
  const to = after.map((corner) => toMap(EARTH, corner));
  const [centerFrom, centerTo] = [centerOf(from), centerOf(to)];
  let [along, across, spread] = [0, 0, 0];
  for (const [i, point] of from.entries()) {
    const [x, y] = minus(point, centerFrom);
    const [u, v] = minus(to[i] ?? centerTo, centerTo);
    along += x * u + y * v;
    across += x * v - y * u;
    spread += x * x + y * y;
  }
  const [cos, sin] = [along / spread, across / spread];
  if (!(Math.abs(Math.hypot(cos, sin) - 1) <= SCALE_DIFFERENCE)) return undefined;
  const moved = (point: MapPoint): MapPoint => {
    const [x, y] = minus(point, centerFrom);
    return [centerTo[0] + x * cos - y * sin, centerTo[1] + x * sin + y * cos];
  };
  const within = RIGID_M * unitsPerMeter(EARTH, centerFrom);
  const isExact = from.every((point, i) => Math.hypot(...minus(moved(point), to[i] ?? centerTo)) <= within);
  if (!isExact) return undefined;
  const move = (position: Position): Position => {
    const corner = after[before.indexOf(position)];
    const [longitude = 0, latitude = 0] = corner ?? fromMap(EARTH, moved(toMap(EARTH, position)));
    return [longitude, latitude, ...position.slice(2)];
  };
  return { move, cosine: cos };
}

function centerOf(points: readonly MapPoint[]): MapPoint {
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  return [mean(0), mean(1)];
}

function minus([x, y]: MapPoint, [u, v]: MapPoint): MapPoint {
  return [x - u, y - v];
}
