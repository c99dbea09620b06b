import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openIssuer } from '../operation/license_keys.ts';
import { HALL, square } from '../support/hall.ts';
import { parsePrometheus, sumOf } from '../support/prometheus.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const TRACKABLE = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const OTHER = '0b680db2-b39b-45be-be77-40d7d2296cb5';

/** A location in the hall, whose source is one of the names of the zone. */
function at(x: number, provider = 'tag-1', source = HALL.id) {
  return { position: { type: 'Point', coordinates: [x, 5] }, source, provider_type: 'uwb', provider_id: provider };
}

const GPS = { position: { type: 'Point', coordinates: [9, 50] }, crs: 'EPSG:4326', provider_type: 'gps' };

async function setUp(hub: TestHub): Promise<void> {
  assert.equal((await hub.post('/zones', HALL)).status, 201);
  assert.equal((await hub.post('/fences', square())).status, 201);
  for (const [id, provider] of [
    [TRACKABLE, 'tag-1'],
    [OTHER, 'tag-2'],
  ]) {
    const trackable = { id, type: 'omlox', location_providers: [provider], radius: 1 };
    assert.equal((await hub.post('/trackables', trackable)).status, 201);
  }
}

/** Two tags collide in the fence and separate, a phone sends its position, and four values are rejected. */
async function drive(hub: TestHub): Promise<void> {
  const socket = await hub.socket();
  for (const x of [50, 5, 50]) assert.equal((await hub.put('/providers/tag-1/location', at(x))).status, 204);
  socket.publish('location_updates', at(5, 'tag-2', 'hall'), at(Number.NaN, 'tag-2'));
  await socket.settle();
  assert.equal((await hub.put('/providers/tag-1/location', at(5))).status, 204);
  assert.equal((await hub.put('/providers/tag-1/location', at(50))).status, 204);
  const old = { ...at(1), timestamp_generated: '2020-01-01T00:00:00Z' };
  assert.equal((await hub.put('/providers/tag-1/location', old)).status, 204);
  assert.equal((await hub.put('/providers/a%2Fb/location', { ...GPS, source: 'a/b' })).status, 204);
  assert.equal((await hub.put('/providers/locations', [at(1), { ...at(1), floor: 'top' }])).status, 400);
  assert.equal((await hub.put('/providers/locations', [7])).status, 400);
  await hub.settle();
}

const isEnd = ({ collision_type: type }: Event): boolean => type === 'collision_end';

async function metricsOf(hub: TestHub, path = '/metrics') {
  const { status, text, headers } = await hub.get(hub.origin + path);
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  return parsePrometheus(text);
}

