const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const grouped = new Intl.NumberFormat('en');
const fine = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** A whole number with its thousands apart. */
export function countText(value: number): string {
  return grouped.format(value);
}

/** How many there are of something: `1 fence`, `1,200 fences`. */
export function countedText(value: number, singular: string): string {
  return `${countText(value)} ${singular}${value === 1 ? '' : 's'}`;
}

/** A length in meters, to the centimeter. */
export function metersText(value: number): string {
  return `${fine.format(value)} m`;
}

/**
 * A position in the order of its numbers: longitude and latitude to the centimeter, or meters of a zone, and a height where
 * there is one.
 */
export function positionText([x = 0, y = 0, z]: readonly number[], plane: 'earth' | 'zone'): string {
  const place = plane === 'earth' ? `${x.toFixed(7)}°, ${y.toFixed(7)}°` : `${x.toFixed(2)} m, ${y.toFixed(2)} m`;
  return z === undefined ? place : `${place}, ${metersText(z)} high`;
}

/** Per second. */
export function rateText(value: number): string {
  return `${value < 10 && value % 1 !== 0 ? value.toFixed(1) : compact.format(Math.round(value))}/s`;
}

/** Per second, or per minute of what is rarer than ten times a minute. */
export function seldomRateText(value: number): string {
  return value > 0 && value < 1 / 6 ? `${(value * 60).toFixed(1)}/min` : rateText(value);
}

export function millisecondsText(value: number): string {
  return `${value < 10 && value % 1 !== 0 ? value.toFixed(1) : compact.format(Math.round(value))} ms`;
}

export function bytesText(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log(Math.max(1, value)) / Math.log(1_000)));
  const scaled = value / 1_000 ** power;
  return `${scaled < 10 && power > 0 ? scaled.toFixed(1) : Math.round(scaled)} ${units[power]}`;
}

export function percentText(value: number): string {
  return `${Math.round(value)} %`;
}
