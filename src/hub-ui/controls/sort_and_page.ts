/** Sort key: numbers compare by value, strings by locale; undefined sorts last. */
type Sortable = string | number | undefined;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Sorts rows by a value; rows without one come last in both directions. */
export function sortedBy<Row>(rows: readonly Row[], value: (row: Row) => Sortable, isDescending: boolean): Row[] {
  const sortable = rows.map((row) => ({ row, value: value(row) }));
  const sign = isDescending ? -1 : 1;
  return sortable.sort((a, b) => compare(a.value, b.value, sign)).map(({ row }) => row);
}

function compare(a: Sortable, b: Sortable, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * collator.compare(String(a), String(b));
}

/** One page of a list; pages and rows count from 1. */
export interface PagePart<Row> {
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
  /** Numbers of the first and last row in the whole list; 0 if the page is empty. */
  readonly from: number;
  readonly to: number;
}

/** Returns a page of rows, or the last page if the requested one does not exist. */
export function pageOf<Row>(rows: readonly Row[], requested: number, size: number): PagePart<Row> {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(Math.max(1, Number.isFinite(requested) ? Math.floor(requested) : 1), pages);
  const part = rows.slice((page - 1) * size, page * size);
  const before = (page - 1) * size;
  return { rows: part, page, pages, from: part.length === 0 ? 0 : before + 1, to: before + part.length };
}
