import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });

/** The anchor of a corner of the hall, moved ten degrees east. */
function anchor(corner: number): { id: string } {
  const [lon = 0, lat = 0] = HALL.ground_control_points?.[corner * 2] ?? [];
  const local = HALL.ground_control_points?.[corner * 2 + 1] ?? [];
  return {
    id: `anchor/${corner}`,
    ...{ zone_id: 'hall', local_position: point(...local), georeferenced_position: point(lon + 10, lat) },
  };
}

const ZONE = { ...HALL, anchor_ids: ['anchor/0', 'anchor/1', 'anchor/2'] };
const local = (provider: string, x: number, y: number, more: object = {}) => ({
  position: point(x, y),
  source: 'hall',
  provider_type: 'uwb',
  provider_id: provider,
  crs: 'local',
  ...more,
});

test('anchors move everything in local coordinates of their zone at once, also after a restart', async (t) => {
  const place = temporaryFolder();
  const first = await openTestHub({}, { folder: place });
  await first.post('/zones', ZONE);
  await first.post('/fences', square());
  const changes = await first.subscribe('anchor_changes');
  const locations = await first.subscribe('location_updates');
  const events = await first.subscribe('fence_events');

  await first.put('/providers/tag/location', local('tag', 5, 5));
  assert.equal(Math.floor((await locations.next()).position.coordinates[0]), 9);
  assert.equal((await events.next()).event_type, 'region_entry');

  for (const corner of [0, 1]) assert.equal((await first.post('/anchors', anchor(corner))).status, 201);
  // The zone has moved away with its fence and with the objects in its local coordinates.
  const [lon] = (await first.get('/providers/tag/location')).body.position.coordinates;
  assert.equal(Math.floor(lon), 19);
  const inside = (await first.get(`/fences/${square().id}/providers?spatial_query=true`)).body;
  assert.deepEqual(
    inside.map(({ id }: { id: string }) => id),
    ['tag'],
  );
  await first.post('/anchors', anchor(2));
  await first.put('/providers/tag/location', local('tag', 5, 5));
  const moved = await locations.next(({ position }) => position.coordinates[0] > 18);
  assert.ok(Math.abs(moved.position.coordinates[0] - 19.0000697) < 1e-6, JSON.stringify(moved.position));
  assert.equal(events.events.length, 1);
  assert.deepEqual((await first.get('/providers/tag/location?crs=local')).body.position.coordinates, [5, 5]);

  await first.request('PATCH', '/anchors/anchor%2F2', { op: 'add', path: '/name', value: 'north' });
  await first.settle();
  assert.deepEqual(
    changes.events.map(({ event_type: type, id, object }) => [type, id, object.name]),
    [
      ['create', 'anchor/0', undefined],
      ['create', 'anchor/1', undefined],
      ['create', 'anchor/2', undefined],
      ['update', 'anchor/2', 'north'],
    ],
  );
  assert.deepEqual((await first.get(`/zones/${HALL.id}`)).body, ZONE);
  await first.close();

  const second = await openTestHub({}, { folder: place });
  t.after(() => second.close());
  assert.deepEqual((await second.get('/anchors')).body, ZONE.anchor_ids);
  assert.equal((await second.get('/anchors/anchor%2F2')).body.name, 'north');
  const again = await second.subscribe('location_updates');
  await second.put('/providers/other/location', local('other', 5, 5));
  assert.equal(Math.floor((await again.next()).position.coordinates[0]), 19);
  const deleted = await second.subscribe('anchor_changes', { event_type: 'delete' });
  assert.equal((await second.delete('/anchors')).status, 204);
  await second.put('/providers/third/location', local('third', 5, 5));
  assert.equal(Math.floor((await again.next(({ provider_id: id }) => id === 'third')).position.coordinates[0]), 9);
  await second.settle();
  assert.deepEqual(
    deleted.events.map(({ id, object }) => [id, object]),
    ZONE.anchor_ids.map((id) => [id, { id }]),
  );
});

