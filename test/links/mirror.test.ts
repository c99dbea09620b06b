import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';
import { hubId, isComplete, link, location, openHub, send, type TestLink } from './linked_hubs.ts';
import { openOmloxServer } from './omlox_server.ts';

const TRUCK = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const mirror = (hub: TestHub, of: TestHub, more: object = {}) => link(hub, of.base, { entities: 'mirror', ...more });

/** Waits until a link has mirrored that many entities. */
function untilMirrored(of: TestLink, count: number) {
  return of.until((state) => isComplete(state) && state.mirrored === count);
}

async function namesOf(hub: TestHub, path: string): Promise<readonly string[]> {
  return (await hub.get(`${path}/summary`)).body.map(({ name }: { name: string }) => name).sort();
}

test('Entities of another hub are mirrored, follow its changes, and cause events here', async (t) => {
  const [a, b] = await Promise.all([openHub(t), openHub(t)]);
  await a.post('/zones', { ...HALL, name: 'Hall' });
  await a.post('/trackables', { id: TRUCK, type: 'omlox', name: 'Truck', location_providers: ['tag'] });
  const other = await mirror(b, a);
  await untilMirrored(other, 2);
  const { body: fence } = await a.post('/fences', { ...square(), name: 'Dock' });
  await untilMirrored(other, 3);
  assert.deepEqual((await b.get(`/trackables/${TRUCK}`)).body.properties['hub.mirror'], {
    link: other.id,
    hub: await hubId(a),
    id: TRUCK,
  });
  const [there, here] = await Promise.all([a.subscribe('fence_events'), b.subscribe('fence_events')]);
  const inside = {
    position: { type: 'Point', coordinates: [5, 5] },
    source: HALL.id,
    crs: 'local',
    provider_type: 'uwb',
  };
  assert.equal((await a.put('/providers/tag/location', inside)).status, 204);
  const isTruck = (event: { trackable_id?: string }) => event.trackable_id === TRUCK;
  assert.equal((await there.next(isTruck)).fence_id, fence.id);
  assert.equal((await here.next(isTruck)).fence_id, fence.id);
  // A changed and a deleted entity.
  await a.put(`/trackables/${TRUCK}`, { type: 'omlox', name: 'Lorry', location_providers: ['tag'] });
  await a.delete(`/fences/${fence.id}`);
  await untilMirrored(other, 2);
  assert.deepEqual(await namesOf(b, '/trackables'), ['Lorry']);
  assert.deepEqual(await namesOf(b, '/fences'), []);
});

test('A mirrored entity is read-only, and an ordinary one after its link is deleted', async (t) => {
  const [a, b] = await Promise.all([openHub(t), openHub(t)]);
  const truck = { id: TRUCK, type: 'omlox', name: 'Truck' };
  await a.post('/trackables', truck);
  const other = await mirror(b, a);
  await untilMirrored(other, 1);
  const own = (await b.post('/trackables', { type: 'omlox', name: 'Own' })).body;
  const path = `/trackables/${TRUCK}`;
  const message = `Cannot change trackable "${TRUCK}": it is mirrored from another hub by the link "other"`;
  const mirrored = (await b.get(path)).body;
  for (const reply of [
    await b.put(path, truck),
    await b.put(path, mirrored),
    await b.request('PATCH', path, [{ op: 'replace', path: '/name', value: 'Mine' }]),
    await b.delete(path),
    // The mark cannot be forged.
    await b.put(`/trackables/${own.id}`, { ...own, properties: mirrored.properties }),
  ]) {
    const expected = message.replace(TRUCK, reply.body.message.includes(own.id) ? own.id : TRUCK);
    assert.deepEqual([reply.status, reply.body.message], [403, expected]);
  }
  assert.equal((await b.delete('/trackables')).status, 204);
  assert.deepEqual(await namesOf(b, '/trackables'), ['Truck']);
  assert.equal((await b.delete(`/links/${other.id}`)).status, 204);
  assert.equal((await b.put(path, { ...mirrored, name: 'Mine' })).status, 200);
});

test('An entity of this hub is never overwritten, and a prefix keeps both', async (t) => {
  const [a, b] = await Promise.all([openHub(t), openHub(t)]);
  await a.post('/zones', { ...HALL, name: 'Theirs' });
  await a.post('/trackables', { id: TRUCK, type: 'omlox', name: 'Their truck', location_providers: ['tag'] });
  await b.post('/zones', { ...HALL, name: 'Ours' });
  await b.post('/trackables', { id: TRUCK, type: 'omlox', name: 'Our truck' });
  const plain = await mirror(b, a);
  const state = await untilMirrored(plain, 0);
  assert.equal(state.not_mirrored, 2);
  assert.match(state.last_error ?? '', /the id is taken by an entity of this hub/);
  assert.equal((await b.delete(`/links/${plain.id}`)).status, 204);
  await untilMirrored(await mirror(b, a, { id_prefix: 'a-' }), 2);
  assert.deepEqual(await namesOf(b, '/zones'), ['Ours', 'Theirs']);
  assert.deepEqual(await namesOf(b, '/trackables'), ['Our truck', 'Their truck']);
  const motions = await b.subscribe('trackable_motions');
  await send(a, location('tag', 1));
  assert.equal((await motions.next()).name, 'Their truck');
});

test('Mirrors in a cycle of three hubs end where they began', async (t) => {
  const hubs = await Promise.all([openHub(t), openHub(t), openHub(t)]);
  const [a, b, c] = hubs as [TestHub, TestHub, TestHub];
  for (const [i, hub] of hubs.entries())
    await hub.post('/zones', { ...HALL, id: `hall-${i}`, foreign_id: `f-${i}`, name: `${i}` });
  const links = [await mirror(a, b), await mirror(b, c), await mirror(c, a)];
  await Promise.all(links.map((each) => untilMirrored(each, 2)));
  for (const hub of hubs) assert.deepEqual(await namesOf(hub, '/zones'), ['0', '1', '2']);
  assert.equal((await a.get('/zones/hall-1')).body.properties['hub.mirror'].hub, await hubId(b));
  assert.equal((await a.get('/zones/hall-2')).body.properties['hub.mirror'].hub, await hubId(c));
  assert.equal((await a.get('/zones/hall-0')).body.properties, undefined);
});

test('A server without entities or topics of changes is reported, and its locations still arrive', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  server.locations = [location('parked', 1)];
  const other = await link(hub, server.url, { entities: 'mirror' });
  await other.until(
    ({ last_error }) => last_error?.includes('/v2/zones/summary?limit=1000: the server answered 404') === true,
  );
  server.publish('location_updates', location('tag', 1));
  await other.until(({ accepted, status }) => accepted === 2 && status === 'connected');
});
