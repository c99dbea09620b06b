import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COLUMNS, copyTo, inOrder, sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import type { HistoryFile } from '../../src/history/files.ts';
import { hourOf } from '../../src/history/layout.ts';
import { answer } from '../../src/history/queries/answer.ts';
import { wantedFor } from '../../src/history/queries/query_pool.ts';
import type { CountedObjects, DwellQuery, HistoryQuery } from '../../src/history/queries/query.ts';
import { filesOf } from '../../src/history/queries/spans.ts';
import type { HistoryTopic } from '../../src/model/history.ts';
import { parseTime } from '../../src/model/time.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const ORACLE = fileURLToPath(new URL('oracle.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const [START_MS, HOUR_MS] = [parseTime('2026-11-20T10:00:00Z'), 3_600_000] as const;

type Row = Readonly<Record<string, string | number | null>> & { readonly time: number };
/** A reply as JSON. */
type Reply = ReturnType<typeof JSON.parse>;

/** Objects that move, rest and are silent at times, across the boundary of an hour. */
function randomPlaces(dice: Dice, ids: readonly string[]): Row[] {
  const rows: Row[] = [];
  for (const id of ids) {
    let time = START_MS + HOUR_MS - 600_000 + dice(60_000);
    let [longitude, latitude] = [8.68, 50.11];
    for (let i = 0; i < 120; i++) {
      time += 1 + dice(dice(10) === 0 ? 700_000 : 9000);
      if (dice(3) > 0) {
        longitude += (dice(21) - 10) / 1e6;
        latitude += (dice(21) - 10) / 1e6;
      }
      // Every fifth position has no accuracy.
      const accuracy = rows.length % 5 === 0 ? null : (rows.length % 37) / 10;
      rows.push({ time, id, provider_id: `tag-${id}`, longitude, latitude, floor: dice(2), accuracy, received: time });
    }
  }
  return rows;
}

/**
 * Visits with some unrecorded entries and exits, by trackables, by the provider of one of them, and by a provider
 * without trackable.
 */
