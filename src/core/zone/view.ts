import type { Geometry, Point, Polygon } from '../../model/geojson.ts';
import type { View } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import { type PlaneTransform, displayProjection, WGS84 } from '../geo/crs.ts';
import { roundMeters } from '../geo/rounding.ts';
import type { ZoneLookup } from './zone_table.ts';
import { zoneTransform } from './zone_transform.ts';

/** Converts a position from one plane to another. */
export type Convert = (x: number, y: number, out: [number, number]) => void;

/**
 * Returns the plane of positions in a view; 'wgs84' if they need no conversion. For `local` it is the plane of the
 * view's zone, by default of the position's own zone. Undefined if the zone has no plane, so that positions cannot be
 * converted.
 */
export function viewTransform(
  view: Pick<View, 'crs' | 'zoneId'>,
  ownZone: Zone | undefined,
  zones: ZoneLookup,
): PlaneTransform | 'wgs84' | undefined {
  if (view.crs === 'EPSG:4326') return 'wgs84';
  if (view.crs !== 'local') return displayProjection(view.crs);
  const zone = view.zoneId === undefined ? ownZone : zones(view.zoneId);
  return zone === undefined ? undefined : zoneTransform(zone);
}

/**
 * Writes the coordinates of a position in the plane, in rounded meters; returns false if the plane does not reach it.
 */
// hot
export function writeInPlane(lon: number, lat: number, plane: PlaneTransform, out: [number, number]): boolean {
  plane.fromWgs84(lon, lat, out);
  if (!Number.isFinite(out[0]) || !Number.isFinite(out[1])) return false;
  if (plane === WGS84) return true;
  out[0] = roundMeters(out[0]);
  out[1] = roundMeters(out[1]);
  return true;
}

/**
 * Returns the point converted to the plane, in rounded meters, or by a function. z is preserved. Undefined if the point
 * is out of range.
 */
export function pointInPlane(point: Point, plane: PlaneTransform | Convert): Point | undefined {
  const coordinates = positionIn(point.coordinates, converterOf(plane));
  return coordinates === undefined ? undefined : { type: 'Point', coordinates };
}

/** Returns the polygon with each vertex converted as by pointInPlane; undefined if a vertex is out of range. */
export function polygonInPlane(polygon: Polygon, plane: PlaneTransform | Convert): Polygon | undefined {
  const convert = converterOf(plane);
  const rings: number[][][] = [];
  for (const ring of polygon.coordinates) {
    const moved: number[][] = [];
    for (const position of ring) {
      const coordinates = positionIn(position, convert);
      if (coordinates === undefined) return undefined;
      moved.push(coordinates);
    }
    rings.push(moved);
  }
  return { type: 'Polygon', coordinates: rings };
}

/** Returns the geometry with each position converted as by pointInPlane; undefined if one is out of range. */
export function geometryInPlane(geometry: Geometry, plane: PlaneTransform | Convert): Geometry | undefined {
  if (geometry.type === 'Point') return pointInPlane(geometry, plane);
  if (geometry.type === 'Polygon') return polygonInPlane(geometry, plane);
  const moved = polygonInPlane({ type: 'Polygon', coordinates: [geometry.coordinates] }, plane);
  return moved && { type: 'LineString', coordinates: moved.coordinates[0] ?? [] };
}

function converterOf(plane: PlaneTransform | Convert): Convert {
  if (typeof plane === 'function') return plane;
  return (lon, lat, out) => {
    writeInPlane(lon, lat, plane, out);
  };
}

function positionIn(position: readonly number[], convert: Convert): number[] | undefined {
  const out: [number, number] = [0, 0];
  convert(position[0] as number, position[1] as number, out);
  if (!Number.isFinite(out[0]) || !Number.isFinite(out[1])) return undefined;
  const z = position[2];
  return z === undefined ? out : [out[0], out[1], z];
}

/** Returns a GeoJSON Feature, given a geometry and properties as JSON. */
export function feature(geometry: string, featureProperties: string): string {
  return `{"type":"Feature","geometry":${geometry},"properties":${featureProperties}}`;
}

/** Returns a GeoJSON FeatureCollection, given Features as JSON. */
export function featureCollection(features: readonly string[]): string {
  return `{"type":"FeatureCollection","features":[${features.join(',')}]}`;
}
