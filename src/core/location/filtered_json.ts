import type { View } from '../../model/topics.ts';
import { writeInPlane } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { pointJson } from './accepted.ts';
import { writeLocation } from './event_bytes.ts';
import type { Fix } from './fix.ts';
import {
  locationIn,
  locationJson,
  planeOf,
  publishedMembersJson,
  shownMembersJson,
  TRACKABLES,
} from './location_json.ts';
import { memberJson, partsOf, withoutMember, withProperty } from './member_text.ts';
import type { RecordBuffer } from './record.ts';

/**
 * JSON of the location in a motion: filtered position, floor, accuracy, speed and course if there is a filter,
 * otherwise the location as it is.
 */

/** Property of a filtered location. */
const FILTERED = 'hub.filtered';
const REPLACED = ['accuracy', 'floor', 'elevation_ref', 'speed', 'course'];

const scratch: [number, number] = [0, 0];

/** Returns the GeoJSON position of a fix in EPSG:4326: longitude, latitude, and the height if there is one. */
export function filteredPositionOf({ filteredLon, filteredLat, filteredZ }: Fix): number[] {
  return filteredZ === undefined ? [filteredLon, filteredLat] : [filteredLon, filteredLat, filteredZ];
}

/**
 * Returns the members of a motion's location besides position and crs, without braces. With `sentTime`, that of
 * sentTimeJson, as published.
 */
export function motionMembersJson(fix: Fix, sentTime?: string): string {
  const members = sentTime === undefined ? shownMembersJson(fix) : publishedMembersJson(fix, sentTime);
  return fix.hasTrack ? filtered(members, fix) : members;
}

/** Returns the location of a motion as JSON in a view: see locationIn. */
export function motionLocationIn(
  fix: Fix,
  view: View,
  zones: ZoneLookup,
  shared = motionMembersJson(fix),
): string | undefined {
  if (!fix.hasTrack) return locationIn(fix, view, zones, shared);
  const { filteredLon: lon, filteredLat: lat, filteredZ: z } = fix;
  const plane = planeOf(fix, view, zones);
  if (plane === undefined) return undefined;
  if (plane === 'wgs84') return `{"position":${pointJson(lon, lat, z)},${shared},"crs":"EPSG:4326"}`;
  if (!writeInPlane(lon, lat, plane, scratch)) return undefined;
  return `{"position":${pointJson(scratch[0], scratch[1], z)},${shared},"crs":${JSON.stringify(view.crs)}}`;
}

/** Writes the location of a motion in EPSG:4326 as published. Returns the offset after it. */
// hot
export function writeMotionLocation(to: RecordBuffer, start: number, fix: Fix, sentTime: Uint8Array): number {
  if (!fix.hasTrack) return writeLocation(to, start, fix, sentTime);
  const { filteredLon: lon, filteredLat: lat, filteredZ: z } = fix;
  const members = motionMembersJson(fix, String.fromCharCode(...sentTime));
  return start + to.bytes.write(locationJson(fix, members, pointJson(lon, lat, z)), start);
}

/** Replaces the members of a location that the filter has computed. The trackables are the last member. */
function filtered(members: string, fix: Fix): string {
  const end = members.lastIndexOf(TRACKABLES);
  const { before, properties, after } = partsOf(members.slice(0, end));
  let text = before + after;
  for (const name of REPLACED) text = withoutMember(text, name);
  text += memberJson('accuracy', fix.filteredAccuracy);
  text += memberJson('floor', fix.filteredFloor);
  text += `,"elevation_ref":"${fix.filteredElevationRef}"`;
  text += memberJson('speed', fix.filteredSpeed);
  text += memberJson('course', fix.filteredCourse);
  return `${text},"properties":${withProperty(properties, FILTERED, true)}${members.slice(end)}`;
}
