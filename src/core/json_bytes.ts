import { formatTime, textOfSecond } from '../model/time.ts';
import type { RecordBuffer, Utf8Bytes } from './location/record.ts';

export type { NewRecordBuffer, RecordBuffer, Utf8Bytes } from './location/record.ts';

/** Writes JSON as bytes. */

/** UTF-8 needs at most three bytes per UTF-16 code unit. */
export const UTF8_MAX = 3;
/** JSON needs at most six bytes per UTF-16 code unit, as in \u0000. */
export const JSON_MAX = 6;
/** Maximum number of bytes that putNumber writes to, including scratch space. */
export const NUMBER_BYTES_MAX = 32;

/**
 * Units per degree to which coordinates are rounded at most. A number below FINE_MAX has at most 15 digits in these
 * units.
 */
const FINE = 1e10;
const FINE_MAX = 1e5;
/** Smaller numbers are written with an exponent. */
const SMALLEST = 1e-6;
/** Units per meter to which meters are rounded. A number below COARSE_MAX has at most 15 digits in these units. */
const COARSE = 1e4;
const COARSE_MAX = 1e11;

/** 00 to 99 and 0000 to 9999 as bytes, the first digit in the lowest byte. */
const TWO_DIGITS = Uint16Array.from({ length: 100 }, (_, number) => digits(number, 2));
const FOUR_DIGITS = Uint32Array.from({ length: 10_000 }, (_, number) => digits(number, 4));

const [MINUS, POINT, ZERO, QUOTE, BACKSLASH, UTC] = [0x2d, 0x2e, 0x30, 0x22, 0x5c, 0x5a] as const;
/** Longest string that is faster to copy here than by the engine. */
const SHORT_MAX = 64;

/** Returns an ASCII string as bytes. */
export function asciiBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Copies a constant and returns the offset after it. From six bytes, `set` is faster than copying byte by byte. */
// hot
export function put(to: Uint8Array, at: number, from: Uint8Array): number {
  to.set(from, at);
  return at + from.length;
}

/** Writes a string as UTF-8, at most UTF8_MAX bytes per code unit, and returns the offset after it. */
// hot
export function putText(to: Utf8Bytes, start: number, text: string): number {
  const { length } = text;
  if (length > SHORT_MAX) return start + to.write(text, start);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return start + to.write(text, start);
    to[start + i] = code;
  }
  return start + length;
}

/** Writes a string as JSON, at most JSON_MAX bytes per code unit and two quotes. Returns the offset after it. */
// hot
export function putString(to: Utf8Bytes, start: number, text: string): number {
  const { length } = text;
  if (length > SHORT_MAX) return putText(to, start, JSON.stringify(text));
  to[start] = QUOTE;
  const from = start + 1;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7f || code === QUOTE || code === BACKSLASH)
      return putText(to, start, JSON.stringify(text));
    to[from + i] = code;
  }
  to[from + length] = QUOTE;
  return from + length + 1;
}

/** Writes a time as formatTime does, and returns the offset after it. */
// hot
export function putTime(to: Utf8Bytes, start: number, timeMs: number): number {
  const second = Math.floor(timeMs / 1000);
  const rest = timeMs - second * 1000;
  if (!(Number.isInteger(rest) && rest < 1000)) return putText(to, start, formatTime(timeMs));
  const at = putText(to, start, textOfSecond(second));
  const tenth = (rest / 10) | 0;
  const hundreds = (rest / 100) | 0;
  to[at] = ZERO + hundreds;
  to[at + 1] = ZERO + tenth - 10 * hundreds;
  to[at + 2] = ZERO + rest - 10 * tenth;
  to[at + 3] = UTC;
  return at + 4;
}

/**
 * Writes a number as JSON.stringify does and returns the offset after it. A number rounded to few decimals, as nearly
 * all numbers that the hub computes are, is written digit by digit. In units of its last decimal it is an integer of at
 * most 15 digits; doubles distinguish all of these, so its digits are also the shortest representation.
 */
// hot
export function putNumber(to: RecordBuffer, start: number, value: number): number {
  const { bytes } = to;
  const size = Math.abs(value);
  const units = Math.round(size * FINE);
  if (units / FINE !== size || size >= FINE_MAX || units < SMALLEST * FINE) return putOther(to, start, value);
  let at = start;
  if (value < 0) bytes[at++] = MINUS;
  const whole = size | 0;
  at = putWhole(bytes, at, whole);
  const fraction = units - whole * FINE;
  if (fraction === 0) return at;
  bytes[at] = POINT;
  // Half a unit is added so that rounding errors never put the product just below the exact integer.
  const first = ((fraction + 0.5) * 1e-4) | 0;
  const second = (first / 10_000) | 0;
  const { view } = to;
  view.setUint16(at + 1, TWO_DIGITS[second] as number, true);
  view.setUint32(at + 3, FOUR_DIGITS[first - second * 10_000] as number, true);
  view.setUint32(at + 7, FOUR_DIGITS[(fraction - first * 1e4) | 0] as number, true);
  return withoutZeros(bytes, at + 11);
}

/** Writes zero, large numbers, and numbers that were not rounded. */
function putOther({ bytes, view }: RecordBuffer, start: number, value: number): number {
  const size = Math.abs(value);
  const units = Math.round(size * COARSE);
  if (units / COARSE !== size || size >= COARSE_MAX) return start + bytes.write(JSON.stringify(value), start);
  let at = start;
  if (value < 0) bytes[at++] = MINUS;
  const whole = Math.floor(size);
  at = putWhole(bytes, at, whole);
  const fraction = units - whole * COARSE;
  if (fraction === 0) return at;
  bytes[at] = POINT;
  view.setUint32(at + 1, FOUR_DIGITS[fraction] as number, true);
  return withoutZeros(bytes, at + 5);
}

function withoutZeros(bytes: Uint8Array, end: number): number {
  let at = end;
  while (bytes[at - 1] === ZERO) at--;
  return at;
}

function putWhole(to: Uint8Array, start: number, whole: number): number {
  if (whole < 10) {
    to[start] = ZERO + whole;
    return start + 1;
  }
  if (whole < 100) {
    const tens = (whole / 10) | 0;
    to[start] = ZERO + tens;
    to[start + 1] = ZERO + whole - tens * 10;
    return start + 2;
  }
  let digits = 3;
  for (let rest = whole; rest >= 1000; rest = Math.floor(rest / 10)) digits++;
  let rest = whole;
  for (let at = start + digits - 1; at >= start; at--) {
    const tens = Math.floor(rest / 10);
    to[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return start + digits;
}

function digits(number: number, count: number): number {
  let bytes = 0;
  for (let rest = number, i = 0; i < count; i++, rest = Math.floor(rest / 10)) bytes = bytes * 256 + 0x30 + (rest % 10);
  return bytes;
}
