import { formatTime } from '../../model/time.ts';
import type { View } from '../../model/topics.ts';
import type { PlaneTransform } from '../geo/crs.ts';
import { feature, viewTransform, writeInPlane } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import { pointText } from './accepted.ts';
import type { Fix } from './fix.ts';

const scratch: [number, number] = [0, 0];
const POSITION_END = ']},';
export const TRACKABLES = ',"trackables":';
export const SENT_TIME = ',"timestamp_sent":"';

/**
 * How a fix is to be shown: as it is, in the plane of a projection or zone, or (undefined) not at all. Its own zone is
 * the one that its source names now: it may have changed since, or be gone.
 */
export function planeOf(fix: Fix, view: View, zones: ZoneLookup): PlaneTransform | 'wgs84' | undefined {
  return viewTransform(view, view.crs === 'local' ? zones(fix.source) : undefined, zones);
}

/** JSON text of the location in EPSG:4326. Not kept: it is longer than everything that it is made of. */
// hot
export function locationText(fix: Fix, shared = membersText(fix)): string {
  return `{"position":${pointText(fix.lon, fix.lat, fix.z)},${shared},"crs":"EPSG:4326"}`;
}

/**
 * The location as it is kept. One that was sent in the metres of its zone is kept with these: should the zone's plane
 * move, it goes along.
 */
export function keptText(fix: Fix): string {
  const text = locationText(fix);
  return fix.isLocal ? `${text.slice(0, -1)},"local":[${fix.sentX},${fix.sentY}]}` : text;
}

/**
 * What locationText says between the position and the trackables, given its value; undefined where the text is made in
 * another way.
 */
export function membersIn(text: string, value: object): string | undefined {
  const names = Object.keys(value);
  if (names[0] !== 'position' || names.at(-2) !== 'trackables' || names.at(-1) !== 'crs') return undefined;
  const start = text.indexOf(POSITION_END);
  // In an id the quotes are escaped.
  const end = text.lastIndexOf(TRACKABLES);
  return start < 0 || end < start ? undefined : text.slice(start + POSITION_END.length, end);
}

/**
 * JSON text of the location in a view, a GeoJSON Feature where the view says so; undefined if it cannot be shown. Whoever
 * asks for several views may have what they share made once.
 */
// hot
export function locationIn(fix: Fix, view: View, zones: ZoneLookup, shared = membersText(fix)): string | undefined {
  const plane = planeOf(fix, view, zones);
  if (plane === undefined) return undefined;
  if (plane === 'wgs84' && view.geojson !== true) return locationText(fix, shared);
  const position = plane === 'wgs84' ? pointText(fix.lon, fix.lat, fix.z) : textIn(fix, plane);
  if (position === undefined) return undefined;
  const members = `${shared},"crs":${JSON.stringify(view.crs)}}`;
  return view.geojson === true ? feature(position, `{${members}`) : `{"position":${position},${members}`;
}

/** GeoJSON position of a fix in EPSG:4326: longitude, latitude, and the height where it has one. */
export function positionOf({ lon, lat, z }: Fix): number[] {
  return z === undefined ? [lon, lat] : [lon, lat, z];
}

/** What a location says beside its position and crs, without braces: what was sent, and what the hub has filled in. */
export function membersText(fix: Fix): string {
  return filledIn(fix, fix.text);
}

/** The same as the hub publishes it: with the time at which the hub sends it, given by sentTimeText. */
// hot
export function publishedMembersText(fix: Fix, sentTime: string): string {
  const { text } = fix;
  return filledIn(fix, (fix.hasSentTime ? withoutSentTime(text) : text) + sentTime);
}

/** The time at which the hub sends what it publishes, as a member that stands behind another one. */
export function sentTimeText(nowMs: number): string {
  return `${SENT_TIME}${formatTime(nowMs)}"`;
}

/** Without what its sender has said of that. Properties, which may have such a member too, stand behind it. */
function withoutSentTime(text: string): string {
  const start = text.indexOf(SENT_TIME);
  return text.slice(0, start) + text.slice(text.indexOf('"', start + SENT_TIME.length) + 1);
}

function filledIn(fix: Fix, members: string): string {
  const { sentFloor, sentSpeed, sentCourse, trackables } = fix;
  let text = members;
  if (Number.isNaN(sentFloor)) text += `,"floor":${fix.floor}`;
  if (fix.sentElevationRef === undefined) text += ',"elevation_ref":"floor"';
  if (Number.isNaN(sentSpeed)) text += memberText('speed', fix.speed);
  if (Number.isNaN(sentCourse)) text += memberText('course', fix.course);
  return text + TRACKABLES + (trackables.length === 0 ? '[]' : JSON.stringify(trackables));
}

function memberText(name: string, value: number | undefined): string {
  return value === undefined ? '' : `,"${name}":${value}`;
}

/** GeoJSON text of the fix in a plane; as it was sent where that is the very plane it was sent in. */
function textIn(fix: Fix, plane: PlaneTransform): string | undefined {
  const { zone } = fix;
  if (fix.isLocal && zone !== undefined && zoneTransform(zone) === plane) {
    return pointText(fix.sentX, fix.sentY, fix.z);
  }
  return writeInPlane(fix.lon, fix.lat, plane, scratch) ? pointText(scratch[0], scratch[1], fix.z) : undefined;
}
