import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gps, HALL, square } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { type AuthorizedHub, done, openAuthorizedHub } from './authorized_hub.ts';

/** Two tenants share a hall: `mine` belongs to the token, `theirs` to another owner. */

const PERMISSIONS = `
tenant:
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
`;

const MINE = { trackable: 'aaaaaaaa-0000-4000-8000-000000000001', fence: 'ffffffff-0000-4000-8000-000000000001' };
const THEIRS = { trackable: 'aaaaaaaa-0000-4000-8000-000000000002', fence: 'ffffffff-0000-4000-8000-000000000002' };
const MY_ZONE = 'eeeeeeee-0000-4000-8000-000000000001';

const OWNED = {
  zone_ids: [MY_ZONE.toUpperCase()],
  trackable_ids: [MINE.trackable.toUpperCase()],
  fence_ids: [MINE.fence],
  provider_ids: ['mine', 'mine-new'],
  anchor_ids: ['mine'],
  source_ids: ['mine'],
};

const at = (provider: string, x: number, y = 5) => ({
  provider_id: provider,
  provider_type: 'uwb',
  source: HALL.id,
  position: { type: 'Point', coordinates: [x, y] },
});
/** Inside both fences, and outside. */
const INSIDE = 5;
const OUTSIDE = 80;

let opened: AuthorizedHub;
let admin: TestHub;
let tenant: TestHub;

before(async () => {
  opened = await openAuthorizedHub(PERMISSIONS);
  ({ admin } = opened);
  tenant = opened.as(await opened.issuer.token({ roles: ['tenant'], owned: OWNED }));
  await done(admin.post('/zones', HALL));
  await done(admin.post('/zones', { ...HALL, id: MY_ZONE, foreign_id: 'my-zone' }));
  for (const [name, { trackable, fence }] of Object.entries({ mine: MINE, theirs: THEIRS })) {
    await done(admin.post('/providers', { id: name, type: 'uwb', sensors: { of: name } }));
    await done(admin.post('/trackables', { id: trackable, type: 'omlox', location_providers: [name], radius: 1 }));
    await done(admin.post('/fences', square({ id: fence })));
    await done(admin.post('/anchors', { id: name }));
    await done(admin.put(`/providers/${name}/location`, gps(name)));
    await done(admin.put(`/providers/${name}/location`, at(name, INSIDE)));
  }
  // A trackable of mine has a provider of theirs, and a provider of mine is on a trackable of theirs.
  await done(admin.post('/providers', { id: 'theirs-too', type: 'uwb' }));
  const more = { type: 'omlox', location_providers: ['mine', 'theirs-too'], radius: 1 };
  await done(admin.put(`/trackables/${MINE.trackable}`, more));
  await done(admin.post('/trackables', { type: 'omlox', location_providers: ['mine'] }));
  await done(admin.put('/providers/mine/location', at('mine', INSIDE)));
  await opened.hub.settle();
});
after(() => opened.close());

const id = ({ id: found, provider_id }: Event): string => found ?? provider_id;

/** Lists, and the part that the tenant may read. */
const LISTS: readonly [path: string, ids: readonly string[]][] = [
  ['/zones', [MY_ZONE]],
  ['/zones/summary', [MY_ZONE]],
  ['/zones?foreign_id=hall', []],
  ['/zones?foreign_id=my-zone', [MY_ZONE]],
  ['/providers', ['mine']],
  ['/providers/summary', ['mine']],
  ['/providers/locations', ['mine']],
  ['/providers/locations?crs=local', ['mine']],
  ['/trackables', [MINE.trackable]],
  ['/trackables/summary', [MINE.trackable]],
  ['/trackables/motions', [MINE.trackable]],
  ['/fences', [MINE.fence]],
  ['/fences/summary', [MINE.fence]],
  ['/anchors', ['mine']],
  ['/anchors/summary', ['mine']],
  ['/health/zones/summary', [MY_ZONE]],
  ['/health/sources/summary', ['mine']],
  [`/fences/${MINE.fence}/providers`, ['mine']],
  [`/fences/${MINE.fence}/providers?spatial_query=true`, ['mine']],
  [`/fences/${MINE.fence}/trackables`, [MINE.trackable]],
  [`/fences/${MINE.fence}/locations`, ['mine']],
  [`/fences/${MINE.fence}/locations?spatial_query=true`, ['mine']],
  [`/fences/${MINE.fence}/motions`, [MINE.trackable]],
  ['/providers/mine/fences', [MINE.fence]],
  ['/providers/mine/trackables', [MINE.trackable]],
  [`/trackables/${MINE.trackable}/fences`, [MINE.fence]],
  [`/trackables/${MINE.trackable}/providers`, ['mine']],
];

