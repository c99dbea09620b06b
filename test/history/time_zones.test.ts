import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COLUMNS, copyTo, inOrder, sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import { pathOf } from '../../src/history/layout.ts';
import { answer } from '../../src/history/queries/answer.ts';
import { cursorOf } from '../../src/history/queries/cursor.ts';
import type { HistoryQuery } from '../../src/history/queries/query.ts';
import type { HistoryTopic } from '../../src/model/history.ts';
import { Bench, EVERYTHING, NOW_MS } from './recorded_places.ts';

const HOUR_MS = 3_600_000;
const GATE = 'gate';

/** A folder with a file of a topic as earlier versions wrote it: times without a time zone, meant as UTC. */
async function folderWithOldFile(context: TestContext, topic: HistoryTopic, row: Record<string, string>) {
  const parent = mkdtempSync(join(tmpdir(), 'hub-history-'));
  context.after(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'history');
  const path = join(folder, pathOf({ topic, hourMs: NOW_MS, first: 1, last: 1 }));
  mkdirSync(dirname(path), { recursive: true });
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => {
    const oldType = type === 'TIMESTAMPTZ' ? 'TIMESTAMP' : type;
    return `${row[name] ?? 'NULL'}::${oldType} AS ${name}`;
  });
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  await duck.run(copyTo(path, inOrder(topic, `(SELECT ${columns.join()})`)));
  duck.close();
  return folder;
}

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

async function asked(bench: Bench, question: HistoryQuery): Promise<ReturnType<typeof JSON.parse>> {
  const { files, lease } = await bench.recorder.files(EVERYTHING);
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  const topic = question.ask === 'visits' || question.ask === 'events' ? 'fence_events' : 'locations';
  const wanted = files.filter((file) => file.topic === topic);
  const { text } = await answer(duck, wanted, question);
  duck.close();
  bench.recorder.release(lease);
  return JSON.parse(text);
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

test('Files of an earlier version and current ones are queried together, and merge into UTC instants', async (t) => {
  const old = { id: "'a'", longitude: '8', latitude: '50', floor: '0' };
  const folder = await folderWithOldFile(t, 'locations', { ...old, time: "'2026-03-01 10:00:01'" });
  const bench = new Bench(t, { folder, retentionMs: 36_500 * 24 * HOUR_MS });
  bench.add({ id: 'a', timeMs: NOW_MS + 2000 }, { id: 'a', timeMs: NOW_MS });
  await bench.pass(5000);
  assert.deepEqual((await adjustedToUtc(folder, 'locations')).toSorted(), [false, true]);
  const shown = { crs: 'EPSG:4326', zone: undefined, providers: undefined, hiddenZones: new Set<string>() };
  const places = (fromMs: number, cursor?: string): HistoryQuery => ({
    ...{ ask: 'places', whose: 'locations', id: 'a', stepMs: undefined, shown, format: 'json', limit: 2 },
    ...{ cursor: cursor === undefined ? undefined : cursorOf('places', cursor), hasHeader: true },
    ...{ fromMs, toMs: NOW_MS + HOUR_MS },
  });
  const times = ({ points }: { points: { time: string }[] }) => points.map(({ time }) => time.slice(17, 19));
  const check = async (): Promise<void> => {
    const first = await asked(bench, places(NOW_MS));
    assert.deepEqual(times(first), ['00', '01']);
    assert.deepEqual(times(await asked(bench, places(NOW_MS, first.next_cursor))), ['02']);
    assert.deepEqual(times(await asked(bench, places(NOW_MS + 1000))), ['01', '02']);
  };
  await check();
  // Files were last changed at the real time.
  bench.nowMs = Date.now() + HOUR_MS;
  await bench.pass(30_000);
  assert.deepEqual(await adjustedToUtc(folder, 'locations'), [true]);
  await check();
});

test('A visit that an earlier version recorded ends with the exit recorded by this version', async (t) => {
  const entry = { time: "'2026-03-01 10:00:00'", entry_time: "'2026-03-01 10:00:00'", event_type: "'region_entry'" };
  const row = { ...entry, id: "'entry'", fence_id: `'${GATE}'`, object_type: "'provider'", object_id: "'a'" };
  const folder = await folderWithOldFile(t, 'fence_events', row);
  const bench = new Bench(t, { folder });
  const exit = { id: 'exit', event_type: 'region_exit', fence_id: GATE, provider_id: 'a' };
  const times = { entry_time: '2026-03-01T10:00:00Z', exit_time: '2026-03-01T10:00:30Z' };
  bench.recorder.events('fence_events', [JSON.stringify({ ...exit, ...times })]);
  await bench.pass(5000);
  const { visits } = await asked(bench, {
    ...{ ask: 'visits', fenceIds: [GATE], trackableId: undefined, limit: 10, cursor: undefined, counted: 'all' },
    timeouts: { fences: new Map(), trackables: new Map(), providers: new Map() },
    ...{ fromMs: NOW_MS, toMs: NOW_MS + HOUR_MS },
  });
  assert.deepEqual(
    visits.map(({ id, duration_ms }: { id: string; duration_ms: number }) => ({ id, duration_ms })),
    [{ id: 'entry', duration_ms: 30_000 }],
  );
});
