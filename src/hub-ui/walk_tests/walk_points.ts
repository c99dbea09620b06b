import type { WalkPoint } from '../../model/walk_test.ts';
import { readCsv } from '../formats/csv.ts';
import { t } from '../languages/language.ts';

const NUMBERS = ['longitude', 'latitude', 'z', 'floor'] as const;

/**
 * Reads surveyed points from a table with the columns id, longitude and latitude, and optionally z and floor. Throws an
 * Error that names the invalid row.
 */
export function readPoints(text: string): WalkPoint[] {
  const { columns, rows, numbers } = readCsv(text);
  const names = columns.map((name) => name.trim().toLowerCase());
  const missing = ['id', 'longitude', 'latitude'].find((name) => !names.includes(name));
  if (missing !== undefined) throw new Error(t('The column {name} is missing', { name: missing }));
  return rows.map((row, i) => {
    const field = (name: string): string => row[names.indexOf(name)]?.trim() ?? '';
    const [longitude, latitude, z, floor] = NUMBERS.map((name) => {
      const value = field(name);
      if (value === '' && (name === 'z' || name === 'floor')) return undefined;
      const number = Number(value.replace(',', '.'));
      if (value !== '' && Number.isFinite(number)) return number;
      throw new Error(t('Row {number}: {name} is not a number', { number: numbers[i] ?? 0, name }));
    }) as [number, number, number | undefined, number | undefined];
    const coordinates = [longitude, latitude, ...(z === undefined ? [] : [z])];
    return { id: field('id'), position: { type: 'Point', coordinates }, ...(floor !== undefined && { floor }) };
  });
}