describe('a hub reports', () => {
  let hub: TestHub;
  before(async () => {
    const license_public_keys = (await openIssuer()).publicKeys;
    hub = await openTestHub({ license_key: 'my-secret-key', license_public_keys, websocket_idle_timeout: 77 });
    await setUp(hub);
    for (const topic of ['location_updates', 'location_updates:geojson', 'trackable_motions'])
      await hub.subscribe(topic);
    const collisions = await hub.subscribe('collision_events');
    await hub.subscribe('fence_events', { event_type: 'region_exit' });
    await hub.subscribe('fence_events:geojson');
    await drive(hub);
    await collisions.next(isEnd);
  });
  after(() => hub.close());

  test('its liveness at /health and its version at /version, with and without a version in the path', async () => {
    for (const root of ['', '/hub', '/v1', '/v2', '/hub/v1', '/deephub/v2']) {
      assert.equal((await hub.get(`${hub.origin}${root}/health`)).text, '{}');
      const { body } = await hub.get(`${hub.origin}${root}/version`);
      assert.deepEqual(Object.keys(body), ['hub_version', 'vendor', 'api_version', 'hub_id', 'hub_name']);
      assert.match(body.hub_version, /^\d+\.\d+\.\d+$/);
    }
  });

  test('its identity at /version, /health/system and by com.omlox.identify, with a stable id', async () => {
    const folder = temporaryFolder();
    const identities = [];
    for (const settings of [{}, { hub_name: 'Plant 7' }]) {
      const named = await openTestHub(settings, { folder });
      try {
        const identify = { jsonrpc: '2.0', id: 1, method: 'com.omlox.identify' };
        const answers = [
          (await named.get(`${named.origin}/v1/version`)).body,
          (await named.get('/health/system')).body,
          (await named.put('/rpc', identify)).body.result,
        ];
        const [identity, ...more] = answers.map(({ hub_id, hub_name }) => ({ hub_id, hub_name }));
        assert.deepEqual(more, [identity, identity]);
        assert.deepEqual([answers[2].id, answers[2].name], [identity?.hub_id, identity?.hub_name]);
        identities.push(identity);
      } finally {
        await named.close();
      }
    }
    const [first, second] = identities;
    assert.match(first?.hub_id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(second, { hub_id: first?.hub_id, hub_name: 'Plant 7' });
    assert.equal(first?.hub_name, 'location hub');
  });

  test('its start time and its configuration without secrets at /health/system', async () => {
    for (const version of ['v1', 'v2']) {
      const { body, text } = await hub.get(`${hub.origin}/hub/${version}/health/system`);
      const names = ['hub_id', 'hub_name', 'uptime', 'date', 'iso_24730_connections', 'database', 'events', 'config'];
      assert.deepEqual(Object.keys(body), names);
      assert.ok(Number.isInteger(body.uptime) && body.uptime >= 0 && body.uptime <= process.uptime());
      assert.match(body.date, TIME);
      assert.equal(body.iso_24730_connections, 0);
      assert.equal(body.database.state, 'ok');
      assert.match(body.config, /^websocket_idle_timeout: 77$/m);
      assert.match(body.config, /^license_key: "\*\*\*"$/m);
      assert.equal(text.includes('my-secret-key'), false);
    }
  });

  test('at /health/mqtt that there is no broker', async () => {
    assert.deepEqual((await hub.get('/health/mqtt')).body, { enabled: false });
  });

  test('at /cluster/owners that it owns everything, without a cluster', async () => {
    const { hub_name } = (await hub.get('/version')).body;
    const owners = { version: 0, hash: 'fnv1a-32', owners: [hub_name], urls: {} };
    assert.deepEqual((await hub.get('/cluster/owners')).body, owners);
    const owner = { version: 0, provider_id: 'a/ü', partition: 0, owner: hub_name };
    assert.deepEqual((await hub.get('/cluster/owners/a%2F%C3%BC')).body, owner);
  });

  test('the subscribers at /health/ws, with the time of the last frame to each', async () => {
    const { body } = await hub.get('/health/ws');
    const { last_location_update_sent, last_trackable_motion_update_sent, ...rest } = body;
    const { last_fence_event_sent, last_collision_event_sent, ...counts } = rest;
    assert.deepEqual(counts, {
      number_of_clients: 7,
      number_of_subscribers: 6,
      number_of_subscribers_locations: 2,
      number_of_subscribers_trackable_motions: 1,
      number_of_subscribers_fence_events: 2,
      number_of_subscribers_collision_events: 1,
    });
    assert.match(last_location_update_sent, TIME);
    assert.match(last_trackable_motion_update_sent, TIME);
    assert.match(last_fence_event_sent, TIME);
    assert.match(last_collision_event_sent, TIME);
  });

  test('arrivals from the zones at /health/zones', async () => {
    const { body: all } = await hub.get('/health/zones/summary');
    const [{ last_update_received, ...zone }] = all;
    assert.match(last_update_received, TIME);
    assert.deepEqual(zone, { id: HALL.id, type: 'uwb', number_of_updates: 7, last_update_type: 'rest' });
    assert.deepEqual((await hub.get(`/health/zones/${HALL.id}`)).body, all[0]);
    assert.deepEqual((await hub.get('/health/zones/hall')).body, all[0]);
    const { status, body } = await hub.get('/health/zones/none');
    assert.deepEqual([status, body.type], [404, 'com.flowcate.http.not_found']);
  });

  test('arrivals from each source at /health/sources, by its name as it was sent', async () => {
    const { body: all } = await hub.get('/health/sources/summary');
    const found = all.map((source: Event) => [
      source.id,
      source.type,
      source.number_of_updates,
      source.last_update_type,
    ]);
    assert.deepEqual(found, [
      [HALL.id, 'uwb', 6, 'rest'],
      ['hall', 'uwb', 1, 'ws'],
      ['a/b', 'gps', 1, 'rest'],
    ]);
    assert.deepEqual((await hub.get('/health/sources/a%2Fb')).body, all[2]);
    assert.equal((await hub.get('/health/sources/none')).status, 404);
  });

  test('at /license/info that its key is invalid, which has no other effect', async () => {
    const { status, body } = await hub.get('/license/info');
    assert.equal(status, 200);
    assert.match(body.warning, /does not verify/);
    assert.equal(JSON.stringify(body).includes('my-secret-key'), false);
    assert.equal((await hub.get('/license/lease')).body.type, 'com.flowcate.license.invalid');
    const refused = await hub.put('/license/key', { license_key: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11' });
    assert.deepEqual([refused.status, refused.body.type], [400, 'com.flowcate.license.invalid']);
    assert.equal((await hub.put('/providers/unlicensed/location', { ...GPS, source: 'a/b' })).status, 204);
  });

  test('the usage of this month at /stats/consumption', async () => {
    const { body } = await hub.get('/stats/consumption/current');
    assert.deepEqual(Object.keys(body), ['id', 'timestamp_generated', 'year', 'month', 'config', 'statistics']);
    assert.match(body.id, UUID);
    const { fences, zones, ...numbers } = body.config;
    assert.deepEqual(fences, [square()]);
    assert.equal(Math.round(zones[0].sqm / 100), 100);
    assert.equal(numbers.trackables_no_active, 2);
    assert.deepEqual([numbers.trackables_no, numbers.locationproviders_by_type_no_active.uwb], [2, 2]);
    const { id, instance_id, data_db_id, stats_db_id, uptime, range, ...counts } = body.statistics;
    for (const each of [id, instance_id, data_db_id, stats_db_id]) assert.match(each, UUID);
    assert.ok(Number.isInteger(uptime));
    assert.match(range.from, TIME);
    assert.match(range.to, TIME);
    // The phone and the provider of the previous test count as well, if that test has run.
    assert.ok(counts.locationupdates_processed >= 7);
    const { locationupdates_processed: processed, ...others } = counts;
    assert.deepEqual(others, {
      locationupdates_sent: processed,
      locationupdates_geojson_sent: processed,
      fenceevents_entry_processed: 6,
      fenceevents_entry_sent: 0,
      fenceevents_entry_geojson_sent: 6,
      fenceevents_exit_processed: 4,
      fenceevents_exit_sent: 4,
      fenceevents_exit_geojson_sent: 4,
      proximityupdates_processed: 0,
      trackablemotions_processed: 6,
      trackablemotions_sent: 6,
      trackablemotions_geojson_sent: 0,
      collisions_start_processed: 1,
      collisions_start_sent: 1,
      collisions_colliding_processed: 0,
      collisions_colliding_sent: 0,
      collisions_end_processed: 1,
      collisions_end_sent: 1,
    });
  });

  test('the usage of one month at /stats/consumption/{year}/{month}, or 404', async () => {
    const { body: current } = await hub.get('/stats/consumption/current');
    const { body: summary } = await hub.get('/stats/consumption/summary');
    assert.deepEqual([summary.length, summary[0].id], [1, current.id]);
    const path = `/stats/consumption/${current.year}/${current.month}`;
    const padded = `/stats/consumption/${current.year}/${String(current.month).padStart(2, '0')}/`;
    for (const each of [path, padded]) assert.equal((await hub.get(each)).body[0].id, current.id);
    for (const each of ['1999/1', '2026/13', '2026/x', 'x/1', '2026/1e1']) {
      const { status, body } = await hub.get(`/stats/consumption/${each}`);
      assert.deepEqual([status, body.type], [404, 'com.flowcate.http.not_found']);
    }
  });

  test('consistent counters at /metrics, also below /hub', async () => {
    await hub.settle();
    const lines = await metricsOf(hub);
    const sum = (name: string, labels?: Record<string, string>) => sumOf(lines, name, labels);
    const received = sum('hub_locations_received_total');
    const rejected = sum('hub_locations_rejected_total');
    assert.equal(sum('hub_locations_outdated_total'), 1);
    assert.equal(received, sum('hub_locations_processed_total') + sum('hub_locations_outdated_total') + rejected);
    const reasons = Object.entries({ position: 1, floor: 1, list: 1, shape: 1, shard: 0 });
    for (const [reason, count] of reasons) assert.equal(sum('hub_locations_rejected_total', { reason }), count, reason);
    assert.equal(rejected, 4);
    assert.equal(sum('hub_events_total', { type: 'region_entry' }), 6);
    assert.equal(sum('hub_fanout_delivered_total', { topic: 'fence_events' }), 14);
    assert.equal(sum('hub_subscriptions'), 6);
    assert.equal(sum('hub_websocket_clients'), 7);
    assert.equal(sum('hub_entities', { kind: 'trackable' }), 2);
    assert.equal(sum('hub_worker_restarts_total'), 0);
    for (const lane of ['shard 0', 'shard 1', 'collisions']) {
      assert.ok(sum('hub_lane_batches_total', { lane }) > 0);
      assert.ok(sum('hub_lane_batches_total', { lane }) <= sum('hub_lane_items_total', { lane }));
      assert.equal(sum('hub_lane_pending', { lane }), 0);
    }
    for (const thread of ['main', 'shard 0', 'shard 1', 'collisions']) {
      assert.ok(sum('hub_thread_memory_bytes', { thread, part: 'heap_used' }) > 100_000);
    }
    assert.ok(sum('process_resident_memory_bytes') > sum('hub_thread_memory_bytes', { part: 'heap_used' }));
    const busy = sum('hub_event_loop_busy_ratio');
    assert.ok(busy > 0 && busy <= 1);
    assert.ok(sum('hub_event_loop_delay_seconds', { quantile: '0.5' }) < 1);
    for (const path of ['/hub/metrics', '/deephub/metrics', '/metrics/']) {
      assert.equal(sumOf(await metricsOf(hub, path), 'hub_locations_received_total'), received);
    }
    assert.equal((await hub.get('/metrics')).status, 404, 'not below a version');
  });

  test('no internal error after all of this', () => assert.deepEqual(hub.logged, []));
});

describe('a restarted hub', () => {
  let folder = '';
  before(async () => {
    folder = temporaryFolder();
  });

  test('continues its counters, knows the active objects, and keeps its trial', async (t) => {
    const first = await openTestHub({}, { folder });
    t.after(first.close);
    await setUp(first);
    const collisions = await first.subscribe('collision_events');
    await drive(first);
    await collisions.next(isEnd);
    const { body: info } = await first.get('/license/info');
    assert.deepEqual(Object.keys(info), ['state', 'info']);
    assert.equal((await first.get('/license/lease')).body.type, 'com.flowcate.license.not_started');
    const trial = await first.get('/license/starttrial');
    assert.deepEqual([trial.status, trial.body.is_trial], [201, true]);
    const { body: before } = await first.get('/stats/consumption/current');
    await first.close();

    const second = await openTestHub({}, { folder });
    t.after(second.close);
    const { body: after } = await second.get('/stats/consumption/current');
    const { uptime: _then, range: then, ...lasting } = before.statistics;
    const { uptime: _now, range: now, ...found } = after.statistics;
    assert.deepEqual(found, lasting);
    assert.ok(found.locationupdates_processed >= 7);
    assert.equal(now.from, then.from);
    assert.equal(after.id, before.id);
    assert.deepEqual(after.config, before.config);
    assert.equal(after.config.locationproviders_no_active, 3);
    assert.deepEqual((await second.get('/license/lease')).body, trial.body);
    await second.put('/providers/tag-1/location', at(50));
    await second.settle();
    const { body: more } = await second.get('/stats/consumption/current');
    assert.equal(more.statistics.locationupdates_processed, found.locationupdates_processed + 1);
    assert.deepEqual(second.logged, []);
  });
});
