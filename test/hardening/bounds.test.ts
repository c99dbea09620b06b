import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GOOD_LOCATION } from '../scenarios/bad_locations.ts';
import { square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

/** Settings bound the data that clients can store. Errors name the field, the bound and the value. */

let hub: TestHub;
before(async () => {
  hub = await openTestHub();
});
after(() => hub.close());

const LONG = 'x'.repeat(1025);
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const ring = (n: number) => Array.from({ length: n }, (_, i) => [i * 1e-6, i % 2]);
const fenceOf = (coordinates: unknown) => ({ region: { type: 'Polygon', coordinates } });
const kib = (n: number) => ({ text: 'x'.repeat((n << 10) - '{"text":""}'.length) });

interface Row {
  readonly what: string;
  readonly path: string;
  readonly body: object;
  readonly error: string;
}

const CHARACTERS = 'must have at most 1,024 characters, found 1,025';

const REFUSED: readonly Row[] = [
  ...['id', 'name', 'foreign_id', 'site'].map((name) => {
    const row = { path: '/zones', body: { type: 'uwb', incomplete_configuration: true, [name]: LONG } };
    return { what: `${name} of a zone`, error: `${name}: ${CHARACTERS}`, ...row };
  }),
  { what: 'id of a provider', path: '/providers', body: { id: LONG, type: 'uwb' }, error: `id: ${CHARACTERS}` },
  {
    what: 'a name in a list',
    path: '/trackables',
    body: { type: 'omlox', location_providers: ['tag', LONG] },
    error: `location_providers[1]: ${CHARACTERS}`,
  },
  {
    what: 'a list',
    path: '/trackables',
    body: {
      type: 'omlox',
      location_providers: Array.from({ length: 40_000 }, (_, i) => `provider number ${i} of many`),
    },
    error: 'location_providers: must have at most 1,048,576 bytes of JSON, found 1,268,891',
  },
  {
    what: 'properties of a provider',
    path: '/providers',
    body: { id: 'big', type: 'uwb', properties: { text: 'ä'.repeat(600_000) } },
    error: 'properties: must have at most 1,048,576 bytes of JSON, found 1,200,011',
  },
  {
    what: 'sensors of a provider',
    path: '/providers',
    body: { id: 'big', type: 'uwb', sensors: 'x'.repeat(1 << 21) },
    error: 'sensors: must have at most 1,048,576 bytes of JSON, found 2,097,154',
  },
  {
    what: 'a description',
    path: '/zones',
    body: { type: 'uwb', incomplete_configuration: true, description: 'x'.repeat(1 << 20) },
    error: 'description: must have at most 1,048,576 bytes of JSON, found 1,048,578',
  },
  {
    what: 'positions of a fence',
    path: '/fences',
    body: fenceOf([ring(100_001)]),
    error: 'region.coordinates: must have at most 100,000 positions, found 100,001',
  },
  {
    what: 'rings of a fence',
    path: '/fences',
    body: fenceOf(Array.from({ length: 10_001 }, () => ring(4))),
    error: 'region.coordinates: must have at most 10,000 rings, found 10,001',
  },
  {
    what: 'positions of a trackable',
    path: '/trackables',
    body: { type: 'omlox', geometry: { type: 'Polygon', coordinates: [ring(100_001)] } },
    error: 'geometry.coordinates: must have at most 100,000 positions, found 100,001',
  },
  {
    what: 'additional members of a geometry',
    path: '/fences',
    body: { region: { ...square().region, more: 'x'.repeat(1 << 20) } },
    error: 'region: must have at most 1,048,576 bytes of JSON, found 1,048,604',
  },
  {
    what: 'control points of a zone',
    path: '/zones',
    body: { type: 'uwb', ground_control_points: ring(10_001) },
    error: 'ground_control_points: must have at most 10,000 positions, found 10,001',
  },
];

describe('An entity is rejected for', () => {
  for (const { what, path, body, error } of REFUSED) {
    test(what, async () => {
      const reply = await hub.post(path, body);
      assert.equal(reply.status, 400, reply.text);
      assert.equal(reply.body.message, error);
    });
  }

  test('values that a PATCH adds, while stored ones may remain', async () => {
    assert.equal((await hub.post('/providers', { id: 'patched', type: 'uwb' })).status, 201);
    const patch = [{ op: 'add', path: '/name', value: LONG }];
    const reply = await hub.request('PATCH', '/providers/patched', patch);
    assert.equal(reply.status, 400);
    assert.equal(reply.body.message, `name: ${CHARACTERS}`);
  });

  test('nothing that is just within the bounds', async () => {
    const name = 'x'.repeat(1024);
    const provider = { id: 'y'.repeat(1024), type: 'uwb', name, properties: kib(1024) };
    const reply = await hub.post('/providers', provider);
    assert.equal(reply.status, 201, reply.text.slice(0, 200));
    assert.equal((await hub.delete(`/providers/${provider.id}`)).status, 204);
  });
});

describe('A location is rejected for', () => {
  const rows: readonly (readonly [more: object, error: string])[] = [
    [{ source: LONG }, `source: ${CHARACTERS}`],
    [{ provider_id: LONG }, `provider_id: ${CHARACTERS}`],
    [
      { timestamp_sent: `2026-03-01T12:00:00.${'0'.repeat(2000)}Z` },
      `timestamp_sent: ${CHARACTERS.replace('1,025', '2,021')}`,
    ],
    [{ properties: kib(65) }, 'properties: must have at most 65,536 bytes of JSON, found 66,560'],
    [{ properties: { ä: 'ä'.repeat(40_000) } }, 'properties: must have at most 65,536 bytes of JSON, found 80,009'],
  ];
  for (const [more, error] of rows) {
    test(error.slice(0, 60), async () => {
      const reply = await hub.put('/providers/locations', [GOOD_LOCATION, { ...GOOD_LOCATION, ...more }]);
      assert.equal(reply.status, 400);
      assert.equal(reply.body.message, `locations[1].${error}`);
    });
  }

  test('nothing that is just within the bounds', async () => {
    const location = { ...GOOD_LOCATION, provider_id: 'within', source: 'x'.repeat(1024), properties: kib(64) };
    assert.equal((await hub.put('/providers/locations', [location])).status, 204);
    assert.deepEqual((await hub.get('/providers/within/location')).body.properties, kib(64));
  });

  test('100 locations of 1 MB sources, which leave no trace in the memory of the hub', async () => {
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 100; i++) {
      const location = { ...GOOD_LOCATION, provider_id: 'much', source: `${i}${'x'.repeat(1 << 20)}` };
      assert.equal((await hub.put('/providers/locations', [location])).status, 400);
    }
    const grownMb = (process.memoryUsage().rss - before) / 1e6;
    assert.ok(grownMb < 200, `${grownMb} MB more`);
  });
});