function randomEvents(dice: Dice): Row[] {
  const rows: Row[] = [];
  for (const fence of ['f1', 'f2', 'f3']) {
    for (const [object, type, trackables] of [
      ['a', 'trackable', '["a"]'],
      ['b', 'trackable', '["b"]'],
      ['tag-a', 'provider', '["a"]'],
      ['free', 'provider', '[]'],
    ] as const) {
      let time = START_MS + dice(HOUR_MS);
      for (let i = 0; i < 12; i++) {
        const entry = time + 1 + dice(400_000);
        time = entry + 1 + dice(900_000);
        const common = { fence_id: fence, object_type: type, object_id: object, entry_time: entry, trackables };
        const id = `${fence}-${object}-${i}`;
        if (dice(8) > 0) rows.push({ ...common, time: entry, id, event_type: 'region_entry', exit_time: null });
        // The last visit is open.
        if (i < 11 && dice(8) > 0) {
          rows.push({ ...common, time, id: `${id}-x`, event_type: 'region_exit', exit_time: time });
        }
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
    if (type === 'TIMESTAMPTZ') return `make_timestamptz(${1000 * Number(known)})`;
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
  readonly question: HistoryQuery;
  of(reply: Reply): unknown;
}

const at = (time: string | null) => (time === null ? null : parseTime(time));
const EVERYTHING = { limit: 100_000, cursor: undefined } as const;
const TIMEOUTS = { fences: { f1: 60_000, f2: 5000 }, trackables: { b: 90_000 }, providers: { free: 30_000 } } as const;
const SHOWN = { crs: 'EPSG:4326', zone: undefined, providers: undefined, hiddenZones: new Set<string>() } as const;

/** Queries for both, and the compared part of the answers. */
function compared(dice: Dice, [from, to]: readonly [number, number]): readonly Compared[] {
  const span = { fromMs: from, toMs: to };
  const counted = (['object', 'trackable', 'provider', 'all'] as const)[dice(4)] as CountedObjects;
  const kind = counted;
  const all = {
    ...{ fenceIds: undefined, counted },
    timeouts: {
      fences: new Map(Object.entries(TIMEOUTS.fences)),
      trackables: new Map(Object.entries(TIMEOUTS.trackables)),
      providers: new Map(Object.entries(TIMEOUTS.providers)),
    },
  };
  const [step, floor] = [1000 + dice(100_000), dice(2)];
  const [radius, minStop, maxGap] = [2 + dice(6), 1000 + dice(600_000), dice(2) === 0 ? 10 * HOUR_MS : 30_000];
  const places = {
    ask: 'places',
    whose: 'motions',
    ...span,
    ...EVERYTHING,
    shown: SHOWN,
    format: 'json',
    hasHeader: true,
  } as const;
  const pointsOf = ({ points }: Reply) => points.map((p: Reply) => [at(p.time), p.longitude, p.latitude]);
  const heat = { grid: 'metres', cellMeters: 2, resolution: 0, maxGapMs: 60_000, bbox: undefined, floor } as const;
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
      asked: { ask: 'visits', from, to, kind },
      question: { ask: 'visits', ...span, ...all, ...EVERYTHING, trackableId: undefined },
      of: ({ visits }) =>
        visits
          .map((v: Reply) => [v.fence_id, v.object.id, at(v.entry_time), at(v.exit_time), v.duration_ms])
          .sort((a: Reply, b: Reply) => a[2] - b[2] || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] < b[1] ? -1 : 1)),
    },
    {
      asked: { ask: 'dwell', from, to, kind },
      question: { ask: 'dwell', ...span, ...all },
      of: ({ fences }) =>
        fences.map((f: Reply) => [
          ...[f.fence_id, f.visits, f.entries, f.objects, f.median_ms, f.p95_ms, f.total_ms, f.open_visits, f.open_ms],
        ]),
    },
    {
      asked: { ask: 'occupancy', from, to, step, kind },
      question: { ask: 'occupancy', ...span, ...all, stepMs: step },
      of: ({ fences }) => fences.map((f: Reply) => [f.fence_id, f.samples.map((s: Reply) => s.count)]),
    },
    {
      asked: { ask: 'flows', from, to, kind },
      question: { ask: 'flows', ...span, ...all },
      of: ({ flows }) => flows.map((f: Reply) => [f.from_fence, f.to_fence, f.count, f.median_ms]),
    },
    {
      asked: { ask: 'heatmap', from, to, cell: 2, floor, max_gap: 60_000 },
      question: { ask: 'heatmap', whose: 'motions', ...span, ...heat },
      of: ({ cells }) => cells.map(({ longitude, latitude, seconds }: Reply) => [longitude, latitude, seconds]),
    },
    {
      asked: { ask: 'quality', from, to, cell: 2, floor, max_gap: 20_000, max_speed: 0.5 },
      question: {
        ...{ ask: 'quality', whose: 'motions', ...span, cellMeters: 2, maxGapMs: 20_000, maxSpeed: 0.5 },
        ...{ floor, bbox: undefined },
      },
      of: ({ cells }) => cells.map((c: Reply) => [c.longitude, c.latitude, c.positions, c.accuracy, c.gaps, c.jumps]),
    },
    {
      asked: { ask: 'tracks', from, to, step },
      question: {
        ...{
          ask: 'tracks',
          whose: 'motions',
          ...span,
          stepMs: step,
          only: undefined,
          bbox: undefined,
          floor: undefined,
        },
        ...EVERYTHING,
      },
      of: ({ tracks }) =>
        tracks.flatMap(({ id, t, lon }: Reply) => t.map((time: number, i: number) => [id, time, lon[i]])),
    },
    {
      asked: { ask: 'trips', id: 'b', from, to, radius, min_stop: minStop, max_gap: maxGap },
      question: { ask: 'trips', id: 'b', ...span, radiusMeters: radius, minStopMs: minStop, maxGapMs: maxGap },
      of: ({ trips, stops }) => [
        trips.map((t: Reply) => [at(t.start_time), at(t.end_time)]),
        stops.map((s: Reply) => [at(s.start_time), at(s.end_time), s.points]),
      ],
    },
  ];
}

/** Numbers may differ by the order of summation, and by half a millisecond of rounding. */
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

interface Bed {
  readonly duck: Duck;
  readonly files: readonly HistoryFile[];
  readonly places: readonly Row[];
  readonly fixes: readonly Row[];
  readonly events: readonly Row[];
}

async function openBed(t: TestContext, dice: Dice): Promise<Bed> {
  const folder = temporaryFolder();
  const duck = await Duck.open({ memoryMb: 256, spillFolder: undefined });
  t.after(async () => {
    duck.close();
  });
  const [places, fixes] = [randomPlaces(dice, ['a', 'b', "c'd"]), randomPlaces(dice, ['tag-a', 'free'])];
  const events = randomEvents(dice);
  const files = [
    ...(await written(duck, 'motions', { folder, rows: places })),
    ...(await written(duck, 'locations', { folder, rows: fixes })),
    ...(await written(duck, 'fence_events', { folder, rows: events })),
  ];
  return { duck, files, places, fixes, events };
}

