import type { Point, Polygon } from '../../model/geojson.ts';
import type { View } from '../../model/topics.ts';
import type { PlaneTransform } from '../geo/crs.ts';
import { locationIn, planeOf, positionOf } from '../location/text.ts';
import type { MotionTexts, TrackableState } from '../state.ts';
import { feature, pointInPlane, polygonInPlane } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { circlePolygon, ringPolygon } from './shape.ts';

/**
 * JSON text of a trackable's motion in a view, a GeoJSON Feature where the view says so. Undefined when the trackable
 * has no fix or cannot be shown in the view. `shared` is what its location says in every view.
 */
export function motionIn(
  trackable: TrackableState,
  view: View,
  zones: ZoneLookup,
  shared?: string,
): string | undefined {
  const { fix } = trackable;
  if (fix === undefined) return undefined;
  const plane = planeOf(fix, view, zones);
  if (plane === undefined) return undefined;
  const location = locationIn(fix, { ...view, geojson: false }, zones, shared);
  const shape = shapeIn(trackable, plane);
  if (location === undefined || shape === undefined) return undefined;
  const geometry = JSON.stringify(shape);
  trackable.texts ??= textsOf(trackable);
  const { head, properties } = trackable.texts;
  if (view.geojson === true) return feature(geometry, `${head},"location":${location}${properties}}`);
  return `${head},"geometry":${geometry},"location":${location}${properties}}`;
}

/** The shape of a trackable at its fix: a Polygon where it has an extent, else a Point. In EPSG:4326. */
export function motionGeometry(trackable: TrackableState): Point | Polygon {
  const { footprint, fix } = trackable;
  if (footprint !== undefined && footprint.radiusMetres > 0) {
    return circlePolygon(footprint.lon, footprint.lat, footprint.radiusMetres);
  }
  if (footprint?.ring !== undefined) return ringPolygon(footprint.ring);
  return { type: 'Point', coordinates: fix === undefined ? [] : positionOf(fix) };
}

function shapeIn(trackable: TrackableState, plane: PlaneTransform | 'wgs84'): Point | Polygon | undefined {
  const geometry = motionGeometry(trackable);
  if (plane === 'wgs84') return geometry;
  return geometry.type === 'Point' ? pointInPlane(geometry, plane) : polygonInPlane(geometry, plane);
}

function textsOf({ entity }: TrackableState): MotionTexts {
  const { id, name, extrusion, properties } = entity;
  const head = JSON.stringify({ id, name: name ?? undefined, extrusion: extrusion ?? undefined });
  return {
    head: head.slice(0, -1),
    properties: properties == null ? '' : `,"properties":${JSON.stringify(properties)}`,
  };
}
