import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestHub } from '../support/running_hub.ts';
import { send } from '../support/scene.ts';
import { borrowHub } from '../support/shared_hubs.ts';
import type { Event } from '../support/socket_client.ts';

const BY_PROVIDERS = 'com.hdm.hub.zone.autozoneupdate.providers';
const BY_TRACKABLES = 'com.hdm.hub.zone.autozoneupdate.trackables';
const TRUCK = 'abcdefab-0000-4000-8000-000000000001';
const LOAD = 'abcdefab-0000-4000-8000-000000000002';

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });
const reader = (id: string, more: object = {}) => ({ id, type: 'rfid', position: point(8, 50), radius: 3, ...more });
const at = (provider_id: string, position: object, more: object = {}) => {
  return { position, source: 'gps', provider_type: 'gps', provider_id, crs: 'EPSG:4326', ...more };
};

async function create(hub: TestHub, path: string, body: object): Promise<void> {
  const { status, text } = await hub.post(path, body);
  assert.equal(status, 201, text);
}

/** Position and floor as returned by GET. */
async function placeOf(hub: TestHub, id: string): Promise<unknown> {
  const { body } = await hub.get(`/zones/${id}`);
  return [...body.position.coordinates, body.floor];
}

const placesIn = (events: readonly Event[]) => {
  return events.map(
    ({ event_type: type, id, object }) => `${type} ${id} ${object.position.coordinates}, ${object.floor}`,
  );
};

test('a zone follows the providers and trackables that it lists', async (t) => {
  const { now: hub } = await borrowHub(t);
  await create(hub, '/trackables', { id: TRUCK, type: 'omlox', location_providers: ['gps-1', 'gps-2'] });
  await create(
    hub,
    '/zones',
    reader('r1', { properties: { [BY_PROVIDERS]: ['gps-1', 'gps-2', 'gps-3'], colour: 'red' } }),
  );
  await create(hub, '/zones', reader('r2', { properties: { [BY_TRACKABLES]: [TRUCK.toUpperCase()] } }));
  const changes = await hub.subscribe('zone_changes');
  const ofFirst = await hub.subscribe('zone_changes', { id: 'r1', event_type: 'update' });

  // They may be in different shards, but every request sees the result of the previous one.
  for (const [provider, lon] of [
    ['gps-1', 9],
    ['gps-3', 10],
    ['gps-2', 11],
    ['gps-1', 12],
  ] as const) {
    await send(hub, at(provider, point(lon, 51, 2), { floor: 4 }));
    assert.deepEqual(await placeOf(hub, 'r1'), [lon, 51, 2, 4]);
    assert.deepEqual(await placeOf(hub, 'r2'), [provider === 'gps-3' ? 9 : lon, 51, 2, 4]);
  }
  const { body } = await hub.get('/zones/r1');
  assert.deepEqual([body.radius, body.properties.colour], [3, 'red']);
  assert.deepEqual((await hub.get('/zones/summary')).body[0], body);
  const first = await ofFirst.next(({ object }) => object.position.coordinates[0] === 12);
  assert.deepEqual(first.object, body);
  assert.deepEqual(
    placesIn(ofFirst.events),
    [9, 10, 11, 12].map((lon) => `update r1 ${lon},51,2, 4`),
  );
  await changes.next(({ id, object }) => id === 'r2' && object.position.coordinates[0] === 12);
  assert.equal(changes.events.length, 7);
});

test('a proximity is at the new position of its zone, and moves zones that follow it', async (t) => {
  const { now: hub } = await borrowHub(t);
  await create(hub, '/zones', reader('gate', { properties: { [BY_PROVIDERS]: ['gps-1'] }, foreign_id: 'the gate' }));
  await create(hub, '/zones', reader('box', { properties: { [BY_PROVIDERS]: ['card'] } }));
  const proximity = { source: 'the gate', provider_type: 'rfid', provider_id: 'card' };
  const locations = await hub.subscribe('location_updates', { provider_id: 'card' });
  for (let lon = 9; lon < 12; lon++) {
    await send(hub, at('gps-1', point(lon, 51), { floor: lon }));
    assert.equal((await hub.put('/providers/card/proximity', { ...proximity, provider_id: undefined })).status, 204);
    const { body } = await hub.get('/providers/card/location');
    assert.deepEqual([body.position.coordinates, body.floor, body.accuracy], [[lon, 51], lon, 3]);
    assert.deepEqual(await placeOf(hub, 'box'), [lon, 51, lon]);
  }
  await send(hub, at('gps-1', point(20, 51)));
  await hub.put('/providers/proximities', [proximity]);
  await locations.next(({ position }) => position.coordinates[0] === 20);
  // The client of the socket is not notified of the move of the zone, unlike readers and subscribers of zone_changes.
  await send(hub, at('gps-1', point(21, 51)));
  assert.deepEqual(await placeOf(hub, 'gate'), [21, 51, 0]);
  locations.client.publish('proximity_updates', proximity);
  await locations.next(({ position }) => position.coordinates[0] === 21);
});

