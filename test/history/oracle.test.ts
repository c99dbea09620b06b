import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COLUMNS, copyTo, inOrder, sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import type { HistoryFile } from '../../src/history/files.ts';
import { hourOf } from '../../src/history/layout.ts';
import { answer } from '../../src/history/queries/answer.ts';
import type { Question } from '../../src/history/queries/question.ts';
import type { HistoryTopic } from '../../src/model/history.ts';
import { parseTime } from '../../src/model/time.ts';
import { type Dice, diceOf } from '../support/dice.ts';

const ORACLE = fileURLToPath(new URL('oracle.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const [START_MS, HOUR_MS] = [parseTime('2026-11-20T10:00:00Z'), 3_600_000] as const;

type Row = Readonly<Record<string, string | number | null>> & { readonly time: number };
/** A reply as JSON. */
type Reply = ReturnType<typeof JSON.parse>;

/** Objects that walk, rest and are silent at times, over the border of an hour. */
function randomPlaces(dice: Dice): Row[] {
  const rows: Row[] = [];
  for (const id of ['a', 'b', "c'd"]) {
    let time = START_MS + HOUR_MS - 600_000 + dice(60_000);
    let [longitude, latitude] = [8.68, 50.11];
    for (let i = 0; i < 120; i++) {
      time += 1 + dice(dice(10) === 0 ? 700_000 : 9000);
      if (dice(3) > 0) {
        longitude += (dice(21) - 10) / 1e6;
        latitude += (dice(21) - 10) / 1e6;
      }
      rows.push({ time, id, provider_id: `tag-${id}`, longitude, latitude, floor: dice(2), received: time });
    }
  }
  return rows;
}

/** Visits of which some entries and some exits were not recorded. */
function randomEvents(dice: Dice): Row[] {
  const rows: Row[] = [];
  for (const fence of ['f1', 'f2', 'f3']) {
    for (const object of ['a', 'b']) {
      let time = START_MS + dice(HOUR_MS);
      for (let i = 0; i < 12; i++) {
        const entry = time + 1 + dice(400_000);
        time = entry + 1 + dice(900_000);
        const common = { fence_id: fence, object_type: 'trackable', object_id: object, entry_time: entry };
        const id = `${fence}-${object}-${i}`;
        if (dice(8) > 0) rows.push({ ...common, time: entry, id, event_type: 'region_entry', exit_time: null });
        if (dice(8) > 0) rows.push({ ...common, time, id: `${id}-x`, event_type: 'region_exit', exit_time: time });
      }
    }
  }
  return rows;
}

/** Writes rows as the recorder does, those of each hour in two files. */
async function written(duck: Duck, topic: HistoryTopic, { folder, rows }: { folder: string; rows: readonly Row[] }) {
  const columns = Object.entries(COLUMNS[topic]);
  const value = (row: Row, name: string, type: string): string => {
    const known = row[name] ?? null;
    if (known === null) return 'NULL';
    if (type === 'TIMESTAMP') return `make_timestamp(${1000 * Number(known)})`;
    return type === 'DOUBLE' ? `${known}::DOUBLE` : sqlText(String(known));
  };
  const files: HistoryFile[] = [];
  for (const [hourMs, all] of Map.groupBy(rows, ({ time }) => hourOf(time))) {
    for (const part of [0, 1]) {
      const some = all.filter((_, i) => i % 2 === part);
      if (some.length === 0) continue;
      const values = some.map((row) => `(${columns.map(([name, type]) => value(row, name, type)).join()})`).join();
      const table = `(VALUES ${values}) AS t(${columns.map(([name]) => name).join()})`;
      const path = join(folder, `${topic}-${hourMs}-${part}.parquet`);
      await duck.run(copyTo(path, inOrder(topic, table)));
      files.push({ topic, hourMs, first: part, last: part, path, rows: some.length, bytes: 0, writtenMs: 0 });
    }
  }
  return files;
}

interface Compared {
  readonly asked: object;
  readonly question: Question;
  of(reply: Reply): unknown;
}

const at = (time: string | null) => (time === null ? null : parseTime(time));
const EVERYTHING = { limit: 100_000, cursor: undefined } as const;
const SHOWN = { crs: 'EPSG:4326', zone: undefined, providers: undefined, hiddenZones: new Set<string>() } as const;

/** What is asked of both, and what of an answer is compared. */
function compared(dice: Dice): readonly Compared[] {
  const from = START_MS + dice(2 * HOUR_MS);
  const to = from + 1 + dice(3 * HOUR_MS);
  const span = { fromMs: from, toMs: to };
  const [step, floor] = [1000 + dice(100_000), dice(2)];
  const places = { ask: 'places', whose: 'motions', ...span, ...EVERYTHING, shown: SHOWN, format: 'json' } as const;
  const all = { fenceIds: undefined };
  const pointsOf = ({ points }: Reply) => points.map((p: Reply) => [at(p.time), p.longitude, p.latitude]);
  const heat = { grid: 'metres', cellMetres: 2, resolution: 0, maxGapMs: 60_000, bbox: undefined, floor } as const;
  return [
    {
      asked: { ask: 'places', id: "c'd", from, to },
      question: { ...places, id: "c'd", stepMs: undefined },
      of: pointsOf,
    },
    { asked: { ask: 'places', id: 'a', from, to, step }, question: { ...places, id: 'a', stepMs: step }, of: pointsOf },
    {
      asked: { ask: 'snapshot', at: to, max_age: 200_000, floor },
      question: {
        ...{ ask: 'snapshot', whose: 'motions', atMs: to, maxAgeMs: 200_000, shown: SHOWN, only: undefined },
        ...{ bbox: undefined, floor, ...EVERYTHING },
      },
      of: ({ objects }) => objects.map((o: Reply) => [o.id, at(o.time)]),
    },
    {
      asked: { ask: 'visits', from, to },
      question: { ask: 'visits', ...span, ...all, ...EVERYTHING, trackableId: undefined },
      of: ({ visits }) =>
        visits
          .map((v: Reply) => [v.fence_id, v.object.id, at(v.entry_time), at(v.exit_time)])
          .sort((a: Reply, b: Reply) => a[2] - b[2] || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : 1)),
    },
    {
      asked: { ask: 'dwell', from, to },
      question: { ask: 'dwell', ...span, ...all },
      of: ({ fences }) =>
        fences.map((f: Reply) => [f.fence_id, f.visits, f.objects, f.still_inside, f.median_ms, f.p95_ms, f.total_ms]),
    },
    {
      asked: { ask: 'occupancy', from, to, step },
      question: { ask: 'occupancy', ...span, ...all, stepMs: step },
      of: ({ fences }) => fences.map((f: Reply) => [f.fence_id, f.samples.map((s: Reply) => s.count)]),
    },
    {
      asked: { ask: 'flows', from, to },
      question: { ask: 'flows', ...span, ...all },
      of: ({ flows }) => flows.map((f: Reply) => [f.from_fence, f.to_fence, f.count, f.median_ms]),
    },
    {
      asked: { ask: 'heatmap', from, to, cell: 2, floor, max_gap: 60_000 },
      question: { ask: 'heatmap', whose: 'motions', ...span, ...heat },
      of: ({ cells }) => cells.map(({ seconds }: Reply) => seconds).sort((a: number, b: number) => a - b),
    },
    {
      asked: { ask: 'trips', id: 'b', from, to, radius: 2, min_stop: 30_000 },
      question: { ask: 'trips', id: 'b', ...span, radiusMetres: 2, minStopMs: 30_000, maxGapMs: 10 * HOUR_MS },
      of: ({ trips, stops }) => [
        trips.map((t: Reply) => [at(t.start_time), at(t.end_time)]),
        stops.map((s: Reply) => [at(s.start_time), at(s.end_time), s.points]),
      ],
    },
  ];
}

/** Numbers may differ by what their sums in another order do, and by the half of a millisecond that is rounded. */
function assertAlike(found: unknown, wanted: unknown, where: string): void {
  if (typeof found === 'number' && typeof wanted === 'number') {
    const allowed = where.includes('_ms') || /dwell|flows/.test(where) ? 1 : 1e-6;
    assert.ok(Math.abs(found - wanted) <= allowed, `${where}: ${found} instead of ${wanted}`);
    return;
  }
  if (!Array.isArray(found) || !Array.isArray(wanted)) {
    assert.equal(found, wanted, where);
    return;
  }
  assert.equal(found.length, wanted.length, `${where}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  for (const [i, value] of found.entries()) assertAlike(value, wanted[i], `${where}[${i}]`);
}

test('Answers are those of an oracle in Python', { skip: !hasPython && 'skipped: there is no python3' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hub-history-'));
  t.after(() => rm(folder, { recursive: true }));
  const duck = await Duck.open({ memoryMb: 256, spillFolder: undefined });
  t.after(() => duck.close());
  for (const seed of [1, 2, 3]) {
    const dice = diceOf(seed);
    const [places, events] = [randomPlaces(dice), randomEvents(dice)];
    const files = [
      ...(await written(duck, 'motions', { folder: await mkdtemp(join(folder, 'm')), rows: places })),
      ...(await written(duck, 'fence_events', { folder: await mkdtemp(join(folder, 'e')), rows: events })),
    ];
    const questions = Array.from({ length: 8 }, () => compared(dice)).flat();
    const given = JSON.stringify({ places, events, questions: questions.map(({ asked }) => asked) });
    const { stdout } = spawnSync('python3', [ORACLE], { input: given, encoding: 'utf8', maxBuffer: 64 << 20 });
    const wanted = JSON.parse(stdout) as unknown[];
    for (const [i, { asked, question, of }] of questions.entries()) {
      const isOfPlaces = ['places', 'snapshot', 'heatmap', 'trips'].includes(question.ask);
      const own = files.filter(({ topic }) => topic === (isOfPlaces ? 'motions' : 'fence_events'));
      const { text } = await answer(duck, own, question);
      assertAlike(of(JSON.parse(text)), wanted[i], `seed ${seed}: ${JSON.stringify(asked)}`);
    }
  }
});
