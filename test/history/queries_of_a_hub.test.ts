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
    // A minute at the gate, a minute in transit, two in the hall, and away.
    for (let second = 0; second <= 300; second += 10) {
      const lon = second < 60 ? 8 : second < 120 ? 8.005 : second < 240 ? 8.01 : 8.02;
      const location = {
        ...{ provider_id: 'a', provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326', speed: second / 10 },
        ...{ position: { type: 'Point', coordinates: [lon, 50] }, timestamp_generated: at(second) },
      };
      await hub.put('/providers/a/location', location);
      await hub.put('/providers/free/location', { ...location, provider_id: 'free' });
    }
    await hub.settle();
  });
  after(() => hub.close());
  const get = async (path: string) => {
    const { status, text } = await hub.get(path);
    return { status, ...JSON.parse(text) };
  };

  const partsOf = async (path: string): Promise<readonly Reply[]> => {
    const parts: Reply[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const part: Reply = await get(path + cursor);
      parts.push(part);
      cursor = part.next_cursor === null ? null : `&cursor=${encodeURIComponent(part.next_cursor)}`;
    }
    return parts;
  };

  test('returns the positions of a trackable, page by page, including unwritten ones', async () => {
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
    const parts = await partsOf(`/providers/a/history?${AROUND}&limit=7`);
    assert.deepEqual(
      parts.flatMap(({ points }) => points),
      all.points,
    );
    const sampled = await get(`/trackables/${ANNA}/history?${AROUND}&step=60000`);
    assert.deepEqual(
      sampled.points.map(({ time }: { time: string }) => time),
      [50, 110, 170, 230, 290, 300].map(at),
    );
  });

  test('returns them as GeoJSON, CSV and MF-JSON', async () => {
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

  test('returns a snapshot of all objects, and tracks of many', async () => {
    const { objects } = await get(`/history/snapshot?at=${at(95)}`);
    assert.deepEqual(
      objects.map(({ id, time, longitude }: never) => [id, time, longitude]),
      [[ANNA, at(90), 8.005]],
    );
    assert.deepEqual((await get(`/history/snapshot?at=${at(95)}&bbox=8.009,49,9,51`)).objects, []);
    const { tracks } = await get(`/history/tracks?${AROUND}&step=60000`);
    assert.deepEqual(tracks[0].t, [50_000, 110_000, 170_000, 230_000, 290_000, 300_000]);
  });

  test('lists all positions of tracks in pages, even if an object has more than one page', async () => {
    const whole = await get(`/history/tracks?${AROUND}&kind=provider`);
    const places = (reply: Reply) =>
      reply.tracks.flatMap(({ id, t }: Reply) => t.map((time: number) => `${id} ${time}`));
    assert.equal(places(whole).length, 62);
    for (const limit of [1, 3, 30, 31, 32, 61, 62]) {
      const parts = await partsOf(`/history/tracks?${AROUND}&kind=provider&limit=${limit}`);
      assert.deepEqual(parts.flatMap(places), places(whole), `limit ${limit}`);
    }
  });

  const objectsOf = ({ visits }: Reply) => visits.map(({ object }: Reply) => `${object.type} ${object.id}`).sort();

  test('counts a trackable and its provider once in a fence, unless a kind is requested', async () => {
    for (const [kind, objects] of [
      ['', ['provider free', `trackable ${ANNA}`]],
      ['&kind=trackable', [`trackable ${ANNA}`]],
      ['&kind=provider', ['provider a', 'provider free']],
      ['&kind=all', ['provider a', 'provider free', `trackable ${ANNA}`]],
    ] as const) {
      const count = objects.length;
      assert.deepEqual(objectsOf(await get(`/fences/${GATE}/visits?${AROUND}${kind}`)), objects);
      const { fences } = await get(`/analytics/dwell?${AROUND}&fence_id=${HALL}${kind}`);
      assert.deepEqual(fences, [
        {
          ...{ fence_id: HALL, visits: count, entries: count, objects: count, median_ms: 120_000, p95_ms: 120_000 },
          ...{ total_ms: count * 120_000, open_visits: 0, open_ms: 0 },
        },
      ]);
      const full = await get(`/analytics/occupancy?from=${at(0)}&to=${at(300)}&step=60000&fence_id=${GATE}${kind}`);
      assert.deepEqual(
        full.fences[0].samples.map(({ count: inside }: Reply) => inside),
        [count, 0, 0, 0, 0],
      );
      const { flows } = await get(`/analytics/flows?${AROUND}${kind}`);
      assert.deepEqual(flows, [{ from_fence: GATE, to_fence: HALL, count, median_ms: 60_000 }]);
    }
  });

  test('returns visits of a trackable, and events', async () => {
    const ofAnna = await get(`/trackables/${ANNA}/visits?${AROUND}`);
    assert.deepEqual(
      ofAnna.visits.map(({ fence_id, duration_ms, still_inside }: Reply) => [fence_id, duration_ms, still_inside]),
      [
        [GATE, 60_000, false],
        [HALL, 120_000, false],
      ],
    );
    const { events } = await get(
      `/history/events?${AROUND}&fence_id=${GATE}&event_type=region_exit&trackable_id=${ANNA}`,
    );
    assert.deepEqual(
      events.map(({ exit_time }: never) => exit_time),
      [at(60)],
    );
  });

  test('returns the part of a visit in a span, regardless of earlier and later parts', async () => {
    for (const [from, to, totalMs] of [
      [0, 30, 30_000],
      [30, 45, 15_000],
      [45, 600, 15_000],
    ] as const) {
      const span = `from=${at(from)}&to=${at(to)}&fence_id=${GATE}&kind=trackable`;
      const { fences } = await get(`/analytics/dwell?${span}`);
      assert.deepEqual([fences[0].median_ms, fences[0].total_ms, fences[0].visits], [60_000, totalMs, 1]);
    }
  });

  test('returns heat maps, stops and trips', async () => {
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

  for (const grid of ['cell=10', 'grid=h3&resolution=13']) {
    test(`has the cells of a heat map with ${grid} at fixed positions for any area, and each can be queried alone`, async () => {
      const { cells } = (await get(`/analytics/heatmap?${AROUND}&${grid}`)) as { cells: Reply[] };
      const longitudes = cells.map(({ longitude }) => longitude).toSorted((a, b) => a - b);
      const middle = (longitudes[0] + longitudes.at(-1)) / 2;
      const half = async (bbox: string): Promise<Reply[]> =>
        (await get(`/analytics/heatmap?${AROUND}&${grid}&bbox=${bbox}`)).cells;
      const halves = [...(await half(`-180,-90,${middle},90`)), ...(await half(`${middle},-90,180,90`))];
      const sums = new Map<string, number>();
      for (const { longitude, latitude, seconds } of halves) {
        const key = `${longitude} ${latitude}`;
        sums.set(key, (sums.get(key) ?? 0) + seconds);
      }
      assert.ok(cells.length > 1);
      assert.deepEqual(
        [...sums].map(([key, seconds]) => [key, Math.round(seconds)]).toSorted(),
        cells.map((c) => [`${c.longitude} ${c.latitude}`, Math.round(c.seconds)]).toSorted(),
      );
    });
  }

  test('has the cells of a heat map at fixed positions, regardless of its data', async () => {
    const ofAll: Reply = await get(`/analytics/heatmap?${AROUND}&cell=10`);
    const sums = new Map<string, number>(ofAll.cells.map((c: Reply) => [`${c.longitude} ${c.latitude}`, c.seconds]));
    for (const [from, to] of [
      [0, 97],
      [97, 3600],
    ] as const) {
      const part: Reply = await get(`/analytics/heatmap?from=${at(from)}&to=${at(to)}&cell=10`);
      for (const { longitude, latitude, seconds } of part.cells) {
        const key = `${longitude} ${latitude}`;
        assert.ok(sums.has(key), key);
        sums.set(key, (sums.get(key) ?? 0) - seconds);
      }
    }
    assert.deepEqual(
      [...sums.values()].map((left) => Math.round(left * 1e6)),
      [0, 0, 0, 0],
    );
  });

  for (const path of [
    '/trackables/99999999-1111-4111-8111-111111111111/history',
    '/providers/nobody/history?format=csv',
    '/trackables/nobody/visits',
    '/fences/nobody/visits',
    '/analytics/trips?trackable_id=nobody',
    '/ogc/mf/collections/providers/items/nobody/tgsequence',
  ]) {
    test(`does not find ${path}`, async () => {
      const { status, message } = await get(path);
      assert.equal(status, 404);
      assert.match(
        message,
        /^Cannot find (trackable|provider|fence) ".*": there is neither such a .* nor its history$/,
      );
    });
  }

  for (const [path, status, message] of [
    ['/providers/a%00b/history', 400, /path: must have no control characters, found "a\\u0000b"/],
    ['/trackables/%0A/visits', 400, /path: must have no control characters/],
    ['/analytics/dwell?fence_id=a,b%00', 400, /fence_id: must have no control characters, found "b\\u0000"/],
    ['/history/events?event_type=%00', 200, undefined],
    ["/history/events?event_type='%20OR%201", 200, undefined],
    ["/analytics/dwell?fence_id=x')--", 200, undefined],
    ...[
      ...['1.2', '99999999999999999999.1', '-1.0', '', '%00', 'WyJwbGFjZXMiXQ'],
      Buffer.from(JSON.stringify(['places', '9'.repeat(18), 0])).toString('base64url'),
      Buffer.from(JSON.stringify(['places', '1); DROP TABLE x', 0])).toString('base64url'),
      Buffer.from(JSON.stringify(['places', '1', 1e12])).toString('base64url'),
      Buffer.from(JSON.stringify(['events', '1', 'x'])).toString('base64url'),
    ].map((cursor) => [`/providers/a/history?cursor=${cursor}`, 400, /^cursor: must be the next_cursor of/] as const),
    [
      `/history/events?cursor=${Buffer.from(JSON.stringify(['events', '1', '\0'])).toString('base64url')}`,
      400,
      /^cursor:/,
    ],
  ] as const) {
    test(`answers ${path} with ${status}, and reveals no SQL`, async () => {
      const answer = await get(path);
      assert.equal(answer.status, status, JSON.stringify(answer));
      assert.doesNotMatch(JSON.stringify(answer), /SELECT|LINE \d|parquet/i);
      if (message !== undefined) assert.match(answer.message, message);
    });
  }

  for (const [path, message] of [
    ['/history/snapshot?at=yesterday', 'at: must be an RFC 3339 date and time, found "yesterday"'],
    [`/analytics/dwell?from=${at(9)}&to=${at(1)}`, `from: must be before to, found "${at(9)}" and "${at(1)}"`],
    [`/providers/a/history?${AROUND}&cursor=x`, 'cursor: must be the next_cursor of another reply, found "x"'],
    [`/providers/a/history?${AROUND}&limit=0`, 'limit: must be a number from 1 to 100000, found "0"'],
    [`/providers/a/history?${AROUND}&format=xml`, 'format: must be one of json, geojson, csv, mfjson, found "xml"'],
    [
      '/history/tracks?bbox=1,2,3',
      'bbox: must be west,south,east,north in degrees with south up to north, found "1,2,3"',
    ],
    [
      `/analytics/occupancy?${AROUND}&step=10`,
      'step: must be at least 36 for that span, which would have 360,000 samples, found 10',
    ],
    [`/analytics/trips?${AROUND}`, 'trackable_id: is required, but is missing'],
    [`/analytics/flows?${AROUND}&fence=x`, '"fence": is no parameter of this path, which has from, to, fence_id, kind'],
    [`/providers/a/history?form=csv`, /^"form": is no parameter of this path, which has from, to, step, .*format$/],
    ['/ogc/mf/collections/providers/items?bbos=1', /^"bbos": is no parameter of this path/],
    [`/analytics/dwell?${AROUND}&kind=any`, 'kind: must be one of trackable, provider, all, found "any"'],
  ] as const) {
    test(`rejects ${path}`, async () => {
      const answer = await get(path);
      assert.equal(answer.status, 400);
      if (typeof message === 'string') assert.equal(answer.message, message);
      else assert.match(answer.message, message);
    });
  }
});

test('A hub without history reports that', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  assert.equal((await hub.get('/history/snapshot')).status, 404);
  assert.deepEqual(JSON.parse((await hub.get('/health/history')).text), { enabled: false });
});
