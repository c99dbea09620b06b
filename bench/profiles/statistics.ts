/** Mean; 0 for no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** The first (0) to last (4) fifth of values, at least one of them. */
export function fifth(values: readonly number[], which: 0 | 1 | 2 | 3 | 4): readonly number[] {
  const from = Math.floor((values.length * which) / 5);
  return values.slice(from, Math.max(from + 1, Math.floor((values.length * (which + 1)) / 5)));
}
