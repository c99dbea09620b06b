/**
 * Conversion of times between RFC 3339 strings, used in the API, and numbers, used in the hub: milliseconds since 1970,
 * with a fraction for senders with a finer resolution. A double represents today's times to a quarter of a microsecond.
 */

const DAY_MS = 86_400_000;
/** Range of times that RFC 3339 can express in UTC: years 0000 to 9999. */
const FIRST_MS = -62_167_219_200_000;
const END_MS = 253_402_300_800_000;
/** Indexes of the T that ends the date, and of the seconds. */
const [DAY_END, SECOND_AT] = [10, 17] as const;
/**
 * Number of significant digits of a fraction: finer than the resolution of a double, and still exact when multiplied.
 */
const FRACTION_DIGITS = 12;
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

// Caches for consecutive times, which usually share a day when read, and a few seconds when written.
let readDay = Number.NaN;
let readDayMs = Number.NaN;
const WRITTEN = 64;
const writtenSeconds = new Float64Array(WRITTEN).fill(Number.NaN);
const writtenTexts = new Array<string>(WRITTEN).fill('');

/** 000 to 999. */
const THREE_DIGITS = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

/**
 * Parses an RFC 3339 date and time with `Z` or an offset to milliseconds since 1970. The fraction may have any length.
 * A leap second is the first moment of the next minute. Returns NaN if `text` is not a valid time in the years 0000 to
 * 9999.
 */
export function parseTime(text: string): number {
  // hot
  const timeOfDay = readTimeOfDay(text);
  const day = readDate(text);
  let at = 19;
  let fraction = 0;
  if (text.charCodeAt(at) === 0x2e) {
    let scale = 1;
    at++;
    const first = at;
    for (let digit = digitAt(text, at); digit >= 0; digit = digitAt(text, at)) {
      if (at - first < FRACTION_DIGITS) {
        fraction = fraction * 10 + digit;
        scale *= 10;
      }
      at++;
    }
    if (at === first) return Number.NaN;
    fraction = (fraction * 1000) / scale;
  }
  const timeMs = day + timeOfDay - readOffset(text, at) + fraction;
  return timeMs >= FIRST_MS && timeMs < END_MS ? timeMs : Number.NaN;
}

/**
 * Normalizes an RFC 3339 string for output. Leap seconds and lower case, which RFC 3339 allows but most parsers reject,
 * are replaced with an equivalent time. All other strings stay unchanged.
 */
export function readableTime(text: string): string {
  if (text.startsWith('60', SECOND_AT)) return formatTime(parseTime(text));
  const isUpperCase = text[DAY_END] === 'T' && !text.endsWith('z');
  return isUpperCase ? text : text.toUpperCase();
}

/**
 * Formats a time as an RFC 3339 string in UTC, with milliseconds if it is a whole number of them, otherwise with
 * microseconds. Throws a RangeError for NaN, infinity and years outside 0000 to 9999.
 */
export function formatTime(timeMs: number): string {
  // hot
  let second = Math.floor(timeMs / 1000);
  // May be 1000 due to rounding.
  const rest = timeMs - second * 1000;
  if (rest < 1000 && Number.isInteger(rest)) return `${textOfSecond(second)}${THREE_DIGITS[rest]}Z`;
  let micros = Math.round(rest * 1000);
  if (micros === 1_000_000) {
    second++;
    micros = 0;
  }
  return `${textOfSecond(second)}${THREE_DIGITS[Math.floor(micros / 1000)]}${THREE_DIGITS[micros % 1000]}Z`;
}

/** Returns the start of a time as RFC 3339, given its second since 1970: `2026-11-20T10:00:00.` */
export function textOfSecond(second: number): string {
  const slot = second & (WRITTEN - 1);
  if (second === writtenSeconds[slot]) return writtenTexts[slot] as string;
  const timeMs = second * 1000;
  if (!(timeMs >= FIRST_MS && timeMs < END_MS)) {
    throw new RangeError(`Cannot write a time as RFC 3339: ${timeMs} ms since 1970 is not in the years 0000 to 9999`);
  }
  const text = new Date(timeMs).toISOString().slice(0, 20);
  writtenTexts[slot] = text;
  writtenSeconds[slot] = second;
  return text;
}

/** Returns the start of the day in milliseconds since 1970; NaN unless `text` starts with a date and a T. */
function readDate(text: string): number {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  // Lower case is upper case with this bit set: T and t.
  if ((text.charCodeAt(10) | 0x20) !== 0x74) return Number.NaN;
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return Number.NaN;
  const date = year * 10_000 + month * 100 + day;
  if (date === readDay) return readDayMs;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return Number.NaN;
  readDayMs = daysSince1970(year, month, day) * DAY_MS;
  readDay = date;
  return readDayMs;
}

function readTimeOfDay(text: string): number {
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a) return Number.NaN;
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return Number.NaN;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/**
 * Returns the offset of the local time from UTC in milliseconds; NaN unless `text` ends with Z or an offset at `at`.
 */
function readOffset(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  if ((sign | 0x20) === 0x7a) return text.length === at + 1 ? 0 : Number.NaN;
  if (text.length !== at + 6 || text.charCodeAt(at + 3) !== 0x3a) return Number.NaN;
  const hours = twoDigits(text, at + 1);
  const minutes = twoDigits(text, at + 4);
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  const offsetMs = (hours * 60 + minutes) * 60_000;
  if (sign === 0x2b) return offsetMs;
  return sign === 0x2d ? -offsetMs : Number.NaN;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Returns the digit at `at`; -1 for another character. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2 && isLeapYear(year)) return 29;
  return (DAYS_BEFORE_MONTH[month] as number) - (DAYS_BEFORE_MONTH[month - 1] as number);
}

/** Returns the days since 1970 in the Gregorian calendar, extended backwards to year 0. */
function daysSince1970(year: number, month: number, day: number): number {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const thisLeapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  return before * 365 + leapDays + (DAYS_BEFORE_MONTH[month - 1] as number) + thisLeapDay + day - 719_163;
}
