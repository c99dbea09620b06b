import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FOLLOWED } from '../../src/core/zone/following.ts';
import { gps, HALL, square } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { type AuthorizedHub, done, openAuthorizedHub } from './authorized_hub.ts';

/**
 * References in requests and responses of a tenant. `mine` belongs to the tenant, `theirs` to another owner. A
 * provider of mine is on trackables of both.
 */

const PERMISSIONS = `
tenant:
  '/v1/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
reader:
  '/v2/trackables/*': [READ_ANY]
  '/v2/providers/:provider_id': [READ_ANY]
`;

const MINE = 'aaaaaaaa-0000-4000-8000-000000000001';
const MINE_TOO = 'aaaaaaaa-0000-4000-8000-000000000002';
const THEIRS = 'aaaaaaaa-0000-4000-8000-000000000003';
const FENCE = 'ffffffff-0000-4000-8000-000000000001';
const ZONE = 'eeeeeeee-0000-4000-8000-000000000001';
const THEIR_ZONE = 'eeeeeeee-0000-4000-8000-000000000002';

const OWNED = {
  trackable_ids: [MINE, MINE_TOO],
  provider_ids: ['mine', 'mine-too'],
  fence_ids: [FENCE],
  zone_ids: [ZONE],
};

const READER_ZONE = { type: 'rfid', position: { type: 'Point', coordinates: [9.0005, 50.0005] }, radius: 2 };

let opened: AuthorizedHub;
let admin: TestHub;
let tenant: TestHub;
/** The tenant, who may also read all trackables and providers. */
let reader: TestHub;

before(async () => {
  opened = await openAuthorizedHub(PERMISSIONS);
  const { issuer } = opened;
  ({ admin } = opened);
  tenant = opened.as(await issuer.token({ roles: ['tenant'], owned: OWNED }));
  reader = opened.as(await issuer.token({ roles: ['tenant', 'reader'], owned: OWNED }));
  await done(admin.post('/zones', HALL));
  await done(admin.post('/zones', { ...READER_ZONE, id: ZONE }));
  await done(admin.post('/zones', { ...READER_ZONE, id: THEIR_ZONE }));
  await done(admin.post('/fences', square({ id: FENCE })));
  for (const id of ['mine', 'theirs']) await done(admin.post('/providers', { id, type: 'gps' }));
  await done(admin.post('/trackables', { id: MINE, type: 'omlox', location_providers: ['mine', 'theirs'] }));
  await done(admin.post('/trackables', { id: MINE_TOO, type: 'omlox' }));
  await done(admin.post('/trackables', { id: THEIRS, type: 'omlox', location_providers: ['mine'] }));
});
after(() => opened.close());

const trackable = (more: object) => ({ type: 'omlox', ...more });
const follows = (more: object) => ({ ...READER_ZONE, properties: more });
const add = (path: string, value: unknown) => ({ op: 'add', path, value });

const REFUSED: readonly [method: string, path: string, body: object, named: string][] = [
  ['PUT', `/trackables/${MINE_TOO}`, trackable({ location_providers: ['theirs'] }), 'location_providers[0]'],
  ['PUT', `/trackables/${MINE_TOO}`, trackable({ location_providers: ['mine', 'new'] }), 'location_providers[1]'],
  ['PUT', `/trackables/${MINE_TOO}`, trackable({ parent: THEIRS }), 'parent'],
  ['PATCH', `/trackables/${MINE_TOO}`, add('/location_providers', ['theirs']), 'location_providers[0]'],
  ['PATCH', `/trackables/${MINE_TOO}`, add('/parent', THEIRS.toUpperCase()), 'parent'],
  ['PATCH', `/trackables/${MINE}`, add('/location_providers/-', 'new'), 'location_providers[1]'],
  ['PUT', `/zones/${ZONE}`, { ...READER_ZONE, parent: THEIRS }, 'parent'],
  ['PUT', `/zones/${ZONE}`, { ...READER_ZONE, parent: THEIR_ZONE }, 'parent'],
  ['PUT', `/zones/${ZONE}`, follows({ [FOLLOWED.trackables]: [MINE, THEIRS] }), `properties.${FOLLOWED.trackables}[1]`],
  ['PATCH', `/zones/${ZONE}`, add('/properties', { [FOLLOWED.providers]: ['theirs'] }), `${FOLLOWED.providers}[0]`],
  ['POST', `/fences/${FENCE}/events`, { event_type: 'region_entry', provider_id: 'theirs' }, 'provider_id'],
  ['PUT', `/fences/${FENCE}/events`, { event_type: 'region_entry', trackable_id: THEIRS }, 'trackable_id'],
  [
    'POST',
    `/fences/${FENCE}/events`,
    { event_type: 'region_entry', provider_id: 'mine', trackables: [MINE, THEIRS] },
    'trackables[1]',
  ],
];

