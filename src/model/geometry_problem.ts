import { problemOf, type Problem } from '../problem.ts';
import { pathOf, show } from './error_value_text.ts';
import { isObject } from './json_tree.ts';

/** Geometry types that a field may require. */
export const GEOMETRY_TYPES = ['Point', 'Polygon', 'LineString'] as const;
export type GeometryType = (typeof GEOMETRY_TYPES)[number];

/**
 * Minimum number of positions of a ring, which repeats its first position, and of an open ring, which the hub closes.
 */
const RING_MIN = 4;
const OPEN_RING_MIN = 3;

/**
 * Returns why `value` is not a geometry of one of `types`: the path of the innermost invalid part, the requirement, and
 * the value found. Returns undefined for a well-formed geometry.
 */
export function geometryProblem(value: unknown, path: string, types: readonly GeometryType[]): Problem | undefined {
  const [first = 'Point', second] = types;
  if (!isObject(value)) {
    const found = show(value);
    if (second === undefined) return problemOf('not_geojson', { path, type: first, found });
    if (types.length > 2) return problemOf('not_geojson_of', { path, allowed: types, found });
    return problemOf('not_geojson_of_two', { path, type: first, other_type: second, found });
  }
  const { type, coordinates } = value;
  const wanted = types.find((one) => one === type);
  if (wanted === undefined) {
    const where = { path: `${path}.type`, found: show(type) };
    return second === undefined
      ? problemOf('not_value', { ...where, expected: show(first) })
      : problemOf('out_of_choices', { ...where, allowed: types });
  }
  return COORDINATES[wanted](coordinates, `${path}.coordinates`);
}

/** Returns why `value` is not a position; undefined if it is one. */
export function positionProblem(value: unknown, path: string): Problem | undefined {
  const coordinates: readonly unknown[] = Array.isArray(value) ? value : [];
  const bad = coordinates.findIndex((one) => typeof one !== 'number' || !Number.isFinite(one));
  if (bad >= 0) return problemOf('not_a_number', { path: at(path, bad), found: show(coordinates[bad]) });
  if (coordinates.length === 2 || coordinates.length === 3) return undefined;
  return problemOf('not_a_position', { path, found: show(value) });
}

const COORDINATES: Readonly<Record<GeometryType, typeof positionProblem>> = {
  Point: positionProblem,
  LineString(value, path) {
    if (!Array.isArray(value) || value.length < 2) {
      return problemOf('not_positions', { path, limit: 2, found: show(value) });
    }
    return firstProblem(value, path, positionProblem);
  },
  Polygon(value, path) {
    if (!Array.isArray(value)) return problemOf('not_rings', { path, found: show(value) });
    if (value.length === 0) return problemOf('no_ring', { path, found: '[]' });
    return firstProblem(value, path, ringProblem);
  },
};

function ringProblem(value: unknown, path: string): Problem | undefined {
  if (!Array.isArray(value)) return problemOf('not_a_ring', { path, found: show(value) });
  const problem = firstProblem(value, path, positionProblem);
  if (problem !== undefined || value.length >= OPEN_RING_MIN) return problem;
  return problemOf('open_ring', { path, limit: RING_MIN, found: value.length });
}

function firstProblem(parts: readonly unknown[], path: string, of: typeof positionProblem): Problem | undefined {
  for (const [i, part] of parts.entries()) {
    const problem = of(part, at(path, i));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function at(path: string, index: number): string {
  return pathOf(path, [String(index)]);
}
