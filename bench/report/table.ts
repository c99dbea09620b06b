import type { Result } from './result.ts';

/** The rounded numbers of a result as a flat object, in order. */
export function flat({ more, series: _, command: __, profile, ...numbers }: Result): Record<string, number | string> {
  const rounded = Object.entries({ ...numbers, ...more }).map(([name, value]) => [name, shortened(value as number)]);
  return { profile, ...Object.fromEntries(rounded) };
}

/** Rounds to three significant digits, or to an integer if that has more. */
export function shortened(value: number): number {
  if (!Number.isFinite(value)) return value;
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Formats a result as lines of names and numbers. */
export function tableOf(result: Result): string {
  const rows = Object.entries(flat(result));
  const width = Math.max(...rows.map(([name]) => name.length));
  const text = (value: number | string): string => (typeof value === 'number' ? value.toLocaleString('en') : value);
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${text(value).padStart(12)}`).join('\n');
}