for (const [path, ids] of LISTS) {
  test(`GET ${path} returns owned objects to the tenant, and more to the administrator`, async () => {
    const { status, body } = await tenant.get(path);
    assert.equal(status, 200);
    assert.deepEqual(body.map((item: Event) => (typeof item === 'string' ? item : id(item))).sort(), ids);
    const all = await admin.get(path);
    if (!path.includes('foreign_id')) assert.ok(all.body.length > ids.length, `all there is: ${all.text}`);
  });
}

test('A search finds only owned objects', async () => {
  const region = {
    type: 'Polygon',
    coordinates: [
      [
        [-180, -90],
        [180, -90],
        [180, 90],
        [-180, 90],
        [-180, -90],
      ],
    ],
  };
  for (const [kind, mine] of [
    ['provider', 'mine'],
    ['trackable', MINE.trackable],
  ] as const) {
    const idsOf = async (caller: TestHub): Promise<readonly string[]> => {
      const { status, body } = await caller.post('/search', { kind, region });
      assert.equal(status, 200);
      return body.matches.map(({ location, motion }: Event) => location?.provider_id ?? motion.id);
    };
    assert.deepEqual(await idsOf(tenant), [mine]);
    assert.ok((await idsOf(admin)).length > 1);
  }
});

test('A GeoJSON list contains only owned objects', async () => {
  const { body } = await tenant.get('/providers/locations?geojson=true');
  assert.deepEqual(
    body.features.map(({ properties }: Event) => properties.provider_id),
    ['mine'],
  );
});

const REFUSED: readonly [method: string, path: string, body?: unknown][] = [
  ['GET', `/zones/${HALL.id}`],
  ['GET', '/providers/theirs'],
  ['GET', '/providers/theirs/location'],
  ['GET', '/providers/theirs/sensors'],
  ['GET', '/providers/theirs%2F'],
  ['GET', '/providers/Mine'],
  ['GET', `/trackables/${THEIRS.trackable}/motion`],
  ['GET', `/fences/${THEIRS.fence}/providers`],
  ['GET', `/health/zones/${HALL.id}`],
  ['GET', '/health/zones/hall'],
  ['GET', '/health/sources/theirs'],
  ['GET', '/health/system'],
  ['PUT', '/providers/theirs/location', at('theirs', 1)],
  ['PUT', '/providers/locations', [at('mine', 1), at('theirs', 1)]],
  ['POST', '/providers/locations', [at('mine', 1), { ...at('mine', 1), provider_id: undefined }]],
  ['PUT', '/providers/proximities', [{ provider_id: 'theirs', source: 'x', provider_type: 'rfid' }]],
  ['PUT', '/providers/locations', [null]],
  ['PUT', '/providers/locations', [{ ...at('mine', 1), provider_id: ['mine'] }]],
  ['POST', '/providers', { id: 'theirs-new', type: 'uwb' }],
  ['POST', '/providers', { type: 'uwb' }],
  ['POST', '/providers', '{"type":"uwb","id":"theirs-new","prototype":{"id":"mine"}}'],
  ['POST', '/providers', []],
  ['DELETE', '/providers'],
  ['DELETE', '/providers/theirs'],
  ['DELETE', '/providers/locations'],
  ['PUT', '/trackables/rules/locating', []],
  ['PATCH', `/fences/${THEIRS.fence}`, { op: 'add', path: '/name', value: 'x' }],
  ['POST', `/fences/${THEIRS.fence}/events`, { event_type: 'region_entry' }],
  ['POST', `/zones/${HALL.id}/fence`, { region: square().region }],
];