/** Returns the reply to a query from the files that it needs. */
async function ask({ duck, files }: Bed, question: HistoryQuery): Promise<Reply> {
  const { topics, ...span } = wantedFor(question);
  const own = topics.flatMap((topic) => filesOf(files, topic, span));
  return JSON.parse((await answer(duck, own, question)).text);
}

const randomSpan = (dice: Dice): readonly [number, number] => {
  const from = START_MS + dice(2 * HOUR_MS);
  return [from, from + 1 + dice(3 * HOUR_MS)];
};

test('Answers equal those of an oracle in Python', {
  skip: !hasPython && 'skipped: there is no python3',
}, async (t) => {
  for (const seed of [1, 2, 3]) {
    const dice = diceOf(seed);
    const bed = await openBed(t, dice);
    const { places, fixes, events } = bed;
    const questions = Array.from({ length: 8 }, () => compared(dice, randomSpan(dice))).flat();
    const asked = questions.map((each) => each.asked);
    const given = JSON.stringify({ places, fixes, events, timeouts: TIMEOUTS, questions: asked });
    const { stdout } = spawnSync('python3', [ORACLE], { input: given, encoding: 'utf8', maxBuffer: 64 << 20 });
    const wanted = JSON.parse(stdout) as unknown[];
    for (const [i, { asked, question, of }] of questions.entries()) {
      assertAlike(of(await ask(bed, question)), wanted[i], `seed ${seed}: ${JSON.stringify(asked)}`);
    }
  }
});

/** Additive values by key: time in a fence for dwell, time in a cell for a heat map, and counts for flows. */
const SUMS: Readonly<Record<string, (reply: Reply) => readonly (readonly [key: string, value: number])[]>> = {
  dwell: ({ fences }) =>
    fences.flatMap((f: Reply) => [
      [`${f.fence_id} closed`, f.total_ms],
      [`${f.fence_id} open`, f.open_ms],
      [`${f.fence_id} entries`, f.entries],
    ]),
  heatmap: ({ cells }) => cells.map((c: Reply) => [`${c.longitude} ${c.latitude}`, c.seconds]),
  flows: ({ flows }) => flows.map((f: Reply) => [`${f.from_fence} ${f.to_fence}`, f.count]),
};

test('Dwell, heat maps and flows of adjacent spans add up to those of the whole', async (t) => {
  const dice = diceOf(4);
  const bed = await openBed(t, dice);
  for (let round = 0; round < 4; round++) {
    const [from, to] = randomSpan(dice);
    const cuts = [from, ...Array.from({ length: 4 }, () => from + dice(to - from)).sort((a, b) => a - b), to];
    const whole = compared(dice, [from, to]).filter(({ question }) => question.ask in SUMS);
    for (const { question } of whole) {
      const sums = SUMS[question.ask] as (typeof SUMS)[string];
      const left = new Map(sums(await ask(bed, question)));
      for (let i = 1; i < cuts.length; i++) {
        const [fromMs, toMs] = [cuts[i - 1] as number, cuts[i] as number];
        if (fromMs === toMs) continue;
        const part = sums(await ask(bed, { ...question, fromMs, toMs } as HistoryQuery));
        for (const [key, value] of part) left.set(key, (left.get(key) ?? 0) - value);
      }
      for (const [key, value] of left)
        assert.ok(Math.abs(value) < 1e-6, `${question.ask} of ${key}: ${value} are left`);
    }
  }
});

test('Each step of dwell has the dwell times of its range', async (t) => {
  const dice = diceOf(6);
  const bed = await openBed(t, dice);
  let count = 0;
  for (let round = 0; round < 4; round++) {
    const [fromMs, toMs] = randomSpan(dice);
    const found = compared(dice, [fromMs, toMs]).find(({ question: { ask: of } }) => of === 'dwell');
    const question = found?.question as DwellQuery;
    const stepMs = Math.ceil((toMs - fromMs) / (2 + dice(5)));
    const whole = await ask(bed, { ...question, stepMs });
    assert.equal(whole.step, stepMs);
    for (let from = fromMs; from < toMs; from += stepMs) {
      const to = Math.min(toMs, from + stepMs);
      const { fences } = await ask(bed, { ...question, fromMs: from, toMs: to });
      const steps = whole.fences.flatMap(({ fence_id, steps: its }: Reply) =>
        its
          .filter((step: Reply) => Date.parse(step.from) === from)
          .map(({ from: _, ...step }: Reply) => ({ fence_id, ...step })),
      );
      assert.deepEqual(steps, fences, `step of ${new Date(from).toISOString()}`);
      count += fences.length;
    }
  }
  assert.ok(count > 10, `${count}`);
});
