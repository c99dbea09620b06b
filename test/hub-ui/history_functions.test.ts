import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matrixOf } from '../../src/hub-ui/history/flow_matrix.ts';
import { boxOf, cellFor, cornersOf, levelOf, thresholdsOf } from '../../src/hub-ui/history/heat.ts';
import type { Visit } from '../../src/hub-ui/history/history_api.ts';
import { lanesOf } from '../../src/hub-ui/history/strip.ts';
import { TrackStore, type ChunkRequest } from '../../src/hub-ui/history/track_store.ts';
import { type PackedTracks, packSnapshot, packTracks } from '../../src/hub-ui/history/tracks.ts';
import { endOfDay, inputText, lengthOfTime, startOfDay } from '../../src/hub-ui/languages/times.ts';
import { MovingObjects } from '../../src/hub-ui/map/objects/moving_objects.ts';
import { EARTH, mapX, mapY, planeOfZone } from '../../src/hub-ui/map/plane/plane.ts';
import { earth, HALL } from './ui_site.ts';

const NOTHING = packTracks([], EARTH);
const LATER_MS = 100 * 86_400_000;

/** Tracks of objects by id: alternating times and longitudes. */
function ways(fromMs: number, of: Readonly<Record<string, readonly number[]>>): PackedTracks {
  const tracks = Object.entries(of).map(([id, pairs]) => {
    const t = pairs.filter((_, i) => i % 2 === 0);
    return { id, t, lon: pairs.filter((_, i) => i % 2 === 1), lat: t.map(() => 50), floor: t.map(() => 0) };
  });
  return packTracks([{ from: new Date(fromMs).toISOString(), step: 1, tracks, next_cursor: null }], EARTH);
}

/** A store that uses `load`. `asked` has the start times of the requested chunks. */
function storeOf(load: (wanted: ChunkRequest) => { tracks: PackedTracks; before?: PackedTracks }, nowMs = LATER_MS) {
  const objects = new MovingObjects(EARTH);
  const asked: ChunkRequest[] = [];
  const loaded = async (wanted: ChunkRequest) => {
    asked.push(wanted);
    return { before: NOTHING, isCut: false, isIncomplete: false, ...load(wanted) };
  };
  const waits: (() => void)[] = [];
  const store = new TrackStore({
    objects,
    load: loaded,
    nameOf: () => undefined,
    now: () => nowMs,
    onChange: () => waits.shift()?.(),
  });
  const change = () => new Promise<void>((resolve) => waits.push(resolve));
  const longitudeOf = (id: string): number | undefined => {
    const place = objects.positionOf(id);
    return place && Math.round((place[0] / mapX(1)) * 1e6) / 1e6;
  };
  return { store, asked, change, longitudeOf, objects };
}

test('packTracks joins tracks across pages, with times relative to the start of each page', () => {
  const page = (from: string, t: readonly number[]) => {
    return { from, step: 1, tracks: [{ id: 'a', t: [...t], lon: [8], lat: [50], floor: [null] }], next_cursor: null };
  };
  const packed = packTracks([page('1970-01-01T00:00:10Z', [500]), page('1970-01-01T00:00:10Z', [900])], EARTH);
  assert.deepEqual(packed.ids, ['a']);
  assert.deepEqual([...packed.starts], [0, 2]);
  assert.deepEqual([...packed.timeMs], [10_500, 10_900]);
  assert.deepEqual([...packed.x], [mapX(8), mapX(8)]);
  assert.ok(Number.isNaN(packed.floor[0]));
});

test('packSnapshot uses the meters of a zone if the map does', () => {
  const [longitude, latitude] = earth(20, 30);
  const objects = [{ id: 'a', time: '1970-01-01T00:00:09Z', longitude, latitude, floor: 2 }];
  const packed = packSnapshot([{ at: '1970-01-01T00:00:10Z', objects, next_cursor: null }], planeOfZone(HALL as never));
  assert.deepEqual([...packed.timeMs], [9_000]);
  assert.ok(Math.abs((packed.x[0] ?? 0) - 20) < 0.05 && Math.abs((packed.y[0] ?? 0) - 30) < 0.05);
});

