import Projection from 'ol/proj/Projection.js';
import type { Zone } from '../../../model/zone.ts';

/**
 * What a map is drawn on: the earth, in the Mercator projection, or the meters of one zone. The API speaks in longitude
 * and latitude for the one and in the zone's own coordinates for the other; both are `position` here.
 */
export type Plane =
  | { readonly kind: 'earth'; readonly id: 'earth' }
  | { readonly kind: 'zone'; readonly id: string; readonly zone: Zone };

export type Position = readonly number[];
/** Map coordinates: meters of the zone, or of the Mercator projection. */
export type MapPoint = [x: number, y: number];

export const EARTH: Plane = { kind: 'earth', id: 'earth' };

/** The plane of a zone's own meters. */
export function planeOfZone(zone: Zone): Plane {
  return { kind: 'zone', id: zone.id, zone };
}

/** Parameters of the API by which it answers in the plane's coordinates. */
export function viewParams(plane: Plane): { readonly crs: string; readonly zone_id?: string } {
  return plane.kind === 'earth' ? { crs: 'EPSG:4326' } : { crs: 'local', zone_id: plane.id };
}

const EARTH_RADIUS = 6378137;
const DEGREES = Math.PI / 180;

/** hot: once per object and update. */
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

/** The position of a point of the map, rounded to what a click can mean: a centimeter. */
export function fromMap(plane: Plane, [x = 0, y = 0]: Position): [number, number] {
  if (plane.kind === 'zone') return [round(x, 100), round(y, 100)];
  const longitude = x / EARTH_RADIUS / DEGREES;
  const latitude = (2 * Math.atan(Math.exp(y / EARTH_RADIUS)) - Math.PI / 2) / DEGREES;
  return [round(longitude, 1e8), round(latitude, 1e8)];
}

/** Units of the map in one meter at a point: Mercator stretches toward the poles. */
export function unitsPerMeter(plane: Plane, [, y = 0]: Position): number {
  return plane.kind === 'zone' ? 1 : Math.cosh(y / EARTH_RADIUS);
}

/** The projection for OpenLayers. */
export function projectionOf(plane: Plane): string | Projection {
  if (plane.kind === 'earth') return 'EPSG:3857';
  return new Projection({ code: `zone ${plane.id}`, units: 'm', extent: [-1e5, -1e5, 1e5, 1e5] });
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
