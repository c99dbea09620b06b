import type { Point } from '../../model/geojson.ts';
import type { View } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import type { Place } from '../state.ts';
import type { PlaneTransform } from '../zone/transform.ts';
import { pointInPlane, viewTransform } from '../zone/view.ts';

/** Finds a zone by its id or foreign id. */
export type ZoneLookup = (idOrForeignId: string) => Zone | undefined;

/** How a place is to be shown: as it is, in the plane of a projection or zone, or (undefined) not at all. */
export function planeOf(place: Place, view: View, zones: ZoneLookup): PlaneTransform | 'wgs84' | undefined {
  // The zone may have changed since, or be gone.
  const zone = place.zone === undefined ? undefined : zones(place.zone.id);
  return viewTransform(view, zone, zones);
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
  if (position === undefined) return undefined;
  if (view.geojson !== true) return JSON.stringify({ ...place.location, position, crs: view.crs });
  return feature(JSON.stringify(position), JSON.stringify(properties(place, view)));
}

/** GeoJSON position of the place in a plane; as it was sent where that is the plane it was sent in. */
function pointIn(place: Place, view: View, plane: PlaneTransform): Point | undefined {
  const inOwnZone = view.zoneId === undefined || view.zoneId === place.zone?.id;
  if (place.local !== undefined && view.crs === 'local' && inOwnZone) {
    return { type: 'Point', coordinates: [...place.local] };
  }
  return pointInPlane(place.location.position, plane);
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
