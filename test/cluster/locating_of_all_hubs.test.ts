import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CollisionForecast, TrackableForecast } from '../../src/model/forecast.ts';
import type { WalkResult } from '../../src/model/walk_test.ts';
import { EVERYTHING } from '../history/recorded_places.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;
const METER = 1 / 111_319.49;
const TAGS = Array.from({ length: 16 }, (_, i) => `tag-${i}`);
const trackableOf = (tag: string) => `00000000-0000-4000-8000-${tag.slice(4).padStart(12, '0')}`;
const GATE = '33333333-3333-4333-8333-333333333333';

async function opened(name: string): Promise<TestHub> {
  return openTestHub(
    {
      ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'locating' },
      ...{ cluster_journal_max_size: 16, cluster_hub_name: name },
      // Without fence events in the history, the hubs count crossings.
      ...{ history: true, history_topics: ['locations'], history_flush_interval: 200 },
      collision_forecast_horizon: 60_000,
    },
    { isAlone: true },
  );
}

/** Both hubs own the same share, and nothing is migrating. */
async function shared(hub: TestHub): Promise<void> {
  for (let left = 150; !isShared((await hub.get('/health/system')).body.cluster, 2); left--) {
    assert.ok(left > 0, 'the objects are shared within 15 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Locations at x meters to the east. Pairs of objects share a latitude, and pairs are 5 m apart. */
function locationsAt(metersOf: (i: number) => number, timeMs: number): readonly object[] {
  return TAGS.map((id, i) => ({
    ...{ provider_id: id, provider_type: 'uwb', source: 'yard', crs: 'EPSG:4326', accuracy: 0.1, floor: 0 },
    position: { type: 'Point', coordinates: [8 + metersOf(i) * METER, (i >> 1) * 5 * METER] },
    timestamp_generated: new Date(timeMs).toISOString(),
  }));
}

test('Search, gates, walk tests and forecasts of any hub know the objects of all hubs', { skip }, async (t) => {
  const a = await opened('a');
  t.after(() => a.close());
  const b = await opened('b');
  t.after(() => b.close());
  await shared(a);
  const line = [
    [8, -0.001],
    [8, 0.001],
  ];
  assert.equal((await a.post('/fences', { id: GATE, region: { type: 'LineString', coordinates: line } })).status, 201);
  for (const tag of TAGS) {
    const trackable = { id: trackableOf(tag), type: 'omlox', radius: 0.5, location_providers: [tag] };
    const filter = { kind: 'cv', process_noise: 0.1, max_gap: 60_000 };
    const created = await a.post('/trackables', { ...trackable, filter, calculate_collisions: true });
    assert.equal(created.status, 201, created.text);
  }
  const forecast = await b.subscribe('collision_forecast', {});
  // The objects with even numbers go over the gate to the east at 1 m/s; the others come towards them.
  const startMs = Date.now() - 10_000;
  const walk = {
    name: 'Yard',
    object_type: 'provider',
    object_id: 'tag-0',
    started_at: new Date(startMs).toISOString(),
  };
  await Promise.all([a.settle(), b.settle()]);
  for (let step = 0; step <= 40; step++) {
    const locations = locationsAt(
      (i) => (i % 2 === 0 ? -2 : 28) + (i % 2 === 0 ? 1 : -1) * (step / 4),
      startMs + 250 * step,
    );
    assert.equal((await (step % 2 === 0 ? a : b).put('/providers/locations', locations)).status, 204);
  }
  await Promise.all([a.settle(), b.settle()]);

  const members = (await a.get('/health/system')).body.cluster.members;
  assert.ok(members.every(({ partitions }: { partitions: number }) => partitions > 0));
  for (const [name, hub] of Object.entries({ a, b })) {
    const near = await hub.get('/search?kind=provider&near=8,0&k=16');
    const ids = near.body.matches.map(({ location }: { location: { provider_id: string } }) => location.provider_id);
    assert.deepEqual([ids.toSorted(), near.body.complete], [TAGS.toSorted(), true], name);
    const [nearest] = (await hub.get(`/search?kind=trackable&near=${8 + 8 * METER},${10 * METER}&k=1`)).body.matches;
    assert.equal(nearest.motion.id, trackableOf('tag-4'), name);
    const { left, right, since } = (await hub.get(`/fences/${GATE}/crossings`)).body;
    assert.deepEqual([left, right, typeof since], [0, 8, 'string'], name);
    const foreseen = await hub.get(`/trackables/${trackableOf('tag-6')}/forecast`);
    assert.equal(foreseen.status, 200, `${name} ${foreseen.text}`);
    const meters = (((foreseen.body as TrackableForecast).position.coordinates[0] ?? 0) - 8) / METER;
    assert.ok(Math.abs(meters - 18) < 4, `${name} ${meters}`);
  }
  const pairs = new Set<string>();
  while (pairs.size < 8) {
    const next = (await forecast.next(
      ({ trackable_id: id }) => !pairs.has(String(id)),
    )) as unknown as CollisionForecast;
    pairs.add(next.trackable_id);
    assert.equal(Number(next.other_trackable_id.slice(-2)) - Number(next.trackable_id.slice(-2)), 1, 'of one pair');
  }

  const points = [{ id: 'gate', position: { type: 'Point', coordinates: [8, 0] }, floor: 0 }];
  const created = await a.post('/walk_tests', { ...walk, points });
  assert.equal(created.status, 201, created.text);
  const mark = { point_id: 'gate', time: new Date(startMs + 2000).toISOString() };
  assert.equal((await b.post(`/walk_tests/${created.body.id}/pass`, mark)).status, 200);
  for (const hub of [a, b]) hub.hub.history?.release((await hub.hub.history.files(EVERYTHING)).lease);
  const results = await Promise.all([a, b].map((hub) => hub.get(`/walk_tests/${created.body.id}/result`)));
  for (const { status, body, text } of results) {
    assert.equal(status, 200, text);
    const { positions, passes, missing_hubs: missing } = body as WalkResult;
    assert.deepEqual([positions, passes.length, missing], [41, 1, undefined]);
    assert.ok((passes[0]?.horizontal_error ?? 1) < 0.01);
  }
});
