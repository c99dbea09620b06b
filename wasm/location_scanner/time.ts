/** RFC 3339 in bytes: the same rules, and the same sums in the same order, as src/model/time.ts. */

const DAY_MS: f64 = 86_400_000;
const FIRST_MS: f64 = -62_167_219_200_000;
const END_MS: f64 = 253_402_300_800_000;
/** Significant digits of a fraction. */
const FRACTION_DIGITS = 12;
const NO_NUMBER: i32 = 1000;

// Consecutive times mostly share their day.
let lastYear: u32 = 0;
let lastMonth: u32 = 0;
let lastDay: u32 = 0;
let lastDayMs: f64 = 0;

/**
 * Returns milliseconds since 1970 of the date and time between two offsets; NaN for an invalid one, and for leap
 * seconds and lower case, which are not published as sent: see readableTime there.
 */
export function readTime(at: usize, end: usize): f64 {
  if (end - at < 20 || !isKnownDay(at)) return NaN;
  if (load<u8>(at + 10) !== 0x54) return NaN;
  const hour = twoDigits(at + 11);
  const minute = twoDigits(at + 14);
  const second = twoDigits(at + 17);
  if (hour > 23 || minute > 59 || second > 59 || load<u8>(at + 13) !== 0x3a || load<u8>(at + 16) !== 0x3a) return NaN;
  let place = at + 19;
  let fraction: f64 = 0;
  if (load<u8>(place) === 0x2e) {
    place++;
    const first = place;
    let digits: f64 = 0;
    let scale: f64 = 1;
    let digit = <u32>load<u8>(place) - 0x30;
    while (digit <= 9) {
      if (<i32>(place - first) < FRACTION_DIGITS) {
        digits = digits * 10 + <f64>digit;
        scale *= 10;
      }
      place++;
      digit = <u32>load<u8>(place) - 0x30;
    }
    if (place === first) return NaN;
    fraction = (digits * 1000) / scale;
  }
  const timeOfDay = <f64>(((hour * 60 + minute) * 60 + second) * 1000);
  const timeMs = lastDayMs + timeOfDay - readOffset(place, end) + fraction;
  return timeMs >= FIRST_MS && timeMs < END_MS ? timeMs : NaN;
}

/** Returns the milliseconds by which local time is ahead of UTC; NaN unless Z or an offset ends the time. */
function readOffset(at: usize, end: usize): f64 {
  const sign = load<u8>(at);
  if (sign === 0x5a) return end === at + 1 ? 0 : NaN;
  if (end !== at + 6 || load<u8>(at + 3) !== 0x3a) return NaN;
  const hours = twoDigits(at + 1);
  const minutes = twoDigits(at + 4);
  if (hours > 23 || minutes > 59) return NaN;
  const offsetMs = <f64>((hours * 60 + minutes) * 60_000);
  if (sign === 0x2b) return offsetMs;
  return sign === 0x2d ? -offsetMs : NaN;
}

/** Whether a valid date is at the offset; then lastDayMs is set to it. */
function isKnownDay(at: usize): bool {
  const year = load<u32>(at);
  const month = load<u32>(at + 4);
  const day: u32 = load<u16>(at + 8);
  if (year === lastYear && month === lastMonth && day === lastDay) return true;
  const centuries = twoDigits(at);
  const years = twoDigits(at + 2);
  const months = twoDigits(at + 5);
  const days = twoDigits(at + 8);
  if (centuries > 99 || years > 99 || load<u8>(at + 4) !== 0x2d || load<u8>(at + 7) !== 0x2d) return false;
  const yearNumber = centuries * 100 + years;
  if (months < 1 || months > 12 || days < 1 || days > daysInMonth(yearNumber, months)) return false;
  lastYear = year;
  lastMonth = month;
  lastDay = day;
  lastDayMs = <f64>daysSince1970(yearNumber, months, days) * DAY_MS;
  return true;
}

function twoDigits(at: usize): i32 {
  const tens = <i32>load<u8>(at) - 0x30;
  const ones = <i32>load<u8>(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_NUMBER;
}

function isLeapYear(year: i32): bool {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(year: i32, month: i32): i32 {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Returns the days of the Gregorian calendar, extended backwards to year 0. Years begin in March here, so the leap day
 * is the last.
 */
function daysSince1970(year: i32, month: i32, day: i32): i32 {
  const marchYear = (month <= 2 ? year - 1 : year) + 400;
  const monthFromMarch = (month + 9) % 12;
  const leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400;
  return marchYear * 365 + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468 - 146_097;
}