for (const [method, path, body, named] of REFUSED) {
  test(`${method} ${path} with ${JSON.stringify(body).slice(0, 90)} is rejected for ${named}`, async () => {
    const kept = await admin.get(path.replace('/events', ''));
    const { status, body: answer } = await tenant.request(method, path, body);
    assert.equal(status, 403, JSON.stringify(answer));
    assert.equal(answer.type, 'com.flowcate.auth.permission');
    assert.ok(answer.message.includes(`${named}: must name a`), answer.message);
    assert.match(answer.message, /that the access token may read, found "/);
    assert.deepEqual((await admin.get(path.replace('/events', ''))).body, kept.body);
  });
}

test('POST of an owned trackable with a provider of another owner is rejected, and creates nothing', async () => {
  await done(admin.delete(`/trackables/${MINE_TOO}`));
  const body = { id: MINE_TOO, type: 'omlox', location_providers: ['theirs'] };
  assert.equal((await tenant.post('/trackables', body)).status, 403);
  assert.equal((await admin.get(`/trackables/${MINE_TOO}`)).status, 404);
  await done(tenant.post('/trackables', { ...body, location_providers: ['mine-too'] }));
});

const ADMITTED: readonly [who: 'tenant' | 'reader', method: string, path: string, body: object][] = [
  // References set earlier by an administrator.
  [
    'tenant',
    'PUT',
    `/trackables/${MINE}`,
    trackable({ name: 'x', location_providers: ['theirs', 'mine', 'mine-too'] }),
  ],
  ['tenant', 'PATCH', `/trackables/${MINE}`, add('/name', 'y')],
  ['tenant', 'PUT', `/trackables/${MINE_TOO}`, trackable({ location_providers: ['mine-too'], parent: MINE })],
  ['tenant', 'PUT', `/zones/${ZONE}`, follows({ [FOLLOWED.trackables]: [MINE], [FOLLOWED.providers]: ['mine'] })],
  ['tenant', 'PUT', `/zones/${ZONE}`, READER_ZONE],
  ['tenant', 'POST', `/fences/${FENCE}/events`, { event_type: 'region_entry', provider_id: 'mine' }],
  ['reader', 'PUT', `/trackables/${MINE_TOO}`, trackable({ location_providers: ['theirs'], parent: THEIRS })],
  ['reader', 'PUT', `/zones/${ZONE}`, follows({ [FOLLOWED.trackables]: [THEIRS] })],
  ['reader', 'PUT', `/fences/${FENCE}/events`, { event_type: 'region_entry', trackable_id: THEIRS }],
];

for (const [who, method, path, body] of ADMITTED) {
  test(`${method} ${path} with ${JSON.stringify(body).slice(0, 90)} of the ${who} is permitted`, async () => {
    await done((who === 'tenant' ? tenant : reader).request(method, path, body));
  });
}

/** All lists of trackables in a value, at any depth. */
function listsIn(value: Event): string[][] {
  const lists: string[][] = [];
  JSON.parse(JSON.stringify(value), (name, member) => {
    if (name === 'trackables') lists.push([...member].sort());
    return member;
  });
  return lists;
}

const SHOWN: readonly [path: string, count: number][] = [
  ['/providers/mine/location', 1],
  ['/providers/locations', 1],
  [`/trackables/${MINE}/location`, 1],
  [`/trackables/${MINE}/locations`, 1],
  [`/trackables/${MINE}/motion`, 1],
  ['/trackables/motions', 1],
  [`/fences/${FENCE}/locations?spatial_query=true`, 1],
  [`/fences/${FENCE}/motions?spatial_query=true`, 1],
];

/** The provider of mine moves into the fence, which moves trackables of both. */
async function move(): Promise<void> {
  await admin.delete(`/trackables/${MINE_TOO}`);
  await done(admin.put(`/trackables/${MINE}`, trackable({ location_providers: ['mine'] })));
  const position = { type: 'Point', coordinates: [9.00005, 50.00003] };
  await done(admin.put('/providers/mine/location', { ...gps('mine'), position }));
}

test('Replies contain only the trackables that the token may read, plain and as GeoJSON, in both versions', async () => {
  await move();
  for (const [path, count] of SHOWN) {
    for (const version of ['v1', 'v2']) {
      for (const query of ['', 'geojson=true', 'crs=EPSG:32632', 'crs=EPSG:32632&geojson=true']) {
        const url = `${tenant.origin}/hub/${version}${path}${path.includes('?') ? '&' : '?'}${query}`;
        const { status, body } = await tenant.get(url);
        assert.equal(status, 200, url);
        assert.deepEqual(listsIn(body), Array(count).fill([MINE]), url);
        if (version === 'v2') {
          assert.deepEqual(listsIn((await reader.get(url)).body)[0], [MINE, THEIRS], url);
          // Only the list differs.
          const whole = await admin.get(url);
          if (count === listsIn(whole.body).length)
            assert.equal(whole.text.replace(`,"${THEIRS}"`, ''), (await tenant.get(url)).text);
        }
      }
    }
  }
});

test('Lists of objects in a fence, and of the trackables of a provider, contain only readable objects', async () => {
  await move();
  for (const path of [`/fences/${FENCE}/trackables?spatial_query=true`, '/providers/mine/trackables']) {
    const ids = async (hub: TestHub) => (await hub.get(path)).body.map(({ id }: Event) => id).sort();
    assert.deepEqual(await ids(tenant), [MINE], path);
    assert.deepEqual(await ids(reader), [MINE, THEIRS], path);
  }
});

const TOPICS = ['location_updates', 'trackable_motions', 'fence_events'].flatMap((topic) => [
  topic,
  `${topic}:geojson`,
]);

test('Frames contain only the trackables that the token may read, and those of other clients are complete', async () => {
  await done(admin.delete('/providers/mine/location'));
  const sockets = { tenant: await tenant.socket(), reader: await reader.socket(), admin: await admin.socket() };
  const records = [];
  for (const topic of TOPICS) {
    const of = {
      tenant: await sockets.tenant.subscribe(topic),
      reader: await sockets.reader.subscribe(topic),
      admin: await sockets.admin.subscribe(topic),
    };
    records.push({ topic, ...of });
  }
  await move();
  await done(tenant.post(`/fences/${FENCE}/events`, { event_type: 'region_exit', provider_id: 'mine' }));
  await opened.hub.settle();
  for (const { topic, tenant: own, reader: read, admin: all } of records) {
    const lists = listsIn(own.events);
    assert.ok(lists.length > 0, `${topic}: nothing came`);
    for (const list of lists)
      assert.ok(
        list.every((id) => id === MINE),
        `${topic}: ${list}`,
      );
    assert.ok(
      lists.some((list) => list.length > 0),
      topic,
    );
    assert.ok(
      listsIn(read.events).some((list) => list.includes(THEIRS) && list.includes(MINE)),
      topic,
    );
    assert.ok(
      listsIn(all.events).some((list) => list.includes(THEIRS) && list.includes(MINE)),
      topic,
    );
  }
  await Promise.all(Object.values(sockets).map((socket) => socket.close()));
});
