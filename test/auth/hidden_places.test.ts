import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FOLLOWED } from '../../src/core/zone/following.ts';
import { gps, HALL } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';
import { type AuthorizedHub, done, openAuthorizedHub } from './authorized_hub.ts';

/**
 * A zone with coordinates follows a vehicle of another owner. An administrator has assigned the zone to a tenant, whose
 * fence and anchor are in it. Any position in it would reveal the position of the vehicle.
 */

const PERMISSIONS = `
tenant:
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
`;
const ZONE = 'deck';
const MINE = 'aaaaaaaa-0000-4000-8000-000000000001';
const THEIRS = 'aaaaaaaa-0000-4000-8000-000000000002';
const FENCE = 'ffffffff-0000-4000-8000-000000000001';
const NEW_FENCE = 'ffffffff-0000-4000-8000-000000000002';
const OWNED = {
  zone_ids: [ZONE, 'still'],
  provider_ids: ['mine'],
  trackable_ids: [MINE],
  fence_ids: [FENCE, NEW_FENCE],
  anchor_ids: ['anchor'],
};
const FOLLOWS = { [FOLLOWED.providers]: ['theirs'], [FOLLOWED.trackables]: [THEIRS] };
const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
const IN_ZONE = { crs: 'local', zone_id: ZONE, region: point(0, 0), radius: 1 };

let opened: AuthorizedHub;
let admin: TestHub;
let tenant: TestHub;

before(async () => {
  opened = await openAuthorizedHub(PERMISSIONS, { history: true });
  ({ admin } = opened);
  tenant = opened.as(await opened.issuer.token({ roles: ['tenant'], owned: OWNED }));
  for (const id of ['mine', 'theirs']) await done(admin.post('/providers', { id, type: 'gps' }));
  await done(admin.post('/trackables', { id: THEIRS, type: 'omlox', location_providers: ['theirs'] }));
  const shared = { type: 'omlox', location_providers: ['mine', 'theirs'], parent: THEIRS };
  await done(admin.post('/trackables', { ...shared, id: MINE }));
  const zone = { ...HALL, position: point(9, 50), foreign_id: null };
  await done(admin.post('/zones', { ...zone, id: ZONE, properties: FOLLOWS }));
  await done(admin.post('/zones', { ...zone, id: 'still' }));
  await done(admin.post('/fences', { ...IN_ZONE, id: FENCE }));
  await done(admin.post('/anchors', { id: 'anchor', zone_id: ZONE, local_position: point(0, 0) }));
  for (const id of ['mine', 'theirs']) await done(admin.put(`/providers/${id}/location`, gps(id)));
});
after(() => opened.close());

const local = { provider_type: 'uwb', source: ZONE, position: point(0, 0) };
const REFUSED: readonly [method: string, path: string, body?: object][] = [
  ['GET', `/providers/mine/location?crs=local&zone_id=${ZONE}`],
  ['GET', `/providers/locations?crs=local&zone_id=${ZONE}`],
  ['GET', `/trackables/motions?crs=local&zone_id=${ZONE}`],
  ['GET', `/trackables/${MINE}/locations?crs=local&zone_id=${ZONE}`],
  ['GET', `/fences/summary?crs=local&zone_id=${ZONE}`],
  ['GET', `/fences/${FENCE}/locations?crs=local&zone_id=${ZONE}`],
  ['GET', `/zones/${ZONE}/createfence`],
  ['PUT', `/zones/${ZONE}/transform`, { position: point(0, 0) }],
  ['POST', `/zones/${ZONE}/fence`, { id: NEW_FENCE, region: point(0, 0), radius: 1 }],
  ['POST', '/fences', { ...IN_ZONE, id: NEW_FENCE }],
  ['PUT', '/providers/mine/location', local],
  ['PUT', '/providers/locations', [{ ...local, provider_id: 'mine' }]],
  ['PUT', '/providers/mine/proximity', { provider_type: 'rfid', source: ZONE }],
  ['POST', '/providers/proximities', [{ provider_type: 'rfid', source: ZONE, provider_id: 'mine' }]],
];

for (const [method, path, body] of REFUSED) {
  test(`${method} ${path} is rejected, since the zone follows an object that the token may not read`, async () => {
    const { status, text } = await tenant.request(method, path, body);
    assert.equal(status, 403, text);
    assert.match(text, /must name a zone that follows nothing but what the access token may read, found \\"deck\\"/);
    // A stationary zone causes no rejection.
    const still = body && JSON.parse(JSON.stringify(body).replaceAll(`"${ZONE}"`, '"still"'));
    assert.notEqual((await tenant.request(method, path.replaceAll(ZONE, 'still'), still)).status, 403);
    await admin.delete(`/fences/${NEW_FENCE}`);
  });
}

test('A subscription in the coordinates of a zone is rejected if the zone follows an object that the token may not read', async () => {
  const socket = await tenant.socket();
  const params = { crs: 'local', zone_id: ZONE };
  const [refused] = await socket.ask({ event: 'subscribe', topic: 'location_updates', params });
  assert.equal(refused?.code, 10004, refused?.description);
  const [taken] = await socket.ask({
    event: 'subscribe',
    topic: 'location_updates',
    params: { ...params, zone_id: 'still' },
  });
  assert.equal(taken?.event, 'subscribed');
  await socket.close();
});

