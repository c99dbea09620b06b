import { formatTime } from '../../model/time.ts';
import type { View } from '../../model/topics.ts';
import type { PlaneTransform } from '../geo/crs.ts';
import { feature, viewTransform, writeInPlane } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import { pointJson } from './accepted.ts';
import { TRACK_TEXT_BYTES } from '../tracking/track_text.ts';
import type { Fix } from './fix.ts';
import { memberJson, partsOf, withProperty } from './member_text.ts';

/** Properties of an outlier. */
const OUTLIER = 'hub.outlier';
const OUTLIER_REASON = 'hub.outlier_reason';

const scratch: [number, number] = [0, 0];
const trackText = new Uint8Array(TRACK_TEXT_BYTES);
const POSITION_END = ']},';
export const TRACKABLES = ',"trackables":';
export const TRACK = ',"track":"';
export const SENT_TIME = ',"timestamp_sent":"';

/**
 * Returns the plane in which a view shows the fix; 'wgs84' for longitude and latitude, undefined if the fix cannot be
 * converted. `local` refers to the zone that the fix's source names now, which may have changed or been deleted since.
 */
export function planeOf(fix: Fix, view: View, zones: ZoneLookup): PlaneTransform | 'wgs84' | undefined {
  return viewTransform(view, view.crs === 'local' ? zones(fix.source) : undefined, zones);
}

/** Returns the location in EPSG:4326 as JSON. Not cached, since the string is longer than its parts. */
// hot
export function locationJson(
  fix: Fix,
  shared = membersJson(fix),
  position = pointJson(fix.lon, fix.lat, fix.z),
): string {
  return `{"position":${position},${shared},"crs":"EPSG:4326"}`;
}

/**
 * Returns the location as stored. A location sent in meters of its zone is stored with these meters, so that it moves
 * when the zone's plane moves.
 */
export function storedJson(fix: Fix): string {
  let text = locationJson(fix).slice(0, -1);
  if (fix.isLocal) text += `,"local":[${fix.sentX},${fix.sentY}]`;
  return `${text}${trackJson(fix)}}`;
}

/** Returns the track of a fix as a member that follows another one; empty for a fix without a track. */
function trackJson(fix: Fix): string {
  if (!fix.hasTrack) return '';
  fix.writeTrackText(trackText, 0);
  return `${TRACK}${String.fromCharCode(...trackText)}"`;
}

/**
 * Returns the part of locationJson between position and trackables, given its parsed value; undefined if the JSON has
 * another structure.
 */
export function membersIn(text: string, value: object): string | undefined {
  const names = Object.keys(value);
  if (names[0] !== 'position' || names.at(-2) !== 'trackables' || names.at(-1) !== 'crs') return undefined;
  const start = text.indexOf(POSITION_END);
  // Quotes in an id are escaped.
  const end = text.lastIndexOf(TRACKABLES);
  return start < 0 || end < start ? undefined : text.slice(start + POSITION_END.length, end);
}

/**
 * Returns the location as JSON in a view, as a GeoJSON Feature if the view says so; undefined if it cannot be
 * converted. A caller with several views may pass `shared`, the part common to all of them.
 */
// hot
export function locationIn(
  fix: Fix,
  view: View,
  zones: ZoneLookup,
  shared = shownMembersJson(fix),
): string | undefined {
  const plane = planeOf(fix, view, zones);
  if (plane === undefined) return undefined;
  if (plane === 'wgs84' && view.geojson !== true) return locationJson(fix, shared);
  const position = plane === 'wgs84' ? pointJson(fix.lon, fix.lat, fix.z) : pointIn(fix, plane);
  if (position === undefined) return undefined;
  const members = `${shared},"crs":${JSON.stringify(view.crs)}}`;
  return view.geojson === true ? feature(position, `{${members}`) : `{"position":${position},${members}`;
}

/**
 * Returns the members of a location besides position and crs, without braces: those sent and those added by the hub.
 */
export function membersJson(fix: Fix): string {
  return withDerived(fix, fix.text);
}

/** Like membersJson, as shown to clients: an outlier has properties that mark it, with the reason. */
export function shownMembersJson(fix: Fix): string {
  return withDerived(fix, shownText(fix));
}

function shownText(fix: Fix): string {
  const { text } = fix;
  if (!fix.isOutlier) return text;
  const { before, properties, after } = partsOf(text);
  const marked = withProperty(withProperty(properties, OUTLIER, true), OUTLIER_REASON, fix.outlierReason);
  return `${before},"properties":${marked}${after}`;
}

/** Like shownMembersJson, as published: with the hub's timestamp_sent, given by sentTimeJson. */
// hot
export function publishedMembersJson(fix: Fix, sentTime: string): string {
  const text = shownText(fix);
  return withDerived(fix, (fix.hasSentTime ? withoutSentTime(text) : text) + sentTime);
}

/** Returns the hub's timestamp_sent as a member that follows another one. */
export function sentTimeJson(nowMs: number): string {
  return `${SENT_TIME}${formatTime(nowMs)}"`;
}

/**
 * Removes the sender's timestamp_sent. Only the first occurrence is removed: properties, which may have a member of
 * that name, come later.
 */
function withoutSentTime(text: string): string {
  const start = text.indexOf(SENT_TIME);
  return text.slice(0, start) + text.slice(text.indexOf('"', start + SENT_TIME.length) + 1);
}

function withDerived(fix: Fix, members: string): string {
  const { sentFloor, sentSpeed, sentCourse, trackables } = fix;
  let text = members;
  if (Number.isNaN(sentFloor)) text += `,"floor":${fix.floor}`;
  if (fix.sentElevationRef === undefined) text += ',"elevation_ref":"floor"';
  if (Number.isNaN(sentSpeed)) text += memberJson('speed', fix.speed);
  if (Number.isNaN(sentCourse)) text += memberJson('course', fix.course);
  return text + TRACKABLES + (trackables.length === 0 ? '[]' : JSON.stringify(trackables));
}

/** Returns the fix as a GeoJSON point in a plane; as sent if it was sent in that plane. */
function pointIn(fix: Fix, plane: PlaneTransform): string | undefined {
  const { zone } = fix;
  if (fix.isLocal && zone !== undefined && zoneTransform(zone) === plane) {
    return pointJson(fix.sentX, fix.sentY, fix.z);
  }
  return writeInPlane(fix.lon, fix.lat, plane, scratch) ? pointJson(scratch[0], scratch[1], fix.z) : undefined;
}
