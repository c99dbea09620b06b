import { thresholdsOf } from './heat.ts';
import type { HeatCell } from './history_api.ts';

/** Color scale from less to more time; the middle color means about the same. */
export const DIFFERENCE_LIGHT = ['#2166ac', '#8fbfdd', '#d9dcdf', '#f2a582', '#b2182b'];
export const DIFFERENCE_DARK = ['#6fb3f2', '#2f5f8f', '#3a434c', '#9a4a34', '#f58a6c'];

/** A cell with the seconds spent in it in both ranges. */
export interface ComparedCell extends HeatCell {
  readonly secondsBefore: number;
}

/** Joins the cells of two heat maps with the same grid. */
export function compareCells(now: readonly HeatCell[], before: readonly HeatCell[]): readonly ComparedCell[] {
  const key = ({ longitude, latitude }: HeatCell): string => `${longitude} ${latitude}`;
  const earlier = new Map(before.map((cell) => [key(cell), cell]));
  const cells = now.map((cell) => {
    const secondsBefore = earlier.get(key(cell))?.seconds ?? 0;
    earlier.delete(key(cell));
    return { ...cell, secondsBefore };
  });
  return [...cells, ...[...earlier.values()].map((cell) => ({ ...cell, seconds: 0, secondsBefore: cell.seconds }))];
}

/** Seconds from which a difference has the lighter and the darker color, of both signs. */
export function differenceSteps(cells: readonly ComparedCell[]): readonly [number, number] {
  const steps = thresholdsOf(cells.map(({ seconds, secondsBefore }) => Math.abs(seconds - secondsBefore)));
  const [least = 1, most = least] = [steps[0], steps.at(-1)];
  return [least, Math.max(most, 2 * least)];
}

/** Index of the color of a difference in seconds. */
export function differenceLevel(seconds: number, [small, large]: readonly [number, number]): number {
  const size = Math.abs(seconds);
  const steps = size >= large ? 2 : size >= small ? 1 : 0;
  return 2 + Math.sign(seconds) * steps;
}

/** CSV file of the cells of a heat map or of a difference. */
export function csvOfCells(cells: readonly (HeatCell | ComparedCell)[], cellMeters: number): string {
  const isCompared = cells.some((cell) => 'secondsBefore' in cell);
  const head = [
    'longitude',
    'latitude',
    'cell_meters',
    'seconds',
    ...(isCompared ? ['seconds_before', 'difference'] : []),
  ];
  const lines = cells.map((cell) => {
    const before = 'secondsBefore' in cell ? cell.secondsBefore : 0;
    const compared = isCompared ? [rounded(before), rounded(cell.seconds - before)] : [];
    return [cell.longitude, cell.latitude, cellMeters, rounded(cell.seconds), ...compared];
  });
  return [head, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function rounded(seconds: number): number {
  return Number(seconds.toFixed(3));
}