test('TrackStore interpolates between two points, also across chunks, but not across a long gap', async () => {
  const { store, change, longitudeOf } = storeOf(({ fromMs }) => {
    if (fromMs === 60_000)
      return { tracks: ways(60_000, { a: [10_000, 8, 20_000, 9, 55_000, 10], b: [0, 1, 50_000, 2] }) };
    return { tracks: fromMs === 120_000 ? ways(120_000, { a: [5_000, 11] }) : NOTHING };
  });
  for (const atMs of [75_000]) store.want(atMs, 1);
  await change();
  await change();
  store.show(75_000, 1);
  assert.equal(longitudeOf('a'), 8.5);
  // With 50 seconds between two points, the object stays at the first.
  assert.equal(longitudeOf('b'), 1);
  store.show(120_000, 1);
  assert.equal(longitudeOf('a'), 10.5);
});

test('TrackStore draws no tail across a long gap, during playback and after a jump in time', async () => {
  const { store, change, objects } = storeOf(({ fromMs }) => {
    return {
      tracks: fromMs === 60_000 ? ways(60_000, { a: [0, 1, 1_000, 2, 2_000, 3, 50_000, 4, 51_000, 5] }) : NOTHING,
    };
  });
  store.want(110_000, 1);
  await change();
  const tail = (atMs: number): number => {
    store.show(atMs, 1);
    return objects.tailLength[objects.indexOf('a') ?? -1] ?? 0;
  };
  assert.ok(tail(62_000) > 1);
  assert.equal(tail(110_000), 1, 'after a jump');
  assert.ok(tail(111_000) <= 2);
  store.show(62_000, 1);
  for (let atMs = 62_000; atMs < 109_500; atMs += 500) store.show(atMs, 1);
  assert.equal(tail(110_000), 1, 'during playback');
});

test('TrackStore shows objects that stopped before a chunk, for ten minutes', async () => {
  const before = packSnapshot(
    [
      {
        at: '1970-01-01T00:01:00Z',
        objects: [{ id: 'a', time: '1970-01-01T00:00:30Z', longitude: 8, latitude: 50 }],
        next_cursor: null,
      },
    ],
    EARTH,
  );
  const { store, change, longitudeOf, asked } = storeOf(({ needsBefore }) => {
    return needsBefore ? { tracks: NOTHING, before } : { tracks: NOTHING };
  });
  for (let minute = 1; minute <= 10; minute++) {
    store.want(minute * 60_000, 1);
    while (!store.isReady(minute * 60_000)) await change();
  }
  // Only the first chunk has to query the state before it.
  assert.equal(asked.filter(({ needsBefore }) => needsBefore).length, 1);
  store.show(600_000, 1);
  assert.equal(longitudeOf('a'), 8);
  assert.equal(store.covered()[0]?.isEmpty, false);
  store.show(630_001, 1);
  assert.equal(longitudeOf('a'), undefined);
});

test('TrackStore prefetches during playback, skips future chunks, and refetches incomplete ones', async () => {
  const { store, change, asked } = storeOf(() => ({ tracks: NOTHING }), 150_000);
  store.want(70_000, 1);
  await change();
  await change();
  assert.deepEqual(
    asked.map(({ fromMs }) => fromMs),
    [60_000, 120_000],
  );
  assert.equal(store.isReady(149_000), true);
  assert.equal(store.isReady(150_000), false);
});

test('TrackStore reports why a chunk failed to load, and retries on request', async () => {
  let isBroken = true;
  const { store, change } = storeOf(() => {
    if (isBroken) throw new Error('too much');
    return { tracks: NOTHING };
  });
  store.want(70_000, 1);
  await change();
  assert.equal(String(store.problem), 'Error: too much');
  isBroken = false;
  store.tryAgain();
  await change();
  assert.equal(store.problem, undefined);
  assert.equal(store.isReady(70_000), true);
});

test('A tail follows the replayed object, and is rebuilt after a seek', async () => {
  const pairs = Array.from({ length: 60 }, (_, k) => [k * 1_000, 8 + k / 10_000]).flat();
  const { store, change, objects } = storeOf(({ fromMs }) => {
    return { tracks: fromMs === 60_000 ? ways(60_000, { a: pairs }) : NOTHING };
  });
  store.want(110_000, 1);
  await change();
  store.show(110_000, 1);
  const index = objects.indexOf('a') ?? -1;
  assert.equal(objects.tailLength[index], 32);
  store.show(70_000, 1);
  // Ten seconds of it are loaded.
  assert.ok((objects.tailLength[index] ?? 0) <= 11);
});

