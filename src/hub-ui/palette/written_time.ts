import type { ZoneClock } from '../../model/zone_clock.ts';

/**
 * Reads times as people write them, in English, German, French and Spanish whatever the language of the page is: "yesterday
 * 14:00", "gestern 14 Uhr", "lundi 8h30", "hace 2 horas", "28.11. 14:00", "2026-11-28 14:00". A time is never in the future.
 */

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const;

/** Days before today. */
const DAYS: Readonly<Record<string, number>> = {
  ...{ today: 0, heute: 0, "aujourd'hui": 0, hoy: 0 },
  ...{ yesterday: 1, gestern: 1, hier: 1, ayer: 1 },
  ...{ vorgestern: 2, 'avant-hier': 2, anteayer: 2 },
};

/** Names of weekdays by their first letters, Sunday first. */
const WEEKDAYS = [
  ['sun', 'sonntag', 'dimanche', 'domingo'],
  ['mon', 'montag', 'lundi', 'lunes'],
  ['tue', 'dienstag', 'mardi', 'martes'],
  ['wed', 'mittwoch', 'mercredi', 'miercoles'],
  ['thu', 'donnerstag', 'jeudi', 'jueves'],
  ['fri', 'freitag', 'vendredi', 'viernes'],
  ['sat', 'samstag', 'samedi', 'sabado'],
];

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(m|min|mins|minute|minutes|minuten|minutos?)$/, MINUTE_MS],
  [/^(h|hours?|std|stunden?|heures?|horas?)$/, HOUR_MS],
  [/^(d|days?|tage?n?|jours?|j|dias?)$/, DAY_MS],
];

/** "2 hours ago", "vor 2 Stunden", "il y a 2 heures", "hace 2 horas". */
const AGO = /^(?:(?:vor|il y a|hace)\s+(\d+)\s*([a-z]+)|(\d+)\s*([a-z]+)\s+ago)$/;
/** Clock times: "14:00", "14.30 Uhr", "8h30", "14 Uhr", "2 pm", "2:30pm". */
const TIME_OF_DAY = /(?:^|\s)(\d{1,2})(?:(?:[:.]|\s?h)(\d{2})?)?\s*(uhr|h|am|pm|a\.m\.|p\.m\.)?$/;

/** Returns the time that a text describes, in milliseconds since 1970; undefined if it describes none before `nowMs`. */
export function readTime(written: string, nowMs: number, clock: ZoneClock): number | undefined {
  const text = folded(written);
  const ago = AGO.exec(text);
  if (ago !== null) {
    const [, count = ago[3], unit = ago[4] ?? ''] = ago;
    const unitMs = UNITS.find(([form]) => form.test(unit))?.[1];
    return unitMs === undefined ? undefined : nowMs - Number(count) * unitMs;
  }
  const today = Math.floor(clock.wallMs(nowMs) / DAY_MS) * DAY_MS;
  const whole = dayOf(text, today);
  if (whole !== undefined) return past(clock.timeOf(whole), nowMs);
  const time = TIME_OF_DAY.exec(text);
  const ofDay = time === null ? undefined : millisecondsOf(time);
  if (time === null || ofDay === undefined) return undefined;
  const rest = text
    .slice(0, time.index)
    .trim()
    .replace(/ (at|um|a|a las?|,)$/, '')
    .replace(/,$/, '')
    .trim();
  if (rest === '') {
    // A number alone is not a time.
    if (time[2] === undefined && time[3] === undefined) return undefined;
    const atMs = clock.timeOf(today + ofDay);
    return atMs <= nowMs ? atMs : clock.timeOf(today - DAY_MS + ofDay);
  }
  const day = dayOf(rest, today);
  return day === undefined ? undefined : past(clock.timeOf(day + ofDay), nowMs);
}

function past(atMs: number, nowMs: number): number | undefined {
  return atMs <= nowMs ? atMs : undefined;
}

/** Midnight of a day, as wall-clock time; undefined if the text is not a day. */
function dayOf(text: string, today: number): number | undefined {
  const before = DAYS[text];
  if (before !== undefined) return today - before * DAY_MS;
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso !== null) return dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const european = /^(\d{1,2})[./](\d{1,2})[./]?(\d{4})?$/.exec(text);
  if (european !== null) {
    const [, day, month, year] = european.map(Number);
    const thisYear = new Date(today).getUTCFullYear();
    if (year !== undefined && !Number.isNaN(year)) return dateOf(year, month ?? 0, day ?? 0);
    const date = dateOf(thisYear, month ?? 0, day ?? 0);
    return date !== undefined && date > today ? dateOf(thisYear - 1, month ?? 0, day ?? 0) : date;
  }
  const weekday = WEEKDAYS.findIndex((names) => names.some((name) => isWeekday(text, name)));
  if (weekday < 0) return undefined;
  const back = (new Date(today).getUTCDay() - weekday + 7) % 7;
  return today - (back === 0 ? 7 : back) * DAY_MS;
}

/** Whether a text is the name of a weekday, or its first three letters or more. */
function isWeekday(text: string, name: string): boolean {
  const whole = name.length === 3 ? text.replace(/(?:s|nes|rs|ur)?day$/, '') : text;
  return text.length >= 3 && (name.startsWith(whole) || whole === name);
}

/** Midnight of a date; undefined if it does not exist. */
function dateOf(year: number, month: number, day: number): number | undefined {
  const atMs = Date.UTC(year, month - 1, day);
  const date = new Date(atMs);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? atMs : undefined;
}

/** Milliseconds since midnight; undefined if the text is no clock time. */
function millisecondsOf([, hourText = '', minuteText = '0', suffix = '']: RegExpExecArray): number | undefined {
  const minutes = Number(minuteText);
  let hours = Number(hourText);
  if (/^[ap]/.test(suffix)) {
    if (hours < 1 || hours > 12) return undefined;
    hours = (hours % 12) + (suffix.startsWith('p') ? 12 : 0);
  }
  return hours > 23 || minutes > 59 ? undefined : hours * HOUR_MS + minutes * MINUTE_MS;
}

/** Lower case, without accents and repeated spaces. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase().trim().replace(/\s+/g, ' ');
}