test('proximity zones are carried by a trackable and by each other, in any case of its id', async (t) => {
  const { now: hub } = await borrowHub(t);
  await create(hub, '/trackables', { id: TRUCK, type: 'omlox', location_providers: ['gps-1'] });
  await create(hub, '/trackables', { id: LOAD, type: 'virtual', parent: TRUCK.toUpperCase() });
  await create(hub, '/zones', reader('lid', { parent: LOAD.toUpperCase() }));
  await create(hub, '/zones', reader('lock', { parent: 'lid' }));
  const changes = await hub.subscribe('zone_changes');
  await send(hub, at('gps-1', point(9, 51)));
  assert.deepEqual((await hub.get(`/trackables/${LOAD}/motion`)).body.location.position, point(9, 51));
  assert.deepEqual(await placeOf(hub, 'lid'), [9, 51, 0]);
  assert.deepEqual(await placeOf(hub, 'lock'), [9, 51, 0]);
  await changes.next(({ id }) => id === 'lock');
  assert.deepEqual(placesIn(changes.take()), ['update lid 9,51, 0', 'update lock 9,51, 0']);
  assert.deepEqual((await hub.get('/zones/lid')).body.children, ['lock']);
  const cycle = await hub.put('/zones/lid', reader('lid', { parent: 'lock' }));
  assert.equal(cycle.status, 400);

  assert.equal((await hub.delete(`/trackables/${LOAD}`)).status, 204);
  await send(hub, at('gps-1', point(10, 51)));
  const { body } = await hub.get('/zones/lid');
  assert.deepEqual([body.position, body.parent], [point(9, 51), undefined], 'it stays at its last position');
  await hub.put('/zones/lid', { ...body, position: point(7, 52), children: undefined });
  assert.deepEqual(await placeOf(hub, 'lock'), [7, 52, 0]);
});

test('positions in the coordinates of a zone georeferenced by a benchmark move with the zone', async (t) => {
  const { now: hub } = await borrowHub(t);
  const benchmark = { type: 'generic', surface_projection: 'EPSG:32632', position: point(8.5, 50) };
  await create(hub, '/zones', { id: 'deck', ...benchmark, properties: { [BY_PROVIDERS]: ['gps-1', 'on-deck'] } });
  await create(hub, '/fences', { id: 'hold', region: point(0, 0), radius: 5, crs: 'local', zone_id: 'deck' });
  const events = await hub.subscribe('fence_events', { provider_id: 'pier' });
  await send(hub, at('pier', point(9, 50)), at('gps-1', point(9, 50)));
  await events.next(({ event_type: type }) => type === 'region_entry');
  await send(hub, at('gps-1', point(9.1, 50)));
  await events.next(({ event_type: type }) => type === 'region_exit');
  assert.deepEqual(await placeOf(hub, 'deck'), [9.1, 50, 0]);
  await send(hub, at('on-deck', point(0, 0), { source: 'deck', crs: 'local' }));
  const { body } = await hub.get('/providers/on-deck/location');
  assert.ok(Math.abs(body.position.coordinates[0] - 9.1) < 1e-6, JSON.stringify(body.position));
  await send(hub, at('on-deck', point(3, 4), { source: 'deck', crs: 'local' }));
  assert.deepEqual(await placeOf(hub, 'deck'), [9.1, 50, 0], 'its own locations do not carry it away');
});

test('a provider with a high update rate moves its zone at an interval, and finally to its last position', async (t) => {
  const { now: hub } = await borrowHub(t);
  await create(hub, '/zones', reader('r1', { properties: { [BY_PROVIDERS]: ['gps-1'] } }));
  const changes = await hub.subscribe('zone_changes');
  const client = await hub.socket();
  const rounds = 4000;
  const processedBefore = hub.hub.counts().processed;
  const startMs = performance.now();
  for (let i = 1; i <= rounds; i++) client.publish('location_updates', at('gps-1', point(i / 1000, 51)));
  await client.settle();
  assert.deepEqual(await placeOf(hub, 'r1'), [rounds / 1000, 51, 0]);
  const paces = (performance.now() - startMs) / 50;
  assert.ok(changes.events.length <= paces + 3, `${changes.events.length} changes in ${paces} paces`);
  assert.equal(hub.hub.counts().processed - processedBefore, rounds);

  await changes.next(({ object }) => object.position.coordinates[0] === rounds / 1000);
  changes.take();
  for (let i = 0; i < 100; i++) client.publish('location_updates', at('gps-1', point(rounds / 1000, 51)));
  await client.settle();
  await hub.get('/zones');
  await changes.client.settle();
  assert.deepEqual(changes.take(), [], 'zones that have not moved publish nothing');
});
