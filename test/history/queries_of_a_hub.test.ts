import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import type { TestHub } from '../support/test_hub.ts';

const ANNA = '11111111-1111-4111-8111-111111111111';
const [GATE, HALL] = ['33333333-3333-4333-8333-333333333333', '44444444-4444-4444-8444-444444444444'] as const;
const START_MS = Date.parse('2026-03-01T10:00:00Z');
const AROUND = 'from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z';
/** A reply as JSON. */
type Reply = ReturnType<typeof JSON.parse>;

const at = (seconds: number): string => new Date(START_MS + 1000 * seconds).toISOString();

describe('A hub with history', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub({ history: true, history_flush_interval: 600_000 });
    await hub.post('/trackables', { id: ANNA, type: 'omlox', location_providers: ['a'] });
    await hub.post('/fences', { id: GATE, region: { type: 'Point', coordinates: [8, 50] }, radius: 20 });
    await hub.post('/fences', { id: HALL, region: { type: 'Point', coordinates: [8.01, 50] }, radius: 20 });
    // A minute at the gate, a minute on the way, two in the hall, and away.
    for (let second = 0; second <= 300; second += 10) {
      const lon = second < 60 ? 8 : second < 120 ? 8.005 : second < 240 ? 8.01 : 8.02;
      const location = {
        ...{ provider_id: 'a', provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326', speed: second / 10 },
        ...{ position: { type: 'Point', coordinates: [lon, 50] }, timestamp_generated: at(second) },
      };
      await hub.put('/providers/a/location', location);
    }
    await hub.settle();
  });
  after(() => hub.close());
  const get = async (path: string) => {
    const { status, text } = await hub.get(path);
    return { status, ...JSON.parse(text) };
  };

  test('tells where a trackable was, part by part, with what is not written yet', async () => {
    const all = await get(`/trackables/${ANNA}/history?${AROUND}`);
    assert.equal(all.points.length, 31);
    assert.deepEqual(all.points[1], {
      time: at(10),
      longitude: 8,
      latitude: 50,
      floor: 0,
      speed: 1,
      provider_id: 'a',
      source: 'hall',
    });
    const parts = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const part: Reply = await get(`/providers/a/history?${AROUND}&limit=7${cursor}`);
      parts.push(...part.points);
      cursor = part.next_cursor === null ? null : `&cursor=${encodeURIComponent(part.next_cursor)}`;
    }
    assert.deepEqual(parts, all.points);
    const sampled = await get(`/trackables/${ANNA}/history?${AROUND}&step=60000`);
    assert.deepEqual(
      sampled.points.map(({ time }: { time: string }) => time),
      [50, 110, 170, 230, 290, 300].map(at),
    );
  });

  test('tells it as GeoJSON, CSV and MF-JSON', async () => {
    const path = `/trackables/${ANNA}/history?${AROUND}&limit=1`;
    assert.deepEqual((await get(`${path}&format=geojson`)).features[0].geometry, {
      type: 'Point',
      coordinates: [8, 50],
    });
    const csv = await hub.get(`${path}&format=csv`);
    assert.match(csv.headers['content-type'] ?? '', /^text\/csv/);
    assert.equal(csv.text.split('\r\n')[1], `${at(0)},${ANNA},8,50,,0,,,,,0,,a,hall`);
    assert.deepEqual((await get(`${path}&format=mfjson`)).temporalGeometry.datetimes, [at(0)]);
  });

  test('tells where everything was, and the tracks of many', async () => {
    const { objects } = await get(`/history/snapshot?at=${at(95)}`);
    assert.deepEqual(
      objects.map(({ id, time, longitude }: never) => [id, time, longitude]),
      [[ANNA, at(90), 8.005]],
    );
    assert.deepEqual((await get(`/history/snapshot?at=${at(95)}&bbox=8.009,49,9,51`)).objects, []);
    const { tracks } = await get(`/history/tracks?${AROUND}&step=60000`);
    assert.deepEqual(tracks[0].t, [50_000, 110_000, 170_000, 230_000, 290_000, 300_000]);
  });

  test('tells visits, dwell, occupancy and flows', async () => {
    const { visits } = await get(`/fences/${GATE}/visits?${AROUND}`);
    assert.deepEqual(
      visits
        .map(({ object, duration_ms, still_inside }: never) => [
          (object as { type: string }).type,
          duration_ms,
          still_inside,
        ])
        .sort(),
      [
        ['provider', 60_000, false],
        ['trackable', 60_000, false],
      ],
    );
    const ofAnna = await get(`/trackables/${ANNA}/visits?${AROUND}`);
    assert.deepEqual(
      ofAnna.visits.map(({ fence_id }: never) => fence_id),
      [GATE, HALL],
    );
    const dwell = await get(`/analytics/dwell?${AROUND}&fence_id=${HALL}`);
    assert.deepEqual(dwell.fences, [
      {
        fence_id: HALL,
        visits: 2,
        objects: 2,
        still_inside: 0,
        median_ms: 120_000,
        p95_ms: 120_000,
        total_ms: 240_000,
      },
    ]);
    const { fences } = await get(`/analytics/occupancy?from=${at(0)}&to=${at(300)}&step=60000&fence_id=${GATE}`);
    assert.deepEqual(
      fences[0].samples.map(({ count }: never) => count),
      [2, 0, 0, 0, 0],
    );
    const { flows } = await get(`/analytics/flows?${AROUND}`);
    assert.deepEqual(flows, [{ from_fence: GATE, to_fence: HALL, count: 2, median_ms: 60_000 }]);
    const { events } = await get(
      `/history/events?${AROUND}&fence_id=${GATE}&event_type=region_exit&trackable_id=${ANNA}`,
    );
    assert.deepEqual(
      events.map(({ exit_time }: never) => exit_time),
      [at(60)],
    );
  });

  test('tells where time was spent, stops and trips', async () => {
    const { cells } = await get(`/analytics/heatmap?${AROUND}&cell=10`);
    assert.equal(Math.round(cells.reduce((sum: number, { seconds }: never) => sum + seconds, 0)), 300);
    const h3 = await get(`/analytics/heatmap?${AROUND}&grid=h3&resolution=12`);
    assert.equal(h3.cells.length, 4);
    const { stops, trips } = await get(`/analytics/trips?trackable_id=${ANNA}&${AROUND}`);
    assert.deepEqual(
      stops.map(({ duration_ms }: never) => duration_ms),
      [50_000, 50_000, 110_000, 60_000],
    );
    assert.equal(trips.length, 3);
  });

  for (const [path, message] of [
    ['/history/snapshot?at=yesterday', 'at: must be an RFC 3339 date and time, found "yesterday"'],
    [`/analytics/dwell?from=${at(9)}&to=${at(1)}`, `from: must be before to, found "${at(9)}" and "${at(1)}"`],
    [`/providers/a/history?${AROUND}&cursor=x`, 'cursor: must be the next_cursor of another reply, found "x"'],
    [`/providers/a/history?${AROUND}&limit=0`, 'limit: must be a number from 1 to 100,000, found "0"'],
    [`/providers/a/history?${AROUND}&format=xml`, 'format: must be one of json, geojson, csv, mfjson, found "xml"'],
    [
      '/history/tracks?bbox=1,2,3',
      'bbox: must be west,south,east,north in degrees with south up to north, found "1,2,3"',
    ],
    [
      `/analytics/occupancy?${AROUND}&step=10`,
      'step: must be at least 36 for that span, which would have 360000 samples, found 10',
    ],
    [`/analytics/trips?${AROUND}`, 'trackable_id: is required, but is missing'],
  ] as const) {
    test(`refuses ${path}`, async () => {
      const answer = await get(path);
      assert.deepEqual([answer.status, answer.message], [400, message]);
    });
  }
});

test('A hub without history says so', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  assert.equal((await hub.get('/history/snapshot')).status, 404);
  assert.deepEqual(JSON.parse((await hub.get('/health/history')).text), { enabled: false });
});
