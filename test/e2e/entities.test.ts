import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

const BASES = ['/v1', '/v2', '/hub/v1', '/hub/v2', '/deephub/v1', '/deephub/v2'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Kind {
  readonly name: string;
  readonly path: string;
  /** Status of a PUT. */
  readonly replaced: number;
  /** An entity without id; `n` makes it unique. */
  make(n: number): object;
  /** An id that a client may choose. */
  id(n: number): string;
}

const KINDS: readonly Kind[] = [
  {
    name: 'zone',
    path: '/zones',
    replaced: 204,
    make: (n) => ({ ...HALL, id: undefined, foreign_id: `hall-${n}`, properties: { n } }),
    id: (n) => `zone-${n}`,
  },
  {
    name: 'fence',
    path: '/fences',
    replaced: 204,
    make: (n) => ({
      region: { type: 'Point', coordinates: [9, 50] },
      radius: 5,
      name: `Fence ${n}`,
      timeout: 5000,
      properties: { n, nested: [{ a: null }] },
    }),
    id: (n) => `fence ${n}/ä`,
  },
  {
    name: 'trackable',
    path: '/trackables',
    replaced: 200,
    make: (n) => ({
      type: 'omlox',
      location_providers: [`tag-${n}`],
      fence_timeout: 30_000,
      properties: { n, constructor: 1, toJSON: 1 },
    }),
    id: (n) => `44444444-0000-4000-8000-${String(n).padStart(12, '0')}`,
  },
  {
    name: 'provider',
    path: '/providers',
    replaced: 204,
    make: (n) => ({ type: 'uwb', name: `Tag ${n}`, exit_delay: 0, sensors: { battery: [n] } }),
    id: (n) => `77:4f:34:69:27:${n}`,
  },
];

let hub: TestHub;
let number = 0;

before(async () => {
  hub = await openTestHub();
});
after(() => hub.close());

describe('entities', () => {
  for (const base of BASES) {
    for (const kind of KINDS) {
      test(`${kind.name}: create, read, replace and delete under ${base} work, and publish every change`, async () => {
        const isV1 = base.endsWith('v1');
        const n = ++number;
        const collection = `${hub.origin}${base}${kind.path}`;
        const changes = await hub.subscribe(`${kind.name}_changes`);
        const sent = { ...kind.make(n), id: kind.id(n) };
        const created = await hub.post(collection, sent);
        assert.equal(created.status, 201, created.text);
        const { id } = created.body;
        const keepsId = !isV1 || kind.name === 'provider';
        if (keepsId) assert.equal(id, kind.id(n));
        else assert.match(id, UUID);
        const needs = isV1 && kind.name === 'zone' ? { need_transformation: true } : {};
        assert.deepEqual(created.body, { ...defined(kind.make(n)), id, ...needs });

        const item = `${collection}/${encodeURIComponent(id)}`;
        assert.equal(created.headers.location, item.slice(hub.origin.length));
        assert.deepEqual((await hub.get(item)).body, created.body);
        assert.deepEqual((await hub.get(`${collection}/summary`)).body.at(-1), created.body);
        assert.equal((await hub.get(collection)).body.at(-1), id);

        const replaced = await hub.put(item, { ...kind.make(n), properties: { changed: true } });
        assert.equal(replaced.status, kind.replaced, replaced.text);
        const now = { ...created.body, properties: { changed: true } };
        assert.deepEqual((await hub.get(item)).body, now);
        assert.deepEqual(replaced.body, kind.replaced === 200 ? now : undefined);

        const deleted = await hub.delete(item);
        assert.deepEqual([deleted.status, deleted.text], [204, '']);
        for (const method of ['GET', 'DELETE']) assert.equal((await hub.request(method, item)).status, 404);
        assert.equal((await hub.put(item, kind.make(n))).status, 404);

        await hub.settle();
        const { need_transformation: _, ...stored } = created.body;
        assert.deepEqual(
          changes.events.map(({ event_type: type, id: of, object }) => [type, of, object]),
          [
            ['create', id, stored],
            ['update', id, { ...stored, properties: { changed: true } }],
            ['delete', id, { id }],
          ],
        );
      });
    }
  }

  for (const kind of KINDS) {
    test(`${kind.name}: both versions and all prefixes return the same entities`, async () => {
      const n = ++number;
      const { body } = await hub.post(kind.path, { ...kind.make(n), id: kind.id(n) });
      for (const base of BASES) {
        const found = await hub.get(`${hub.origin}${base}${kind.path}/${encodeURIComponent(body.id)}/`);
        const { need_transformation: _, ...rest } = found.body;
        assert.deepEqual(rest, body);
      }
    });

    test(`${kind.name}: an existing id is rejected, and nothing is published`, async () => {
      const n = ++number;
      const sent = { ...kind.make(n), id: kind.id(n) };
      assert.equal((await hub.post(kind.path, sent)).status, 201);
      const changes = await hub.subscribe(`${kind.name}_changes`);
      const again = await hub.post(kind.path, { ...sent, foreign_id: undefined });
      assert.equal(again.status, 400);
      assert.ok(again.body.message.includes(JSON.stringify(kind.id(n))), again.body.message);
      await hub.settle();
      assert.deepEqual(changes.events, []);
    });

    test(`${kind.name}: all are deleted at once with one change event each, and a repeated DELETE succeeds`, async () => {
      const before = (await hub.get(kind.path)).body as string[];
      assert.notEqual(before.length, 0);
      const changes = await hub.subscribe(`${kind.name}_changes`, { event_type: 'delete' });
      assert.equal((await hub.delete(kind.path)).status, 204);
      for (const path of ['', '/summary']) assert.equal((await hub.get(kind.path + path)).text, '[]');
      await hub.settle();
      assert.deepEqual(changes.events.map(({ id }) => id).sort(), [...before].sort());
      assert.equal((await hub.delete(kind.path)).status, 204);
    });
  }

  test('a UUID is case-insensitive, and is returned as it was given', async () => {
    const trackable = { id: 'ABCDEF00-0000-4000-8000-00000000000A', type: 'omlox', location_providers: ['upper-tag'] };
    assert.equal((await hub.post('/trackables', trackable)).status, 201);
    const lower = `/trackables/${trackable.id.toLowerCase()}`;
    assert.equal((await hub.get(lower)).body.id, trackable.id);
    assert.equal((await hub.post('/trackables', { ...trackable, id: trackable.id.toLowerCase() })).status, 400);
    const at = { position: { type: 'Point', coordinates: [9, 50] }, crs: 'EPSG:4326', provider_type: 'uwb' };
    await hub.put('/providers/upper-tag/location', at);
    assert.equal((await hub.get(`${lower}/motion`)).body.id, trackable.id);
    assert.equal((await hub.delete(lower)).status, 204);
  });

  test('a provider with a UUID accepts locations under the UUID in any case', async () => {
    const id = 'ABCDEF00-0000-4000-8000-00000000000B';
    const at = (x: number) => ({
      position: { type: 'Point', coordinates: [x, 50] },
      crs: 'EPSG:4326',
      provider_type: 'uwb',
    });
    await hub.put(`/providers/${id}/location`, at(9));
    await hub.put(`/providers/${id.toLowerCase()}/location`, at(10));
    assert.deepEqual((await hub.get('/providers')).body, ['upper-tag', id]);
    assert.equal((await hub.get(`/providers/${id}/location`)).body.position.coordinates[0], 10);
  });

  test('zones are found by their foreign id', async () => {
    await hub.post('/zones', { ...HALL, foreign_id: 'north & south' });
    const query = `foreign_id=${encodeURIComponent('north & south')}`;
    assert.deepEqual((await hub.get(`/zones?${query}`)).body, [HALL.id]);
    assert.equal((await hub.get(`/zones/summary?${query}`)).body[0].foreign_id, 'north & south');
    assert.deepEqual((await hub.get('/zones?foreign_id=west')).body, []);
  });

  test('HEAD, OPTIONS, other methods and unknown paths are answered according to HTTP', async () => {
    await hub.post('/fences', square({ zone_id: HALL.id }));
    const head = await hub.request('HEAD', '/fences');
    assert.deepEqual([head.status, head.text], [200, '']);
    const options = await hub.request('OPTIONS', '/fences', undefined, { Origin: 'http://x' });
    assert.equal(options.status, 204);
    assert.match(String(options.headers['access-control-allow-methods']), /POST/);
    const patch = await hub.request('TRACE', '/fences');
    assert.equal(patch.status, 405);
    assert.match(String(patch.headers.allow), /GET/);
    assert.equal((await hub.get('/nothing')).body.code, 404);
    assert.equal((await hub.get(`${hub.origin}/health`)).text, '{}');
    assert.equal((await hub.get(`${hub.origin}/hub/v2/ws/socket`)).status, 426);
  });
});

/** Removes the members that JSON omits. */
function defined(value: object): object {
  return JSON.parse(JSON.stringify(value));
}