describe('Parents', () => {
  test('are at most 32 levels deep, counted from the top to the bottom of the chain', async () => {
    const carried = (n: number, parent?: string) => {
      return { id: uuid(n), type: 'omlox', ...(parent === undefined ? {} : { parent }) };
    };
    for (let n = 0; n <= 32; n++) {
      const reply = await hub.post('/trackables', carried(n, n === 0 ? undefined : uuid(n - 1)));
      assert.equal(reply.status, 201, reply.text);
    }
    const below = await hub.post('/trackables', carried(33, uuid(32)));
    assert.equal(below.status, 400);
    assert.equal(below.body.message, 'parent: must be at most 32 levels deep, found 33 or more');
    assert.equal((await hub.post('/trackables', carried(100))).status, 201);
    const above = await hub.put(`/trackables/${uuid(0)}`, carried(0, uuid(100)));
    assert.equal(above.status, 400);
    assert.equal(above.body.message, 'parent: must be at most 32 levels deep, found 33 or more');
    assert.equal((await hub.put(`/trackables/${uuid(32)}`, { ...carried(32, uuid(31)), name: 'new' })).status, 200);
  });
});

describe('A subscription is rejected for', () => {
  const subscribed = async (
    client: Awaited<ReturnType<TestHub['socket']>>,
    params: object,
    topic = 'location_updates',
  ) => {
    const [answer] = await client.ask({ event: 'subscribe', topic, params });
    return answer ?? assert.fail('no answer');
  };

  test('a view beyond 16 of its connection, which other connections may still use', async () => {
    const client = await hub.socket();
    for (let zone = 1; zone <= 16; zone++) {
      assert.equal((await subscribed(client, { crs: `EPSG:${32600 + zone}` })).event, 'subscribed');
    }
    const refused = await subscribed(client, { crs: 'EPSG:32617' });
    assert.equal(refused.code, 10002);
    assert.equal(
      refused.description,
      'subscriptions: must be of at most 16 different renderings (topic, GeoJSON, crs and zone_id), ' +
        'as websocket_max_renderings says, found 17',
    );
    assert.equal((await subscribed(client, { crs: 'EPSG:32601', provider_id: 'a' })).event, 'subscribed');
    assert.equal((await subscribed(await hub.socket(), { crs: 'EPSG:32617' })).event, 'subscribed');
  });

  test('a view beyond 256 of the hub', async () => {
    const crowded = await openTestHub({ websocket_max_renderings: 1000 });
    try {
      const [one, other] = [await crowded.socket(), await crowded.socket()];
      const codes = [32_600, 32_700].flatMap((base) => Array.from({ length: 60 }, (_, i) => `EPSG:${base + 1 + i}`));
      const asked = ['location_updates', 'trackable_motions', 'fence_events'].flatMap((topic) =>
        codes.map((crs) => ({ topic, crs })),
      );
      for (const { topic, crs } of asked.slice(0, 256)) {
        assert.equal((await subscribed(one, { crs }, topic)).event, 'subscribed');
      }
      const { topic = '', crs } = asked[256] ?? {};
      const refused = await subscribed(other, { crs }, topic);
      assert.match(refused.description ?? '', /at most 256 different renderings .* as max_renderings says, found 257$/);
      assert.equal((await subscribed(other, { crs: codes[0] })).event, 'subscribed');
      await one.close();
      assert.equal((await subscribed(other, { crs }, topic)).event, 'subscribed');
    } finally {
      await crowded.close();
    }
  });

  test('parameters beyond 1 MiB of its connection, in one frame of 15 MB or in many', async () => {
    const client = await hub.socket();
    for (const params of [
      { provider_id: 'x'.repeat(15_000_000) },
      { ignored: 'x'.repeat(15_000_000) },
      { provider_id: Array.from({ length: 1_000_000 }, (_, i) => `${i}`) },
    ]) {
      const refused = await subscribed(client, params);
      assert.equal(refused.code, 10002);
      assert.match(
        refused.description ?? '',
        /^params: must have at most 1,048,576 characters on one connection, found/,
      );
    }
    let taken = 0;
    while ((await subscribed(client, { provider_id: `${taken}${'x'.repeat(100_000)}` })).event === 'subscribed')
      taken++;
    assert.equal(taken, 10);
  });
});