for (const [method, path, body] of REFUSED) {
  test(`${method} ${path} ${body === undefined ? '' : JSON.stringify(body).slice(0, 60)} is rejected`, async () => {
    const { status, text } = await tenant.request(method, path, body);
    assert.equal(status, 403, text);
  });
}

const LET_IN: readonly [method: string, path: string, status: number, body?: unknown][] = [
  ['GET', `/zones/${MY_ZONE.toUpperCase()}`, 200],
  ['GET', '/health/zones/my-zone', 200],
  ['GET', '/health/sources/mine', 200],
  ['GET', '/providers/m%69ne/sensors', 200],
  ['GET', `/trackables/${MINE.trackable}/locations`, 200],
  ['GET', `/trackables/${MINE.trackable}/sensors`, 200],
  ['PUT', '/providers/mine/location', 204, at('mine', INSIDE)],
  ['PUT', '/providers/locations', 204, [at('mine', INSIDE), at('mine', INSIDE)]],
  ['PUT', '/providers/locations', 204, []],
  ['PUT', '/providers/locations', 400, {}],
  ['PUT', '/providers/locations', 400, '[{'],
  ['POST', '/providers', 201, { id: 'mine-new', type: 'uwb' }],
  ['DELETE', '/providers/mine-new', 204],
  ['POST', `/fences/${MINE.fence}/events`, 204, { event_type: 'region_entry', provider_id: 'mine' }],
  ['PUT', `/zones/${MY_ZONE}/transform`, 200, { position: { type: 'Point', coordinates: [1, 2] } }],
];

for (const [method, path, status, body] of LET_IN) {
  test(`${method} ${path} is permitted`, async () => {
    const { status: found, text } = await tenant.request(method, path, body);
    assert.equal(found, status, text);
  });
}

const TOPICS: readonly [topic: string, mine: (event: Event) => boolean][] = [
  ['location_updates', ({ provider_id }) => provider_id === 'mine'],
  ['location_updates:geojson', ({ features }) => features[0].properties.provider_id === 'mine'],
  ['trackable_motions', ({ id: trackable }) => trackable === MINE.trackable],
  ['fence_events', ({ fence_id }) => fence_id === MINE.fence],
  ['fence_events:geojson', ({ features }) => features[0].properties.fence_id === MINE.fence],
  ['collision_events', ({ collisions }) => collisions.some(({ id: one }: Event) => one === MINE.trackable)],
  ['proximity_updates', ({ provider_id }) => provider_id === 'mine'],
  ['provider_changes', ({ id: provider }) => provider === 'mine'],
  ['trackable_changes', ({ id: trackable }) => trackable === MINE.trackable],
  ['fence_changes', ({ id: fence }) => fence === MINE.fence],
  ['zone_changes', ({ id: zone }) => zone === MY_ZONE],
  ['anchor_changes', ({ id: anchor }) => anchor === 'mine'],
  ['alert_changes', ({ object }) => object.trackable_id === MINE.trackable],
];

/** Whether an event contains only references to the tenant's objects. */
function cut(event: Event): Event {
  const isMine = (id: unknown) => id === MINE.trackable || id === 'mine';
  const text = JSON.stringify(event, (name, value) => {
    if (name === 'trackables' || name === 'location_providers') return value.filter(isMine);
    if (name === 'trackable_id' || name === 'provider_id') return isMine(value) ? value : null;
    if (name === 'collision_area') return event.collisions.every(({ id: one }: Event) => isMine(one)) ? value : null;
    if (name !== 'collisions') return value;
    return value.map((one: Event) => (isMine(one.id) ? one : { id: '', object_type: 'trackable' }));
  });
  return JSON.parse(text);
}

