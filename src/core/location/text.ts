import type { Point } from '../../model/geojson.ts';
import type { View } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import type { Place } from '../state.ts';
import type { PlaneTransform } from '../zone/transform.ts';
import { pointInPlane, viewTransform } from '../zone/view.ts';
import { zoneTransform } from '../zone/zone_transform.ts';

/** Finds a zone by its id or foreign id. */
export type ZoneLookup = (idOrForeignId: string) => Zone | undefined;

/**
 * How a place is to be shown: as it is, in the plane of a projection or zone, or (undefined) not at all. Its own zone is
 * the one that its source names now: it may have changed since, or be gone.
 */
export function planeOf(place: Place, view: View, zones: ZoneLookup): PlaneTransform | 'wgs84' | undefined {
  return viewTransform(view, view.crs === 'local' ? zones(place.location.source) : undefined, zones);
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
  const position = plane === 'wgs84' ? place.location.position : pointIn(place, plane);
  if (position === undefined) return undefined;
  if (view.geojson !== true) return JSON.stringify({ ...place.location, position, crs: view.crs });
  return feature(JSON.stringify(position), JSON.stringify(properties(place, view)));
}

/** GeoJSON position of the place in a plane; as it was sent where that is the very plane it was sent in. */
function pointIn(place: Place, plane: PlaneTransform): Point | undefined {
  if (place.local === undefined || place.zone === undefined || zoneTransform(place.zone) !== plane) {
    return pointInPlane(place.location.position, plane);
  }
  return { type: 'Point', coordinates: [...place.local] };
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
