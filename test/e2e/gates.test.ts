import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

const GATE = {
  name: 'Door',
  region: {
    type: 'LineString',
    coordinates: [
      [8, 50],
      [8, 50.0001],
    ],
  },
  properties: { floor: 'ground' },
};
const YARD = {
  name: 'Yard',
  crossing: 'segment',
  region: {
    type: 'Polygon',
    coordinates: [
      [
        [8.0001, 50],
        [8.0002, 50],
        [8.0002, 50.0001],
        [8.0001, 50.0001],
        [8.0001, 50],
      ],
    ],
  },
};
const MINUTE_MS = 60_000;

function location(provider: string, timeMs: number, lon: number) {
  return {
    provider_id: provider,
    provider_type: 'uwb',
    source: provider,
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [lon, 50.00005] },
    timestamp_generated: new Date(timeMs).toISOString(),
  };
}

/** Moves a tag, with a trackable, and a second tag without one over the gate: 3 times to the right, once to the left. */
async function walk(hub: TestHub, startMs: number): Promise<void> {
  const trackable = await hub.post('/trackables', { type: 'omlox', location_providers: ['tag'] });
  assert.equal(trackable.status, 201, trackable.text);
  const way = [7.9999, 8.0003, 7.9999, 8.0003].map((lon, i) => location('tag', startMs + i * 4000, lon));
  const other = [7.9999, 8.0003].map((lon, i) => location('free', startMs + i * 4000, lon));
  const sent = await hub.put('/providers/locations', [...way, ...other]);
  assert.equal(sent.status, 204, sent.text);
  await hub.settle();
}

for (const history of [false, true]) {
  test(`A gate counts the crossings of a hub ${history ? 'with' : 'without'} history`, async (t) => {
    const hub = await openTestHub({ history });
    t.after(hub.close);
    const gate = (await hub.post('/fences', GATE)).body;
    const yard = (await hub.post('/fences', YARD)).body;
    const events = await hub.subscribe('fence_events');
    const directed = await hub.subscribe('fence_events', { fence_id: gate.id, geojson: true });
    const startMs = Date.now() - 2 * MINUTE_MS;
    await walk(hub, startMs);
    const all = events.take();
    const directions = all.filter(({ fence_id: id }) => id === gate.id).map(({ properties }) => properties);
    // The tag and its trackable have events of their own.
    assert.deepEqual(directions.map((properties) => properties['hub.direction']).sort(), [
      ...['left', 'left', 'right', 'right', 'right', 'right', 'right'],
    ]);
    for (const properties of directions) assert.equal(properties.floor, 'ground');
    const features = directed.take().map(({ features: [feature] }) => feature);
    assert.equal(features.length, 7);
    for (const { geometry } of features) assert.deepEqual(geometry, GATE.region);
    const crossed = all.filter(({ fence_id: id }) => id === yard.id);
    assert.equal(crossed.length, 2 * 7);
    for (const { properties } of crossed) assert.equal(properties['hub.crossed'], true);

    const path = `/fences/${gate.id}/crossings`;
    const reply = await hub.get(`${path}?from=${new Date(startMs).toISOString()}`);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual([reply.body.left, reply.body.right], [1, 3], reply.text);
    assert.equal(reply.body.since === null, history);
    const sum = reply.body.steps.reduce((count: number, step: { left: number; right: number }) => {
      return count + step.left + step.right;
    }, 0);
    assert.equal(sum, 4);
    const before = await hub.get(`${path}?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=86400000`);
    assert.deepEqual([before.body.left, before.body.right, before.body.steps], [0, 0, []]);
    const noGate = await hub.get(`/fences/${yard.id}/crossings`);
    assert.deepEqual([noGate.status, noGate.body.params.found], [400, JSON.stringify(yard.id)], noGate.text);
    if (history) {
      const visits = await hub.get(`/fences/${gate.id}/visits?kind=trackable`);
      assert.deepEqual(
        visits.body.visits.map((visit: { duration_ms: number }) => visit.duration_ms),
        [0, 0, 0],
      );
    }
  });
}

test('Gates pass through export and import, and keep their line in other planes', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const gate = (await hub.post('/fences', GATE)).body;
  const exported = await hub.get('/fences/summary');
  assert.deepEqual(exported.body[0].region, GATE.region);
  const utm = await hub.get(`/fences/${gate.id}?crs=EPSG:32632`);
  assert.equal(utm.body.region.type, 'LineString');
  assert.ok(Math.abs(utm.body.region.coordinates[1][1] - utm.body.region.coordinates[0][1] - 11.12) < 0.02, utm.text);
  const put = await hub.put(`/fences/${gate.id}`, { ...gate, ...YARD });
  assert.equal(put.status, 204, put.text);
  for (const coordinates of [
    [[8, 50]],
    [
      [8, 50],
      [8, 50],
    ],
    [
      [0, 0],
      [2, 0],
      [2, 2],
      [1, -1],
    ],
  ]) {
    const bad = await hub.post('/fences', { ...GATE, region: { type: 'LineString', coordinates } });
    assert.equal(bad.status, 400, bad.text);
    assert.match(bad.text, /region\.coordinates/);
  }
});
