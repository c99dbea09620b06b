import type { Fix } from './fix.ts';
import type { TextBytes } from './record.ts';
import { locationText, publishedMembersText, SENT_TIME, TRACKABLES } from './text.ts';

/**
 * A location as the bytes that are published of it. Nearly all of them came in as they go out, and lie in the record; what
 * the hub adds is a few numbers. So nothing becomes a text on its way from socket to socket.
 */

/** Bytes of what is added beside the ids of trackables: names, five numbers, the time. */
const ADDED_MAX = 512;
const UTF8_MAX = 3;
/** Of a number whose shortest decimal text is that of its ten thousandths: up to there it has at most 15 digits. */
const FIXED_MAX = 1e11;
const SCALE = 1e4;

const [OPEN, QUOTE, MINUS, POINT, ZERO] = [0x7b, 0x22, 0x2d, 0x2e, 0x30] as const;
const SENT_TIME_BYTES = asciiBytes(SENT_TIME);
const FLOOR = asciiBytes(',"floor":');
const REF = asciiBytes(',"elevation_ref":"floor"');
const SPEED = asciiBytes(',"speed":');
const COURSE = asciiBytes(',"course":');
const NO_TRACKABLES = asciiBytes(`${TRACKABLES}[]`);
const CRS = asciiBytes(',"crs":"EPSG:4326"}');

/** Texts of lists of trackables, which hardly ever change. */
const trackablesTexts = new WeakMap<readonly string[], string>();

/** How many bytes writeLocation takes at most. */
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
export function writeLocation(to: TextBytes, start: number, fix: Fix, sentTime: Uint8Array): number {
  // Sent in other coordinates: these are computed.
  if (fix.positionBytes === 0)
    return start + to.write(locationText(fix, publishedMembersText(fix, textOf(sentTime))), start);
  to[start] = OPEN;
  let at = fix.copyText(to, start + 1);
  if (fix.hasSentTime) at = withoutSentTime(to, start + fix.positionBytes, at);
  at = put(to, at, sentTime);
  if (Number.isNaN(fix.sentFloor)) at = putMember(to, at, FLOOR, fix.floor);
  if (fix.sentElevationRef === undefined) at = put(to, at, REF);
  if (Number.isNaN(fix.sentSpeed)) at = putMember(to, at, SPEED, fix.speed);
  if (Number.isNaN(fix.sentCourse)) at = putMember(to, at, COURSE, fix.course);
  const { trackables } = fix;
  if (trackables.length === 0) at = put(to, at, NO_TRACKABLES);
  else at += to.write(trackablesText(trackables), at);
  return put(to, at, CRS);
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
function putMember(to: TextBytes, at: number, name: Uint8Array, value: number | undefined): number {
  return value === undefined ? at : putNumber(to, put(to, at, name), value);
}

/** Copies a short constant: a call of the engine would take longer. */
// hot
export function put(to: Uint8Array, at: number, from: Uint8Array): number {
  for (let i = 0; i < from.length; i++) to[at + i] = from[i] as number;
  return at + from.length;
}

/**
 * Writes a number as JSON does. One that is a whole number of ten thousandths, as speeds and courses are that the hub has
 * derived, is written digit by digit: below 1e11 it is the only such number that near, so its digits are the shortest.
 */
// hot
export function putNumber(to: TextBytes, start: number, value: number): number {
  const size = Math.abs(value);
  const units = Math.round(size * SCALE);
  if (!(size < FIXED_MAX) || units / SCALE !== size) return start + to.write(String(value), start);
  let at = start;
  if (value < 0) to[at++] = MINUS;
  const whole = Math.floor(units / SCALE);
  at = putWhole(to, at, whole);
  let fraction = units - whole * SCALE;
  if (fraction === 0) return at;
  to[at++] = POINT;
  for (let unit = SCALE / 10; fraction > 0; unit /= 10) {
    const digit = Math.floor(fraction / unit);
    to[at++] = ZERO + digit;
    fraction -= digit * unit;
  }
  return at;
}

function putWhole(to: Uint8Array, start: number, whole: number): number {
  let digits = 1;
  for (let rest = whole; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  let rest = whole;
  for (let at = start + digits - 1; at >= start; at--) {
    const tens = Math.floor(rest / 10);
    to[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return start + digits;
}

/** A text of ASCII characters as bytes. */
export function asciiBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
