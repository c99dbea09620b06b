import type { Point, Polygon } from '../../model/geojson.ts';
import type { View } from '../../model/topics.ts';
import type { Footprint } from '../fence/fence_index.ts';
import { type PlaneTransform, projection } from '../geo/crs.ts';
import { asciiBytes, put, UTF8_MAX } from '../json_bytes.ts';
import { locationBytesMax } from '../location/event_bytes.ts';
import { filteredPositionOf, motionLocationIn, writeMotionLocation } from '../location/filtered_json.ts';
import type { Fix } from '../location/fix.ts';
import type { RecordBuffer } from '../location/record.ts';
import { planeOf } from '../location/location_json.ts';
import type { MotionJson, TrackableState } from '../state.ts';
import { feature, pointInPlane, polygonInPlane } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { circlePolygon, ringPolygon } from './shape.ts';
import { CIRCLE_BYTES_MAX, POINT_BYTES_MAX, polygonBytesMax, putCircle, putPoint, putPolygon } from './shape_bytes.ts';

const GEOMETRY = asciiBytes(',"geometry":');
const LOCATION = asciiBytes(',"location":');
const CLOSING_BRACE = 0x7d;
const ADDED_BYTES_MAX = GEOMETRY.length + LOCATION.length + 1;

/**
 * Returns a trackable's motion as JSON in a view, as a GeoJSON Feature if the view says so. Undefined if the trackable
 * has no fix or cannot be converted to the view. `shared` is the part of its location that is common to all views.
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
  const location = motionLocationIn(fix, { ...view, geojson: false }, zones, shared);
  // The position decides whether the motion is in range; its shape may extend beyond the range.
  const shape = shapeIn(trackable, plane === 'wgs84' ? plane : (projection(view.crs) ?? plane));
  if (location === undefined || shape === undefined) return undefined;
  const geometry = JSON.stringify(shape);
  const { head, properties } = cachedJson(trackable);
  if (view.geojson === true) return feature(geometry, `${head},"location":${location}${properties}}`);
  return `${head},"geometry":${geometry},"location":${location}${properties}}`;
}

/** Returns the maximum number of bytes that writeMotion writes. */
export function motionBytesMax(trackable: TrackableState, fix: Fix): number {
  const { head, properties } = cachedJson(trackable);
  return (
    UTF8_MAX * (head.length + properties.length) +
    ADDED_BYTES_MAX +
    shapeBytesMax(trackable.footprint, fix) +
    locationBytesMax(fix)
  );
}

function shapeBytesMax(footprint: Footprint | undefined, fix: Fix): number {
  if (footprint?.ring !== undefined) return polygonBytesMax(footprint.ring.length);
  if (footprint !== undefined && footprint.radiusMeters > 0) return CIRCLE_BYTES_MAX;
  return isPositionAsSent(fix) ? fix.positionBytes : POINT_BYTES_MAX;
}

/** Writes the motion of a trackable in EPSG:4326 as published: the result of motionIn. Returns the offset after it. */
// hot
export function writeMotion(
  to: RecordBuffer,
  start: number,
  {
    trackable,
    fix,
    sentTime,
  }: { readonly trackable: TrackableState; readonly fix: Fix; readonly sentTime: Uint8Array },
): number {
  const { head, properties } = cachedJson(trackable);
  const { bytes } = to;
  let at = start + bytes.write(head, start);
  at = put(bytes, at, GEOMETRY);
  at = putShape(to, at, trackable.footprint, fix);
  at = put(bytes, at, LOCATION);
  at = writeMotionLocation(to, at, fix, sentTime);
  if (properties !== '') at += bytes.write(properties, at);
  bytes[at] = CLOSING_BRACE;
  return at + 1;
}

// hot
function putShape(to: RecordBuffer, at: number, footprint: Footprint | undefined, fix: Fix): number {
  if (footprint?.ring !== undefined) return putPolygon(to, at, footprint.ring, 'wgs84');
  if (footprint !== undefined && footprint.radiusMeters > 0) return putCircle(to, at, footprint, 'wgs84');
  // A position sent in other coordinates is converted.
  if (isPositionAsSent(fix)) return fix.copyPoint(to.bytes, at);
  return putPoint(to, at, { lon: fix.filteredLon, lat: fix.filteredLat, z: fix.filteredZ }, 'wgs84');
}

/** Returns the shape of a trackable at its fix in EPSG:4326: a Polygon if it has an extent, otherwise a Point. */
export function motionGeometry(trackable: TrackableState): Point | Polygon {
  const { footprint, fix } = trackable;
  if (footprint !== undefined && footprint.radiusMeters > 0) {
    return circlePolygon(footprint.lon, footprint.lat, footprint.radiusMeters);
  }
  if (footprint?.ring !== undefined) return ringPolygon(footprint.ring);
  return { type: 'Point', coordinates: fix === undefined ? [] : filteredPositionOf(fix) };
}

function shapeIn(trackable: TrackableState, plane: PlaneTransform | 'wgs84'): Point | Polygon | undefined {
  const geometry = motionGeometry(trackable);
  if (plane === 'wgs84') return geometry;
  return geometry.type === 'Point' ? pointInPlane(geometry, plane) : polygonInPlane(geometry, plane);
}

/** Whether the position is neither converted from other coordinates nor filtered. */
function isPositionAsSent(fix: Fix): boolean {
  return fix.positionBytes > 0 && !fix.hasTrack;
}

function cachedJson(trackable: TrackableState): MotionJson {
  trackable.json ??= jsonOf(trackable);
  return trackable.json;
}

function jsonOf({ entity }: TrackableState): MotionJson {
  const { id, name, extrusion, properties } = entity;
  const head = JSON.stringify({ id, name: name ?? undefined, extrusion: extrusion ?? undefined });
  return {
    head: head.slice(0, -1),
    properties: properties == null ? '' : `,"properties":${JSON.stringify(properties)}`,
  };
}
