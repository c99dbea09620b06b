import { ExactNumber } from '../model/lossless_numbers.ts';
import { show } from '../model/error_value_text.ts';
import { formatTime } from '../model/time.ts';
import { readVendorTime } from '../model/vendor_time.ts';
import { type Problem, problemOf } from '../problem.ts';
import { timeInZone } from './local_time.ts';

/** Conversions of the values of a payload to the types of a location. Each returns a Problem for an unfit value. */

/** Decimal notation, as numbers in CSV and in quotes have it. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
/** Whether a date and time ends without Z or an offset. */
const NO_OFFSET = /^[^Zz]*[Tt ]\d\d:\d\d:\d\d([.,:]\d+)?$/;

export interface NumberConversion {
  readonly scale: number;
  readonly offset: number;
}

/** Returns the number that a value is, or that a string contains, scaled and shifted. */
export function toNumber(value: unknown, at: string, { scale, offset }: NumberConversion): number | Problem {
  const number = numberIn(value);
  if (number === undefined) return problemOf('not_a_number', { path: at, found: show(value) });
  const converted = number * scale + offset;
  return Number.isFinite(converted) ? converted : problemOf('not_finite', { path: at, found: show(value) });
}

/** Returns an angle in degrees, at least 0 and less than 360. */
export function toAngle(value: unknown, at: string, conversion: NumberConversion): number | Problem {
  const degrees = toNumber(value, at, conversion);
  return typeof degrees === 'number' ? ((degrees % 360) + 360) % 360 : degrees;
}

/** Returns a string, or a number in decimal notation, without surrounding white space. */
export function toText(value: unknown, at: string): string | Problem {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  if (value instanceof ExactNumber) return value.text;
  return problemOf('not_a_string_or_number', { path: at, found: show(value) });
}

const BOOLEANS = new Map<unknown, boolean>([
  ...([true, 'true', 1, '1'] as const).map((value) => [value, true] as const),
  ...([false, 'false', 0, '0'] as const).map((value) => [value, false] as const),
]);

export function toBoolean(value: unknown, at: string): boolean | Problem {
  return BOOLEANS.get(value) ?? problemOf('not_a_boolean', { path: at, found: show(value) });
}

export interface TimeConversionOf {
  readonly unit: 'ms' | 's' | 'iso';
  /** Of times without an offset; UTC if undefined. */
  readonly timeZone: string | undefined;
}

const FACTORS = { ms: 1, s: 1000 } as const;

/** Returns a time in RFC 3339. */
export function toTime(value: unknown, at: string, { unit, timeZone }: TimeConversionOf): string | Problem {
  const timeMs = unit === 'iso' ? clockTime(value, timeZone) : (numberIn(value) ?? Number.NaN) * FACTORS[unit];
  if (Number.isNaN(timeMs))
    return problemOf(unit === 'iso' ? 'not_a_vendor_time' : 'not_a_number', { path: at, found: show(value) });
  try {
    return formatTime(timeMs);
  } catch {
    return problemOf('not_a_vendor_time', { path: at, found: show(value) });
  }
}

function clockTime(value: unknown, timeZone: string | undefined): number {
  if (typeof value !== 'string') return Number.NaN;
  const text = value.trim();
  const timeMs = readVendorTime(text);
  return timeZone !== undefined && NO_OFFSET.test(text) && !Number.isNaN(timeMs)
    ? timeInZone(timeMs, timeZone)
    : timeMs;
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof ExactNumber) return Number(value.text);
  if (typeof value === 'string' && NUMBER.test(value.trim())) return Number(value);
  return undefined;
}
