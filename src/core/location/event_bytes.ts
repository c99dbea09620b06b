import { asciiBytes, put, putNumber, UTF8_MAX } from '../json_bytes.ts';
import type { Fix } from './fix.ts';
import type { RecordBuffer, TextBytes } from './record.ts';
import { keptText, locationText, publishedMembersText, SENT_TIME, TRACKABLES } from './text.ts';

/**
 * A location as the bytes that are published of it, or kept. Nearly all of them came in as they go out, and lie in the
 * record; what the hub adds is a few numbers. So nothing becomes a text on its way from socket to socket, or to the disk.
 */

/** Bytes of what is added beside the ids of trackables: names, five numbers, the time. */
const ADDED_MAX = 512;

const [OPEN, QUOTE] = [0x7b, 0x22] as const;
const SENT_TIME_BYTES = asciiBytes(SENT_TIME);
const FLOOR = asciiBytes(',"floor":');
const REF = asciiBytes(',"elevation_ref":"floor"');
const SPEED = asciiBytes(',"speed":');
const COURSE = asciiBytes(',"course":');
const NO_TRACKABLES = asciiBytes(`${TRACKABLES}[]`);
const CRS = asciiBytes(',"crs":"EPSG:4326"}');

/** Texts of lists of trackables, which hardly ever change. */
const trackablesTexts = new WeakMap<readonly string[], string>();

/** How many bytes writeLocation, or writeKept, takes at most. */
export function locationBytesMax(fix: Fix): number {
  const { trackables } = fix;
  const ids = trackables.length === 0 ? 0 : UTF8_MAX * trackablesText(trackables).length;
  return fix.textBytes + ADDED_MAX + ids;
}

/**
 * Writes a location in EPSG:4326 as it is published: what locationText makes of publishedMembersText. `sentTime` is what
 * sentTimeText says. Returns where it ends.
 */
// hot
export function writeLocation(to: RecordBuffer, start: number, fix: Fix, sentTime: Uint8Array): number {
  const { bytes } = to;
  // Sent in other coordinates: these are computed.
  if (fix.positionBytes === 0)
    return start + bytes.write(locationText(fix, publishedMembersText(fix, textOf(sentTime))), start);
  bytes[start] = OPEN;
  let at = fix.copyText(bytes, start + 1);
  if (fix.hasSentTime) at = withoutSentTime(bytes, start + fix.positionBytes, at);
  return writeFilledIn(to, put(bytes, at, sentTime), fix);
}

/** Writes a location as it is kept: what keptText makes of it. Returns where it ends. */
// hot
export function writeKept(to: RecordBuffer, start: number, fix: Fix): number {
  const { bytes } = to;
  if (fix.positionBytes === 0) return start + bytes.write(keptText(fix), start);
  bytes[start] = OPEN;
  return writeFilledIn(to, fix.copyText(bytes, start + 1), fix);
}

/** Writes what the hub has filled in, and the end. */
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
  else at += bytes.write(trackablesText(trackables), at);
  return put(bytes, at, CRS);
}

function trackablesText(trackables: readonly string[]): string {
  let text = trackablesTexts.get(trackables);
  if (text === undefined) {
    text = TRACKABLES + JSON.stringify(trackables);
    trackablesTexts.set(trackables, text);
  }
  return text;
}

/** Cuts out what the sender has said of that: see text.ts. */
function withoutSentTime(bytes: TextBytes, start: number, end: number): number {
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

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
