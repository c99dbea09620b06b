import type { Geometry } from './geojson.ts';

/** Returns the positions of a geometry as lists: the rings of a polygon, or one list. */
export function positionLists({ type, coordinates }: Geometry): number[][][] {
  if (type === 'Polygon') return coordinates;
  return type === 'Point' ? [[coordinates]] : [coordinates];
}

/** Returns the geometry with each of its lists of positions replaced. */
export function withPositionLists(
  geometry: Geometry,
  replace: (list: number[][], index: number) => number[][],
): Geometry {
  if (geometry.type === 'Polygon') return { ...geometry, coordinates: geometry.coordinates.map(replace) };
  if (geometry.type === 'LineString') return { ...geometry, coordinates: replace(geometry.coordinates, 0) };
  return { ...geometry, coordinates: replace([geometry.coordinates], 0)[0] ?? geometry.coordinates };
}
