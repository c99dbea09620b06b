import { language, locale, type Text, t } from './language.ts';

const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const grouped = new Intl.NumberFormat(locale);
/** With no, one and two digits behind the point. */
const fixed = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);
const fine = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });

/** In French, 0 is singular. */
const plurals = new Intl.PluralRules(language);

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** What is counted with `countedText`: a noun whose plural ends in s, each with two texts of the page. */
export type Noun = Text extends infer T ? (T extends `{count} ${infer N}s` ? N : never) : never;

/** A whole number with its thousands apart. */
export function countText(value: number): string {
  return grouped.format(value);
}

/** How many there are of something: `1 fence`, `1,200 fences`. */
export function countedText(value: number, noun: Noun): string {
  return t(`{count} ${noun}${plurals.select(value) === 'one' ? '' : 's'}` as '{count} fences', {
    count: countText(value),
  });
}

/** A number with so many digits behind its point or comma. */
export function fixedText(value: number, digits: 0 | 1 | 2): string {
  return (fixed[digits] as Intl.NumberFormat).format(value);
}

/** A length in meters, to the centimeter. */
export function metersText(value: number): string {
  return `${fine.format(value)} m`;
}

/**
 * A position in the order of its numbers: longitude and latitude to the centimeter, or meters of a zone, and a height where
 * there is one. Degrees are written as they are entered, with a point in every language.
 */
export function positionText([x = 0, y = 0, z]: readonly number[], plane: 'earth' | 'zone'): string {
  const place = plane === 'earth' ? `${x.toFixed(7)}°, ${y.toFixed(7)}°` : `${x.toFixed(2)} m, ${y.toFixed(2)} m`;
  return z === undefined ? place : t('{place}, {height} high', { place, height: metersText(z) });
}

/** Per second. */
export function rateText(value: number): string {
  return `${shortText(value)}/s`;
}

/** Per second, or per minute of what is rarer than ten times a minute. */
export function seldomRateText(value: number): string {
  return value > 0 && value < 1 / 6 ? `${fixedText(value * 60, 1)}/min` : rateText(value);
}

export function millisecondsText(value: number): string {
  return `${shortText(value)} ms`;
}

function shortText(value: number): string {
  return value < 10 && value % 1 !== 0 ? fixedText(value, 1) : compact.format(Math.round(value));
}

/** A size in the largest unit that is at least one, abbreviated as in the language: `Mo` in French. */
export function bytesText(value: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log(Math.max(1, value)) / Math.log(1_000)));
  const digits = value / 1_000 ** power < 10 && power > 0 ? 1 : 0;
  return new Intl.NumberFormat(locale, {
    ...{ style: 'unit', unit: BYTE_UNITS[power], unitDisplay: power === 0 ? 'long' : 'short' },
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  }).format(value / 1_000 ** power);
}

export function percentText(value: number): string {
  return `${Math.round(value)} %`;
}