test('the locating rules of the hub apply in every shard, also after a restart', async (t) => {
  const place = temporaryFolder();
  const rules = [{ expression: "type = 'uwb'", priority: 5 }];
  const ids = Array.from({ length: 6 }, (_, i) => `11111111-0000-4000-8000-00000000000${i}`);
  const first = await openTestHub({}, { folder: place });
  for (const [i, id] of ids.entries()) {
    await first.post('/trackables', { id, type: 'omlox', location_providers: [`uwb-${i}`, `gps-${i}`] });
  }
  const gps = (i: number, lon: number) => ({
    ...{ position: point(lon, 50), source: 'gps', provider_type: 'gps', provider_id: `gps-${i}`, crs: 'EPSG:4326' },
  });
  const uwb = (i: number) => ({ ...gps(i, 9), provider_type: 'uwb', provider_id: `uwb-${i}` });
  const longitudes = async (hub: typeof first) =>
    Promise.all(
      ids.map(async (id) => (await hub.get(`/trackables/${id}/motion`)).body.location.position.coordinates[0]),
    );

  await first.put(
    '/providers/locations',
    ids.map((_, i) => uwb(i)),
  );
  await first.put(
    '/providers/locations',
    ids.map((_, i) => gps(i, 10)),
  );
  assert.deepEqual(await longitudes(first), [10, 10, 10, 10, 10, 10]);
  assert.deepEqual((await first.put('/trackables/rules/locating', rules)).body, rules);
  await first.put(
    '/providers/locations',
    ids.map((_, i) => uwb(i)),
  );
  await first.put(
    '/providers/locations',
    ids.map((_, i) => gps(i, 11)),
  );
  assert.deepEqual(await longitudes(first), [9, 9, 9, 9, 9, 9]);
  await first.close();

  const second = await openTestHub({}, { folder: place });
  t.after(() => second.close());
  assert.deepEqual((await second.get('/trackables/rules/locating')).body, rules);
  await second.put(
    '/providers/locations',
    ids.map((_, i) => gps(i, 12)),
  );
  assert.deepEqual(await longitudes(second), [9, 9, 9, 9, 9, 9]);
  await second.put('/trackables/rules/locating', []);
  await second.put(
    '/providers/locations',
    ids.map((_, i) => gps(i, 13)),
  );
  assert.deepEqual(await longitudes(second), [13, 13, 13, 13, 13, 13]);
});

test('third-party events reach the subscribers of fence_events and of its GeoJSON', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  await hub.post('/zones', HALL);
  await hub.post('/fences', square({ name: 'Dock', properties: { gate: 7 } }));
  const plain = await hub.subscribe('fence_events');
  const geojson = await hub.subscribe('fence_events:geojson', { object_type: 'location_provider' });
  const others = await hub.subscribe('fence_events', { fence_id: 'other' });
  const exits = await hub.subscribe('fence_events', { event_type: 'region_exit' });
  const path = `/fences/${square().id}/events`;
  assert.equal((await hub.post(path, { event_type: 'region_entry', provider_id: 'door' })).status, 204);
  const event = await plain.next();
  assert.deepEqual([event.provider_id, event.trackable_id, event.properties], ['door', null, { gate: 7 }]);
  const collection = await geojson.next();
  assert.deepEqual([collection.type, collection.features[0].geometry.type], ['FeatureCollection', 'Polygon']);
  assert.deepEqual(collection.features[0].properties, { ...event, name: 'Dock' });
  assert.equal((await hub.put(path, { event_type: 'region_exit', provider_id: 'door' })).status, 204);
  await hub.settle();
  assert.deepEqual(
    [plain.events.length, geojson.events.length, others.events.length, exits.events.length],
    [2, 2, 0, 1],
  );
  // They count like the hub's own events.
  const { statistics } = (await hub.get('/stats/consumption/current')).body;
  assert.deepEqual([statistics.fenceevents_entry_processed, statistics.fenceevents_exit_processed], [1, 1]);
  assert.deepEqual([statistics.fenceevents_entry_sent, statistics.fenceevents_exit_geojson_sent], [1, 1]);
  assert.match((await hub.get(`${hub.origin}/metrics`)).text, /hub_events_total\{type="region_exit"\} 1$/m);
  // They create no membership.
  assert.deepEqual((await hub.get(`/fences/${square().id}/providers`)).body, []);
  assert.equal((await hub.get('/providers/door')).status, 404);
});

test('PATCH is supported by the HTTP server, and listed by OPTIONS', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  await hub.post('/providers', { id: 'a/b', type: 'uwb' });
  const patch = { op: 'add', path: '/name', value: 'Tür' };
  const type = { 'Content-Type': 'application/json-patch+json' };
  const reply = await hub.request('PATCH', '/providers/a%2Fb', [patch], type);
  assert.deepEqual([reply.status, reply.body], [200, { id: 'a/b', type: 'uwb', name: 'Tür' }]);
  const options = await hub.request('OPTIONS', '/providers/a%2Fb');
  assert.match(String(options.headers['access-control-allow-methods']), /\bPATCH\b/);
  assert.equal((await hub.request('PATCH', '/providers', patch)).status, 405);
});
