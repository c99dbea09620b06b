const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const grouped = new Intl.NumberFormat('en');

/** A whole number with its thousands apart. */
export function countText(value: number): string {
  return grouped.format(value);
}

/** Per second. */
export function rateText(value: number): string {
  return `${value < 10 && value % 1 !== 0 ? value.toFixed(1) : compact.format(Math.round(value))}/s`;
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
