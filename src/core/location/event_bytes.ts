import { asciiBytes, put, putNumber, UTF8_MAX } from '../json_bytes.ts';
import type { Fix } from './fix.ts';
import type { RecordBuffer, Utf8Bytes } from './record.ts';
import { TRACK_TEXT_BYTES } from '../tracking/track_text.ts';
import { storedJson, locationJson, publishedMembersJson, SENT_TIME, TRACK, TRACKABLES } from './location_json.ts';

/**
 * Writes locations as bytes, to publish or to store. Nearly all bytes are copied from the record as received; the hub
 * adds a few numbers. So no strings are created between receiving a location and sending or storing it.
 */

/** Maximum bytes added besides the ids of trackables: names, five numbers, the time. */
const ADDED_BYTES_MAX = 512;

/** Maximum bytes of a track, with its name. */
const TRACK_JSON_MAX = TRACK_TEXT_BYTES + 16;

const [OPEN, CLOSE, QUOTE] = [0x7b, 0x7d, 0x22] as const;
const TRACK_NAME = asciiBytes(TRACK);
const SENT_TIME_BYTES = asciiBytes(SENT_TIME);
const FLOOR = asciiBytes(',"floor":');
const REF = asciiBytes(',"elevation_ref":"floor"');
const SPEED = asciiBytes(',"speed":');
const COURSE = asciiBytes(',"course":');
const NO_TRACKABLES = asciiBytes(`${TRACKABLES}[]`);
const CRS = asciiBytes(',"crs":"EPSG:4326"}');

/** Cached JSON of lists of trackables, which rarely change. */
const trackablesJsonCache = new WeakMap<readonly string[], string>();

/** Returns the maximum number of bytes that writeLocation or writeStored writes. */
export function locationBytesMax(fix: Fix): number {
  const { trackables } = fix;
  const ids = trackables.length === 0 ? 0 : UTF8_MAX * trackablesJson(trackables).length;
  return fix.textBytes + ADDED_BYTES_MAX + ids + (fix.hasTrack ? TRACK_JSON_MAX : 0);
}

/**
 * Writes a location in EPSG:4326 as published: the result of locationJson with publishedMembersJson. `sentTime` is that
 * of sentTimeJson. Returns the offset after it.
 */
// hot
export function writeLocation(to: RecordBuffer, start: number, fix: Fix, sentTime: Uint8Array): number {
  const { bytes } = to;
  // A position sent in other coordinates is converted; the properties of an outlier say so.
  if (fix.positionBytes === 0 || fix.isOutlier)
    return start + bytes.write(locationJson(fix, publishedMembersJson(fix, asciiString(sentTime))), start);
  bytes[start] = OPEN;
  let at = fix.copyText(bytes, start + 1);
  if (fix.hasSentTime) at = withoutSentTime(bytes, start + fix.positionBytes, at);
  return writeFilledIn(to, put(bytes, at, sentTime), fix);
}

/** Writes a location as stored: the result of storedJson. Returns the offset after it. */
// hot
export function writeStored(to: RecordBuffer, start: number, fix: Fix): number {
  const { bytes } = to;
  if (fix.positionBytes === 0) return start + bytes.write(storedJson(fix), start);
  bytes[start] = OPEN;
  const at = writeFilledIn(to, fix.copyText(bytes, start + 1), fix);
  if (!fix.hasTrack) return at;
  // Overwrites the closing brace.
  const end = fix.writeTrackText(bytes, put(bytes, at - 1, TRACK_NAME));
  bytes[end] = QUOTE;
  bytes[end + 1] = CLOSE;
  return end + 2;
}

/** Writes the values added by the hub, and the closing brace. */
// hot
function writeFilledIn(to: RecordBuffer, start: number, fix: Fix): number {
  const { bytes } = to;
  let at = start;
  if (Number.isNaN(fix.sentFloor)) at = putMember(to, at, FLOOR, fix.floor);
  if (fix.sentElevationRef === undefined) at = put(bytes, at, REF);
  if (Number.isNaN(fix.sentSpeed)) at = putMember(to, at, SPEED, fix.speed);
  if (Number.isNaN(fix.sentCourse)) at = putMember(to, at, COURSE, fix.course);
  const { trackables } = fix;
  if (trackables.length === 0) at = put(bytes, at, NO_TRACKABLES);
  else at += bytes.write(trackablesJson(trackables), at);
  return put(bytes, at, CRS);
}

function trackablesJson(trackables: readonly string[]): string {
  let text = trackablesJsonCache.get(trackables);
  if (text === undefined) {
    text = TRACKABLES + JSON.stringify(trackables);
    trackablesJsonCache.set(trackables, text);
  }
  return text;
}

/** Removes the sender's timestamp_sent: see location_json.ts. */
function withoutSentTime(bytes: Utf8Bytes, start: number, end: number): number {
  let from = start;
  while (!isAt(bytes, from, SENT_TIME_BYTES)) from++;
  let to = from + SENT_TIME_BYTES.length;
  while (bytes[to] !== QUOTE) to++;
  to++;
  bytes.copyWithin(from, to, end);
  return end - (to - from);
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

// hot
function putMember(to: RecordBuffer, at: number, name: Uint8Array, value: number | undefined): number {
  return value === undefined ? at : putNumber(to, put(to.bytes, at, name), value);
}

function asciiString(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
