import { outOfAxis, problemOf, type Problem } from '../problem.ts';
import type { ParamValue } from '../reasons.ts';
import { type Geos, openGeos } from '../../wasm/geos.ts';
import { isGeographic, normalizeFence } from '../core/fence/region_normal.ts';
import { alignHoles, flatLine, flatRing } from '../core/geo/rings.ts';
import { selfContact } from '../core/geo/line_contact.ts';
import type { ShapeChecks } from '../core/shape_checks.ts';
import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';
import { pathOf, show } from '../model/error_value_text.ts';

/** Opens the checks based on GEOS. */
export async function openShapeChecks(): Promise<ShapeChecks> {
  const geos = await openGeos();
  return {
    regionProblem: (fence) => check(fence, geos),
    polygonProblem: ({ coordinates }, path) => explainRings(coordinates, { path, geographic: false, geos }),
  };
}

function check(fence: Fence, geos: Geos): Problem | undefined {
  const { region } = fence;
  const geographic = isGeographic(fence);
  if (region.type === 'Point') {
    return explainPosition(region.coordinates, ['coordinates'], geographic) ?? explainRadius(fence);
  }
  if (region.type === 'LineString') {
    return explainPositions(region.coordinates, ['coordinates'], geographic) ?? explainLine(fence);
  }
  return explainCoordinates(region.coordinates, geographic) ?? explainTolerance(fence) ?? explainShape(fence, geos);
}

function explainRadius({ radius }: Fence): Problem | undefined {
  if (radius != null && radius > 0 && Number.isFinite(radius)) return undefined;
  return problemOf('not_positive_for', { path: 'radius', purpose: 'point', found: show(radius ?? undefined) });
}

function explainCoordinates(rings: readonly (readonly number[][])[], geographic: boolean): Problem | undefined {
  for (const [i, ring] of rings.entries()) {
    const problem = explainPositions(ring, ['coordinates', String(i)], geographic);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function explainPositions(
  positions: readonly number[][],
  segments: readonly string[],
  geographic: boolean,
): Problem | undefined {
  for (const [k, position] of positions.entries()) {
    if (isFine(position, geographic)) continue;
    return explainPosition(position, [...segments, String(k)], geographic);
  }
  return undefined;
}

/** Maximum positions of a gate: its check compares all pairs of edges. */
const LINE_MAX = 1000;

/** Checks that a line has two different positions, and neither crosses nor touches itself except at its ends. */
function explainLine(fence: Fence): Problem | undefined {
  const { region } = normalizeFence(fence);
  if (region.type !== 'LineString') return undefined;
  const path = 'region.coordinates';
  const { length } = region.coordinates;
  if (length < 2) return problemOf('too_few', { path, limit: 2, unit: 'different_points', found: length });
  if (length > LINE_MAX) return problemOf('too_many', { path, limit: LINE_MAX, unit: 'positions', found: length });
  const at = selfContact(flatLine(region.coordinates, isGeographic(fence)));
  if (at === undefined) return undefined;
  return problemOf('line_touches_itself', { path: pathOf(path, [String(at)]), found: show(region.coordinates[at]) });
}

/** Bounds of coordinates. Longitudes may go once around the earth, for regions across the antimeridian. */
const BOUNDS = [
  ['longitude', 360],
  ['latitude', 90],
] as const;

/** Whether a position is valid. hot: once per position */
function isFine(position: readonly number[], geographic: boolean): boolean {
  for (let axis = 0; axis < position.length; axis++) {
    const value = position[axis] as number;
    const bound = geographic ? BOUNDS[axis] : undefined;
    if (!Number.isFinite(value) || (bound !== undefined && Math.abs(value) > bound[1])) return false;
  }
  return true;
}

function explainPosition(
  position: readonly number[],
  segments: readonly string[],
  geographic: boolean,
): Problem | undefined {
  for (const [axis, value] of position.entries()) {
    const path = (): string => pathOf('region', [...segments, String(axis)]);
    if (!Number.isFinite(value)) return problemOf('not_finite', { path: path(), found: String(value) });
    const bound = geographic ? BOUNDS[axis] : undefined;
    if (bound === undefined || Math.abs(value) <= bound[1]) continue;
    return outOfAxis(bound[0], bound[1], { path: path(), found: String(value) });
  }
  return undefined;
}

/**
 * Checks tolerances of a fence with holes: within a hole, "outside the fence" and "near its edge" contradict each
 * other.
 */
function explainTolerance(fence: Fence): Problem | undefined {
  if (fence.region.type !== 'Polygon' || fence.region.coordinates.length < 2) return undefined;
  for (const name of ['exit_tolerance', 'entry_tolerance'] as const) {
    if ((fence[name] ?? 0) > 0) return problemOf('holes', { path: name, found: show(fence[name]) });
  }
  return undefined;
}

function explainShape(fence: Fence, geos: Geos): Problem | undefined {
  const { region } = normalizeFence(fence);
  if (region.type !== 'Polygon') return undefined;
  return explainRings(region.coordinates, { path: 'region', geographic: isGeographic(fence), geos });
}

interface Shape {
  readonly path: string;
  readonly geographic: boolean;
  readonly geos: Geos;
}

function explainRings(coordinates: Polygon['coordinates'], { path, geographic, geos }: Shape): Problem | undefined {
  const rings = coordinates.map((ring) => flatRing(ring, geographic));
  for (const [i, ring] of rings.entries()) {
    const place = pathOf(path, ['coordinates', String(i)]);
    const points = differentPoints(ring);
    if (points < 3) return problemOf('too_few', { path: place, limit: 3, unit: 'different_points', found: points });
    if (isFlat(ring)) return problemOf('no_area', { path: place, found: show(coordinates[i]) });
  }
  const invalid = geos.whyInvalid(geographic ? alignHoles(rings) : rings);
  if (invalid === undefined) return undefined;
  const position = `[${rounded(invalid.x)}, ${rounded(invalid.y)}]`;
  return problemOf('invalid_polygon', { path, defect: defectOf(invalid.reason), position });
}

/** Returns the identifier of a defect reported by GEOS, such as `self_intersection` for `Self-intersection`. */
function defectOf(reason: string): ParamValue<'defect'> {
  return reason.toLowerCase().replace(/[^a-z]+/g, '_') as ParamValue<'defect'>;
}

/** Whether all points are collinear, for which GEOS would report a self-intersection. */
function isFlat(ring: Float64Array): boolean {
  const [x, y] = [ring[0] as number, ring[1] as number];
  let [dx, dy] = [0, 0];
  for (let i = 2; i < ring.length; i += 2) {
    const toX = (ring[i] as number) - x;
    const toY = (ring[i + 1] as number) - y;
    if (dx * toY !== dy * toX) return false;
    if (Math.hypot(toX, toY) > Math.hypot(dx, dy)) [dx, dy] = [toX, toY];
  }
  return true;
}

function rounded(coordinate: number): number {
  return Number(coordinate.toFixed(9));
}

/** Returns the number of different points, up to three. */
function differentPoints(ring: Float64Array): number {
  const points = new Set<string>();
  for (let i = 0; i < ring.length && points.size < 3; i += 2) points.add(`${ring[i]} ${ring[i + 1]}`);
  return points.size;
}
