import Projection from 'ol/proj/Projection.js';
import type { Zone } from '../../../model/zone.ts';

/**
 * Coordinate plane of a map: the earth in the Mercator projection, or the meters of one zone. The API uses longitude and
 * latitude for the earth and local coordinates for a zone; both are a `Position` here.
 */
export type Plane =
  | { readonly kind: 'earth'; readonly id: 'earth' }
  | { readonly kind: 'zone'; readonly id: string; readonly zone: Zone };

export type Position = readonly number[];
/** Map coordinates: meters of the zone, or of the Mercator projection. */
export type MapPoint = [x: number, y: number];

export const EARTH: Plane = { kind: 'earth', id: 'earth' };

/** Returns the plane of a zone's local meters. */
export function planeOfZone(zone: Zone): Plane {
  return { kind: 'zone', id: zone.id, zone };
}

/** API parameters that request coordinates of the plane. */
export function viewParams(plane: Plane): { readonly crs: string; readonly zone_id?: string } {
  return plane.kind === 'earth' ? { crs: 'EPSG:4326' } : { crs: 'local', zone_id: plane.id };
}

const EARTH_RADIUS = 6378137;
const DEGREES = Math.PI / 180;

/** Projects a position. hot: once per object and update. */
export function toMap(plane: Plane, [x = 0, y = 0]: Position): MapPoint {
  if (plane.kind === 'zone') return [x, y];
  return [mapX(x), mapY(y)];
}

export function mapX(longitude: number): number {
  return longitude * DEGREES * EARTH_RADIUS;
}

export function mapY(latitude: number): number {
  const within = Math.min(85.06, Math.max(-85.06, latitude));
  return EARTH_RADIUS * Math.log(Math.tan(Math.PI / 4 + (within * DEGREES) / 2));
}

/** Position of a point on the map, rounded to about a centimeter, the precision of a click. */
export function fromMap(plane: Plane, [x = 0, y = 0]: Position): [number, number] {
  if (plane.kind === 'zone') return [round(x, 100), round(y, 100)];
  const longitude = x / EARTH_RADIUS / DEGREES;
  const latitude = (2 * Math.atan(Math.exp(y / EARTH_RADIUS)) - Math.PI / 2) / DEGREES;
  return [round(longitude, 1e8), round(latitude, 1e8)];
}

/** Map units per meter at a point: Mercator stretches toward the poles. */
export function unitsPerMeter(plane: Plane, [, y = 0]: Position): number {
  return plane.kind === 'zone' ? 1 : Math.cosh(y / EARTH_RADIUS);
}

/** Returns the OpenLayers projection of a plane. */
export function projectionOf(plane: Plane): string | Projection {
  if (plane.kind === 'earth') return 'EPSG:3857';
  return new Projection({ code: `zone ${plane.id}`, units: 'm', extent: [-1e5, -1e5, 1e5, 1e5] });
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
