import type { KeptRow } from '../core/item.ts';

/** Throws a TypeError for a row with a time that is not a number: not every store would refuse it. */
export function checkTimes(row: KeptRow): void {
  if (row.gone === true) return;
  const times = row.kind === 'collision' ? row.startMs : row.receivedMs + row.eventTimeMs;
  if (!Number.isNaN(times)) return;
  throw new TypeError(`Cannot keep the row of ${row.kind} "${row.id}": a time is not a number`);
}

/** What the text of a row takes, about. */
export function textLength(row: KeptRow): number {
  if (row.gone === true) return 0;
  return row.kind === 'collision' ? row.bodies.length : row.location.length;
}
