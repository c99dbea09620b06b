import { sqlText } from '../columns.ts';

/** The columns of a result, by name: times in microseconds and other whole numbers of 64 bits as bigint. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

export const text = sqlText;

/** A list of texts for IN. */
export function sqlIn(texts: readonly string[]): string {
  return texts.length === 0 ? 'NULL' : texts.map(sqlText).join();
}

/** A time as DuckDB has it. */
export function microseconds(ms: number): string {
  return `make_timestamp(${Math.round(1000 * ms)})`;
}

/** A finite number. */
export function num(value: number): string {
  return `${value}::DOUBLE`;
}