/** Causes events for every kind of object of both owners. */
async function happen(): Promise<void> {
  for (const x of [OUTSIDE, INSIDE, OUTSIDE]) {
    for (const provider of ['theirs', 'mine'])
      await done(admin.put(`/providers/${provider}/location`, at(provider, x)));
  }
  const proximity = { source: 'reader', provider_type: 'rfid' };
  await done(
    admin.post('/zones', { id: 'reader', type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 1 }),
  );
  for (const name of ['mine', 'theirs']) {
    await done(admin.put(`/providers/${name}/proximity`, { ...proximity, provider_id: name }));
    await done(admin.put(`/anchors/${name}`, { name }));
    await done(admin.put(`/providers/${name}`, { type: 'uwb', name }));
  }
  for (const { trackable, fence } of [MINE, THEIRS]) {
    await done(admin.request('PATCH', `/trackables/${trackable}`, { op: 'add', path: '/name', value: 'x' }));
    await done(admin.request('PATCH', `/fences/${fence}`, { op: 'add', path: '/name', value: 'x' }));
  }
  for (const zone of [HALL.id, MY_ZONE]) {
    await done(admin.request('PATCH', `/zones/${zone}`, { op: 'add', path: '/name', value: 'x' }));
  }
}

test('A subscription receives all events of owned objects, and no others', async () => {
  await done(admin.post('/alerts/rules', { name: 'Entries', kind: 'entry', fence_ids: [MINE.fence] }));
  await admin.settle();
  const all = await admin.socket();
  const own = await tenant.socket();
  const records = [];
  for (const [topic, isMine] of TOPICS) {
    records.push({ topic, isMine, all: await all.subscribe(topic), own: await own.subscribe(topic) });
  }
  await happen();
  // Collisions arrive last, from their own worker.
  await records.find(({ topic }) => topic === 'collision_events')?.own.next();
  await opened.hub.settle();
  for (const { topic, isMine, all: everything, own: seen } of records) {
    const wanted = everything.events.filter(isMine).map(cut);
    assert.deepEqual(seen.events, wanted, topic);
    assert.ok(wanted.length > 0, `${topic}: nothing of mine`);
    if (topic !== 'collision_events')
      assert.ok(everything.events.length > wanted.length, `${topic}: nothing of theirs`);
  }
  await Promise.all([all.close(), own.close()]);
});

const ASKED: readonly [topic: string, params: object, code: number | undefined][] = [
  ['location_updates', { provider_id: 'mine' }, undefined],
  ['location_updates', { provider_id: ['mine', 'mine-new'] }, undefined],
  ['location_updates', { provider_id: ['mine', 'theirs'] }, 10004],
  ['location_updates', { provider_id: 'theirs' }, 10004],
  ['location_updates', { provider_id: [{}] }, 10002],
  ['location_updates', { source: 'theirs' }, undefined],
  ['fence_events', { fence_id: MINE.fence, trackable_id: MINE.trackable }, undefined],
  ['fence_events', { fence_id: MINE.fence, trackable_id: THEIRS.trackable }, 10004],
  ['fence_events', { provider_id: ['mine', 'theirs'] }, 10004],
  ['trackable_motions', { provider_id: 'theirs' }, 10004],
  ['fence_events', { fence_id: THEIRS.fence }, 10004],
  ['trackable_motions', { trackable_id: THEIRS.trackable }, 10004],
  ['trackable_motions', { id: MINE.trackable.toUpperCase() }, undefined],
  ['collision_events', { collision_id_1: MINE.trackable, collision_id_2: THEIRS.trackable }, 10004],
  ['collision_events', { object_id_1: MINE.trackable, object_id_2: THEIRS.trackable }, 10004],
  ['collision_events', { object_id_1: THEIRS.trackable }, 10004],
  ['zone_changes', { id: HALL.id }, 10004],
];

for (const [topic, params, code] of ASKED) {
  test(`A tenant that subscribes to ${topic} with ${JSON.stringify(params)} is answered ${code ?? 'subscribed'}`, async () => {
    const socket = await tenant.socket();
    const [answer] = await socket.ask({ event: 'subscribe', topic, params });
    assert.equal(answer?.code, code, answer?.description);
    await socket.close();
  });
}

test('A tenant that may send its own objects over REST may send nothing over the WebSocket', async () => {
  const socket = await tenant.socket();
  const [answer] = await socket.ask({ event: 'message', topic: 'location_updates', payload: [at('mine', 1)] });
  assert.equal(answer?.code, 10004);
  await socket.close();
});
