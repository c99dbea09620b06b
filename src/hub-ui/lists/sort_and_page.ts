/** What is compared: numbers by size, texts as people read them, nothing last. */
type Sortable = string | number | undefined;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Rows in the order of a value; rows without one stand at the end in both directions. */
export function sortedBy<Row>(rows: readonly Row[], value: (row: Row) => Sortable, isDescending: boolean): Row[] {
  const known = rows.map((row) => ({ row, value: value(row) }));
  const sign = isDescending ? -1 : 1;
  return known.sort((a, b) => compare(a.value, b.value, sign)).map(({ row }) => row);
}

function compare(a: Sortable, b: Sortable, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * collator.compare(String(a), String(b));
}

/** A part of a list, counted from 1. */
export interface PagePart<Row> {
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
  /** Places of its first and last row in the whole list; 0 where there is none. */
  readonly from: number;
  readonly to: number;
}

/** One page of rows; the last one where there are fewer than asked for. */
export function pageOf<Row>(rows: readonly Row[], asked: number, size: number): PagePart<Row> {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(Math.max(1, Number.isFinite(asked) ? Math.floor(asked) : 1), pages);
  const part = rows.slice((page - 1) * size, page * size);
  const before = (page - 1) * size;
  return { rows: part, page, pages, from: part.length === 0 ? 0 : before + 1, to: before + part.length };
}
