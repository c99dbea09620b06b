import type { RecordBuffer } from './location/record.ts';

/** JSON put together as bytes. */

/** UTF-8 needs at most three bytes for a UTF-16 unit. */
export const UTF8_MAX = 3;
/** Bytes that putNumber needs, and writes over, at most. */
export const NUMBER_BYTES_MAX = 32;

/** Coordinates are rounded to that many units of a degree at most; below FINE_MAX these have 15 digits. */
const FINE = 1e10;
const FINE_MAX = 1e5;
/** Smaller ones are written with an exponent. */
const SMALLEST = 1e-6;
/** Metres are rounded to that many units, which have 15 digits, too. */
const COARSE = 1e4;
const COARSE_MAX = 1e11;

/** 00 to 99, and 0000 to 9999, as bytes: the first digit in the lowest one. */
const TWO_DIGITS = Uint16Array.from({ length: 100 }, (_, number) => digits(number, 2));
const FOUR_DIGITS = Uint32Array.from({ length: 10_000 }, (_, number) => digits(number, 4));

const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30] as const;

/** A text of ASCII characters as bytes. */
export function asciiBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Copies a constant, and returns the offset of its end. From six bytes on, copying byte by byte would take longer. */
// hot
export function put(to: Uint8Array, at: number, from: Uint8Array): number {
  to.set(from, at);
  return at + from.length;
}

/**
 * Writes a number as JSON does, and returns where it ends. One that was rounded to a few digits behind the point, as
 * nearly all are that the hub has computed, is written digit by digit: as a whole number of units of at most 15 digits it
 * is the only such number that near, so its digits are the shortest.
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
  // Half a unit more: so the product is never just below the whole number that it should be.
  const first = ((fraction + 0.5) * 1e-4) | 0;
  const second = (first / 10_000) | 0;
  const { view } = to;
  view.setUint16(at + 1, TWO_DIGITS[second] as number, true);
  view.setUint32(at + 3, FOUR_DIGITS[first - second * 10_000] as number, true);
  view.setUint32(at + 7, FOUR_DIGITS[(fraction - first * 1e4) | 0] as number, true);
  return withoutZeros(bytes, at + 11);
}

/** Zero, large numbers, and those that were not rounded. */
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
