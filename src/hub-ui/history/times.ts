/** Times as the reader writes them, in the reader's time zone. */

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const SHORT_CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const ZONE = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function clockText(atMs: number): string {
  return CLOCK.format(atMs);
}

export function dayText(atMs: number): string {
  return DAY.format(atMs);
}

/** The name of the reader's time zone, as it is at a time: it has another one in summer. */
export function zoneText(atMs: number): string {
  return ZONE.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A time in full, as it is read out. */
export function wholeText(atMs: number): string {
  return `${dayText(atMs)}, ${clockText(atMs)} ${zoneText(atMs)}`;
}

/** A time within a range: with its day where the range has more of them. */
export function timeWithin(atMs: number, spanMs: number): string {
  return spanMs > DAY_MS ? `${SHORT_DAY.format(atMs)}, ${SHORT_CLOCK.format(atMs)}` : SHORT_CLOCK.format(atMs);
}

/** From when to when, with the day and the time zone. */
export function rangeText({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string {
  const isOneDay = startOfDay(fromMs) === startOfDay(toMs - 1);
  const from = `${dayText(fromMs)}, ${SHORT_CLOCK.format(fromMs)}`;
  const to = isOneDay ? SHORT_CLOCK.format(toMs) : `${dayText(toMs)}, ${SHORT_CLOCK.format(toMs)}`;
  return `${from} – ${to} ${zoneText(toMs)}`;
}

/** How long something took: its two largest units. */
export function lengthOfTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(`${minutes} min`, seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return joined(`${hours} h`, minutes % 60, 'min');
  return joined(`${Math.floor(hours / 24)} d`, hours % 24, 'h');
}

function joined(first: string, rest: number, unit: string): string {
  return rest === 0 ? first : `${first} ${rest} ${unit}`;
}

/** Midnight before a time, where the reader is. */
export function startOfDay(atMs: number): number {
  return new Date(atMs).setHours(0, 0, 0, 0);
}

/** Midnight after a time: a day has 23 or 25 hours when the clocks are changed. */
export function endOfDay(atMs: number): number {
  const day = new Date(atMs);
  day.setHours(0, 0, 0, 0);
  return day.setDate(day.getDate() + 1);
}

/** What an input of a date and a time is filled with: the reader's clock without a time zone. */
export function inputText(atMs: number): string {
  const shifted = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
