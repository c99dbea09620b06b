import { pathOf, show } from './error_value_text.ts';

/** Geometry types that a field may require. */
export const GEOMETRY_TYPES = ['Point', 'Polygon', 'LineString'] as const;
export type GeometryType = (typeof GEOMETRY_TYPES)[number];

/** A ring repeats its first position at its end. The hub closes an open ring for its sender. */
const RING_MIN = 4;
const OPEN_RING_MIN = 3;

/**
 * Describes why `value` is not a geometry of one of `types`: the path of the innermost invalid part, what is required
 * there, and what was found. Returns undefined for a well-formed geometry.
 */
export function geometryProblem(value: unknown, path: string, types: readonly GeometryType[]): string | undefined {
  if (!isObject(value)) return `${path}: must be a GeoJSON ${types.join(' or ')}, found ${show(value)}`;
  const { type, coordinates } = value;
  const wanted = types.find((one) => one === type);
  if (wanted === undefined) {
    return `${path}.type: must be ${types.map(show).join(' or ')}, found ${show(type)}`;
  }
  return COORDINATES[wanted](coordinates, `${path}.coordinates`);
}

/** Describes why `value` is not a position; undefined if it is one. */
export function positionProblem(value: unknown, path: string): string | undefined {
  const coordinates: readonly unknown[] = Array.isArray(value) ? value : [];
  const bad = coordinates.findIndex((one) => typeof one !== 'number' || !Number.isFinite(one));
  if (bad >= 0) return `${at(path, bad)}: must be a number, found ${show(coordinates[bad])}`;
  if (coordinates.length === 2 || coordinates.length === 3) return undefined;
  return `${path}: must be a position of 2 or 3 numbers, found ${show(value)}`;
}

const COORDINATES: Readonly<Record<GeometryType, typeof positionProblem>> = {
  Point: positionProblem,
  LineString(value, path) {
    if (!Array.isArray(value) || value.length < 2) {
      return `${path}: must be a list of at least 2 positions, found ${show(value)}`;
    }
    return firstProblem(value, path, positionProblem);
  },
  Polygon(value, path) {
    if (!Array.isArray(value)) return `${path}: must be a list of rings, found ${show(value)}`;
    if (value.length === 0) return `${path}: must have at least one ring, found []`;
    return firstProblem(value, path, ringProblem);
  },
};

function ringProblem(value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return `${path}: must be a ring, a list of positions, found ${show(value)}`;
  const problem = firstProblem(value, path, positionProblem);
  if (problem !== undefined || value.length >= OPEN_RING_MIN) return problem;
  return `${path}: must have at least ${RING_MIN} positions, the last the same as the first, found ${value.length}`;
}

function firstProblem(parts: readonly unknown[], path: string, of: typeof positionProblem): string | undefined {
  for (const [i, part] of parts.entries()) {
    const problem = of(part, at(path, i));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function at(path: string, index: number): string {
  return pathOf(path, [String(index)]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
