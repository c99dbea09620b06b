import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Duck } from '../../src/history/duck.ts';
import type { HistoryFile } from '../../src/history/files.ts';
import { answer } from '../../src/history/queries/answer.ts';
import { Unanswerable, type DwellQuery } from '../../src/history/queries/query.ts';

const HOUR_MS = 3_600_000;
/** A query that reads it fails, and counts its files as damaged. */
const NO_DUCK = undefined as unknown as Duck;

/** Files of consecutive hours, with this many rows each. */
function filesOf(hours: number, rows: number): HistoryFile[] {
  return Array.from({ length: hours }, (_, hour) => ({
    ...{ topic: 'fence_events', hourMs: hour * HOUR_MS, first: 1, last: 1, path: `/${hour}`, bytes: 1, writtenMs: 0 },
    rows,
  }));
}

function dwell(hours: number): DwellQuery {
  return { ask: 'dwell', fromMs: 0, toMs: hours * HOUR_MS } as DwellQuery;
}

test('A query of more rows than the bound is rejected with the longest possible span', async () => {
  await assert.rejects(answer(NO_DUCK, filesOf(10, 50_000_000), dwell(10)), (error) => {
    assert.ok(error instanceof Unanswerable);
    assert.equal(
      error.message,
      'from, to: the 10.0 hours between them have 500,000,000 rows, and 400,000,000 can be looked at: ask for 8 hours at once',
    );
    return true;
  });
});

test('A query of as many rows as the bound is accepted', async () => {
  await assert.doesNotReject(answer(NO_DUCK, filesOf(10, 40_000_000), dwell(10)));
});