for (const [seconds, expected] of [
  [[10, 1_000], 4],
  [[5, 5], 1],
  [[], 1],
] as const) {
  test(`thresholdsOf has ${expected} steps for ${JSON.stringify(seconds)}, each larger than the one before`, () => {
    const steps = thresholdsOf(seconds);
    assert.equal(steps.length, expected);
    assert.deepEqual(
      steps,
      [...steps].sort((a, b) => a - b),
    );
    assert.equal(levelOf(Number.POSITIVE_INFINITY, steps), steps.length);
    assert.equal(levelOf(0, steps), 0);
  });
}

test('Cells of the heat map have their stated size, and are visible', () => {
  assert.equal(cellFor(0.1), 1);
  assert.equal(cellFor(0.11), 2);
  const [left = 0, , right = 0] = cornersOf([{ longitude: 8, latitude: 60 }], 10, EARTH);
  // Mercator doubles lengths at 60 degrees.
  assert.ok(Math.abs(right - left - 20) < 0.01);
  const zone = planeOfZone(HALL as never);
  const [longitude, latitude] = earth(20, 30);
  const corners = cornersOf([{ longitude, latitude }], 10, zone);
  const side = Math.hypot((corners[2] ?? 0) - (corners[0] ?? 0), (corners[3] ?? 0) - (corners[1] ?? 0));
  assert.ok(Math.abs(side - 10) < 0.1, String(side));
});

test('boxOf returns west, south, east and north, also of a rotated hall', () => {
  const box = boxOf([0, 0, 100, 60], planeOfZone(HALL as never));
  const [west, north] = earth(100, 60);
  const [east, south] = earth(0, 0);
  [west, south, east, north].forEach((value, i) => {
    assert.ok(Math.abs((box[i] ?? 0) - value) < 1e-6);
  });
  assert.deepEqual(boxOf([mapX(8), mapY(50), mapX(9), mapY(51)], EARTH), [8, 50, 9, 51]);
});

function visit(id: string, [fromMinute, minutes]: readonly [number, number]): Visit {
  const entry = new Date(fromMinute * 60_000).toISOString();
  const rest = { exit_time: null, duration_ms: minutes * 60_000, still_inside: true };
  return { id, fence_id: id, object: { type: 'trackable', id: 'a' }, entry_time: entry, ...rest };
}

test('lanesOf stacks overlapping visits, and clips them to the day', () => {
  const visits = [visit('hall', [-10, 60]), visit('dock', [10, 10]), visit('gate', [20, 10]), visit('late', [200, 5])];
  const { pieces, count } = lanesOf(visits, { fromMs: 0, toMs: 100 * 60_000 });
  assert.equal(count, 2);
  assert.deepEqual(
    pieces.map(({ visit: { id }, lane, fromMs }) => [id, lane, fromMs / 60_000]),
    [
      ['hall', 0, 0],
      ['dock', 1, 10],
      ['gate', 1, 20],
    ],
  );
});

test('matrixOf sums rows and columns, in the order of names', () => {
  const flow = (from: string, to: string, count: number) => ({ from_fence: from, to_fence: to, count, median_ms: 1 });
  const names: Readonly<Record<string, string>> = { a: 'Dock 10', b: 'Dock 9' };
  const matrix = matrixOf([flow('a', 'b', 3), flow('b', 'a', 2), flow('b', 'b', 1)], (id) => names[id] ?? id);
  assert.deepEqual(
    matrix.fences.map(({ id }) => id),
    ['b', 'a'],
  );
  assert.deepEqual([matrix.sumFrom('b'), matrix.sumTo('b'), matrix.most, matrix.total], [3, 4, 3, 6]);
  assert.equal(matrix.flowOf('a', 'a'), undefined);
});

for (const [milliseconds, text] of [
  [400, '0 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [415_000, '6 min 55 s'],
  [49_200_000, '13 h 40 min'],
  [180_000_000, '2 d 2 h'],
] as const) {
  test(`lengthOfTime returns ${text} for ${milliseconds} ms`, () => assert.equal(lengthOfTime(milliseconds), text));
}

test('A day ends where the next one begins, and inputs use the time zone of the reader', () => {
  const noon = new Date(2026, 2, 29, 12).getTime();
  assert.equal(endOfDay(noon), startOfDay(noon + 86_400_000));
  assert.equal(new Date(inputText(noon)).getTime(), noon);
});
