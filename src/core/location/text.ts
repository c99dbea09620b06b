import type { View } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import type { Place } from '../state.ts';
import { roundDegrees, roundMetres } from '../zone/round.ts';
import type { PlaneTransform } from '../zone/transform.ts';
import { viewTransform } from '../zone/view.ts';

/** Finds a zone by its id or foreign id. */
export type ZoneLookup = (idOrForeignId: string) => Zone | undefined;

/** How a place is to be shown: as it is, in the plane of a projection or zone, or (undefined) not at all. */
export function planeOf(place: Place, view: View, zones: ZoneLookup): PlaneTransform | 'wgs84' | undefined {
  return viewTransform(view, place.zone, zones);
}

/** JSON text of the location in EPSG:4326; made once per place. */
export function locationText(place: Place): string {
  place.text ??= JSON.stringify(place.location);
  return place.text;
}

/** JSON text of the location in a view, a GeoJSON Feature where the view says so; undefined if it cannot be shown. */
export function locationIn(place: Place, view: View, zones: ZoneLookup): string | undefined {
  const plane = planeOf(place, view, zones);
  if (plane === undefined) return undefined;
  if (plane === 'wgs84' && view.geojson !== true) return locationText(place);
  const position = plane === 'wgs84' ? place.location.position : pointIn(place, view, plane);
  if (view.geojson !== true) return JSON.stringify({ ...place.location, position, crs: view.crs });
  return feature(JSON.stringify(position), JSON.stringify(properties(place, view)));
}

/** GeoJSON position of the place in a plane; as it was sent where that is the plane it was sent in. */
function pointIn(place: Place, view: View, plane: PlaneTransform): { type: 'Point'; coordinates: number[] } {
  const inOwnZone = view.zoneId === undefined || view.zoneId === place.zone?.id;
  if (place.local !== undefined && view.crs === 'local' && inOwnZone) {
    return { type: 'Point', coordinates: [...place.local] };
  }
  const out: [number, number] = [0, 0];
  plane.fromWgs84(place.lon, place.lat, out);
  const coordinates = view.crs === 'EPSG:4326' ? out.map(roundDegrees) : out.map(roundMetres);
  if (place.z !== undefined) coordinates.push(place.z);
  return { type: 'Point', coordinates };
}

function properties(place: Place, view: View): Record<string, unknown> {
  const { position: _, ...rest } = place.location;
  return { ...rest, crs: view.crs };
}

/** Text of a GeoJSON Feature of a geometry's and a properties object's text. */
export function feature(geometry: string, featureProperties: string): string {
  return `{"type":"Feature","geometry":${geometry},"properties":${featureProperties}}`;
}

/** Text of a GeoJSON FeatureCollection of Features. */
export function featureCollection(features: readonly string[]): string {
  return `{"type":"FeatureCollection","features":[${features.join(',')}]}`;
}
