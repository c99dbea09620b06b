import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import type { HistoryTopic } from '../../src/model/history.ts';
import { Bench, NOW_MS } from './recorded_places.ts';

const GATE = 'gate';

/** Whether all files of a topic store times as UTC instants, according to Parquet. */
async function adjustedToUtc(folder: string, topic: HistoryTopic): Promise<readonly unknown[]> {
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  const files = sqlText(join(folder, topic, '**/*.parquet'));
  const rows = await duck.rows(
    `SELECT DISTINCT contains(logical_type, 'isAdjustedToUTC=1') AS adjusted FROM parquet_schema(${files}) WHERE logical_type LIKE 'Timestamp%'`,
  );
  duck.close();
  return rows.map(({ adjusted }) => adjusted);
}

test('Recorder writes all times as instants in UTC', async (t) => {
  const bench = new Bench(t);
  bench.add({ id: 'a', timeMs: NOW_MS }, { id: 'a', timeMs: NOW_MS, topic: 'motions' });
  const event = { id: 'e', event_type: 'region_entry', fence_id: GATE, provider_id: 'a' };
  bench.recorder.events('fence_events', [JSON.stringify({ ...event, entry_time: '2026-03-01T10:00:00Z' })]);
  await bench.pass(5000);
  for (const topic of ['locations', 'motions', 'fence_events'] as const)
    assert.deepEqual(await adjustedToUtc(bench.folder, topic), [true], topic);
});