test('The outline of a zone is denied to tokens that may not read its anchors', async () => {
  const [, , ...rows] = HALL.ground_control_points ?? [];
  const placed = [0, 2, 4].map((row) => ({ global: rows[row] ?? [], local: rows[row + 1] ?? [] }));
  for (const [i, { global, local }] of placed.entries()) {
    const positions = {
      georeferenced_position: point(global[0] ?? 0, global[1] ?? 0),
      local_position: point(local[0] ?? 0, local[1] ?? 0),
    };
    await done(admin.post('/anchors', { id: `corner-${i}`, zone_id: 'still', ...positions }));
  }
  const anchor_ids = placed.map((_, i) => `corner-${i}`);
  await done(admin.request('PATCH', '/zones/still', { op: 'add', path: '/anchor_ids', value: anchor_ids }));
  const { status, text } = await tenant.get('/zones/still/createfence');
  assert.equal(status, 403, text);
  assert.doesNotMatch(text, /corner/);
  assert.equal((await admin.get('/zones/still/createfence')).status, 200);
  assert.deepEqual((await tenant.get('/zones/still')).body.anchor_ids, []);
  await done(admin.request('PATCH', '/zones/still', { op: 'remove', path: '/anchor_ids' }));
});

test('Objects in such a zone have local coordinates, and no geographic ones', async () => {
  const { body: fence } = await tenant.get(`/fences/${FENCE}`);
  assert.deepEqual([fence.crs, fence.region], ['local', IN_ZONE.region]);
  assert.equal((await admin.get(`/fences/${FENCE}`)).body.crs, 'EPSG:4326');
  assert.equal((await tenant.get(`/fences/${FENCE}?geojson=true`)).status, 400);
  assert.deepEqual((await tenant.get('/fences/summary?crs=EPSG:4326')).body, []);
  const { body: anchor } = await tenant.get('/anchors/anchor?georef=true');
  assert.equal(anchor.georeferenced_position, undefined);
  assert.notEqual((await admin.get('/anchors/anchor?georef=true')).body.georeferenced_position, undefined);
});

test('An error for a motion in the coordinates of its source names no source of another owner', async () => {
  await done(admin.delete('/providers/mine/location'));
  await done(admin.put('/providers/theirs/location', gps('theirs')));
  const { status, text } = await tenant.get(`/trackables/${MINE}/motion?crs=local`);
  assert.equal(status, 400);
  assert.doesNotMatch(text, /theirs/);
});

test('The history of owned objects names no provider of another owner, and has no coordinates in such a zone', async () => {
  await done(admin.put('/providers/theirs/location', gps('theirs')));
  for (const source of [ZONE, 'still']) await done(admin.put('/providers/mine/location', { ...local, source }));
  await opened.hub.settle();
  const path = `/trackables/${MINE.toUpperCase()}/history`;
  const places = async (hub: TestHub) =>
    (await hub.get(path)).body.points.map(({ provider_id, source, zone_id, x }: Record<string, unknown>) => {
      return [provider_id, source, zone_id, x];
    });
  const all = await places(admin);
  assert.ok(all.some(([provider]: string[]) => provider === 'theirs'));
  assert.ok(all.some(([, , zone]: string[]) => zone === ZONE));
  const hidden = all.map(([provider, source, zone, x]: unknown[]) => {
    const named = provider === 'mine' ? [provider, source] : [undefined, undefined];
    return zone === ZONE ? [...named, undefined, undefined] : [...named, zone, x];
  });
  assert.deepEqual(await places(tenant), hidden);
  const { objects } = (await tenant.get('/history/snapshot')).body;
  assert.deepEqual(
    objects.map(({ id, provider_id }: Record<string, unknown>) => [id, provider_id]),
    [[MINE, 'mine']],
  );
  assert.doesNotMatch((await tenant.get(`${path}?format=csv`)).text, /theirs/);
});

/** A tenant reads an object of its own, changes it, and sends it back. */
const SENT_BACK: readonly [path: string, change: (body: Record<string, unknown>) => object][] = [
  [`/zones/${ZONE}`, (body) => ({ ...body, name: 'x' })],
  [`/trackables/${MINE}`, (body) => ({ ...body, name: 'x' })],
];

for (const [path, change] of SENT_BACK) {
  test(`A tenant that reads, changes and sends back ${path} preserves all hidden values`, async () => {
    await admin.get('/zones');
    const { body: kept } = await admin.get(path);
    const { body, text } = await tenant.get(path);
    assert.doesNotMatch(text, new RegExp(`theirs|${THEIRS}|9\\.0005`));
    await done(tenant.put(path, change(body)));
    assert.deepEqual((await admin.get(path)).body, { ...kept, name: 'x' });
    await done(tenant.request('PATCH', path, { op: 'replace', path: '/name', value: 'y' }));
    assert.deepEqual((await admin.get(path)).body, { ...kept, name: 'y' });
  });
}
