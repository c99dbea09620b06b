/** Formats of times, in the user's locale and time zone. */

import { clockOf } from '../../model/zone_clock.ts';
import { locale, t } from './language.ts';
import { timeZone } from './time_zone.ts';

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { timeZone, ...options });
}

const CLOCK = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const CLOCK_24 = format({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const SHORT_CLOCK = format({ hour: '2-digit', minute: '2-digit' });
const DAY = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const SHORT_DAY = format({ day: 'numeric', month: 'short' });
const LONG_DAY = format({ dateStyle: 'long' });
const ZONE = format({ timeZoneName: 'short' });
const MONTH = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' });

const zoneClock = clockOf(timeZone);

const DAY_MS = 24 * 3_600_000;

export function clockText(atMs: number): string {
  return CLOCK.format(atMs);
}

/** Time of the wall clock, with 24 hours in each country. */
export function clock24Text(atMs: number): string {
  return CLOCK_24.format(atMs);
}

/** Time of the wall clock, in minutes. */
export function shortClockText(atMs: number): string {
  return SHORT_CLOCK.format(atMs);
}

export function dayText(atMs: number): string {
  return DAY.format(atMs);
}

/** Date with the name of the month. */
export function longDayText(atMs: number): string {
  return LONG_DAY.format(atMs);
}

/** Calendar month; January is 1. */
export function monthText({ year, month }: { readonly year: number; readonly month: number }): string {
  return MONTH.format(Date.UTC(year, month - 1, 15));
}

/** Name of the user's time zone at a time: it differs in summer. */
export function zoneText(atMs: number): string {
  return ZONE.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** Full date and time with zone, for screen readers. */
export function wholeText(atMs: number): string {
  return `${dayText(atMs)}, ${clockText(atMs)} ${zoneText(atMs)}`;
}

/** Time within a range; with the date if the range has several days. */
export function timeWithin(atMs: number, spanMs: number): string {
  return spanMs > DAY_MS ? `${SHORT_DAY.format(atMs)}, ${SHORT_CLOCK.format(atMs)}` : SHORT_CLOCK.format(atMs);
}

/** Range of times, with date and time zone. */
export function rangeText({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string {
  const isOneDay = startOfDay(fromMs) === startOfDay(toMs - 1);
  const from = `${dayText(fromMs)}, ${SHORT_CLOCK.format(fromMs)}`;
  const to = isOneDay ? SHORT_CLOCK.format(toMs) : `${dayText(toMs)}, ${SHORT_CLOCK.format(toMs)}`;
  return `${from} – ${to} ${zoneText(toMs)}`;
}

/** Duration in its two largest units. */
export function lengthOfTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(`${minutes} min`, seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return joined(`${hours} h`, minutes % 60, 'min');
  return joined(t('{days} d', { days: Math.floor(hours / 24) }), hours % 24, 'h');
}

function joined(first: string, rest: number, unit: string): string {
  return rest === 0 ? first : `${first} ${rest} ${unit}`;
}

/** Midnight before a time, in the user's time zone. */
export function startOfDay(atMs: number): number {
  return zoneClock.timeOf(Math.floor(zoneClock.wallMs(atMs) / DAY_MS) * DAY_MS);
}

/** Midnight after a time; days with a clock change have 23 or 25 hours. */
export function endOfDay(atMs: number): number {
  return zoneClock.timeOf((Math.floor(zoneClock.wallMs(atMs) / DAY_MS) + 1) * DAY_MS);
}

/** Value of a `datetime-local` input, in the user's time zone. */
export function inputText(atMs: number): string {
  return new Date(zoneClock.wallMs(atMs)).toISOString().slice(0, 19);
}

/** Time of a `datetime-local` input; NaN if empty or invalid. */
export function inputTime(text: string): number {
  const wallMs = Date.parse(`${text}Z`);
  return Number.isFinite(wallMs) ? zoneClock.timeOf(wallMs) : Number.NaN;
}
