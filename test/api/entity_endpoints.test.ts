import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, polygon, rfidZone, SQUARE, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { openApi } from './open_api.ts';

const KINDS = [
  { path: 'zones', id: UUID_A, body: uwbZone({ name: 'n' }), other: rfidZone(), putStatus: 204 },
  { path: 'fences', id: UUID_A, body: { region: polygon(), name: 'n' }, other: { region: polygon() }, putStatus: 204 },
  { path: 'trackables', id: UUID_A, body: { type: 'omlox', name: 'n' }, other: { type: 'virtual' }, putStatus: 200 },
  { path: 'providers', id: 'tag-1', body: { type: 'uwb', name: 'n' }, other: { type: 'gps' }, putStatus: 204 },
] as const;

for (const { path, id, body, other, putStatus } of KINDS) {
  describe(`/${path}`, () => {
    it('creates, shows, replaces and deletes', async () => {
      const { send } = openApi();
      const created = await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal(created.status, 201);
      assert.deepEqual(created.body, { id, ...body });
      assert.equal(created.headers['Location'], `/v2/${path}/${id}`);
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, [id]);
      assert.deepEqual((await send('GET', `/v2/${path}/summary`)).body, [{ id, ...body }]);
      assert.deepEqual((await send('GET', `/v2/${path}/${id}`)).body, created.body);
      const put = await send('PUT', `/v2/${path}/${id}`, other);
      assert.equal(put.status, putStatus);
      assert.deepEqual(put.body, putStatus === 200 ? { id, ...other } : undefined);
      assert.deepEqual((await send('GET', `/v2/${path}/${id}`)).body, { id, ...other });
      const gone = await send('DELETE', `/v2/${path}/${id}`);
      assert.deepEqual([gone.status, gone.body], [204, undefined]);
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, []);
    });

    it('empties, also when it is empty', async () => {
      const { send, entities } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal((await send('DELETE', `/v2/${path}`)).status, 204);
      assert.deepEqual((await send('GET', `/v2/${path}/summary`)).body, []);
      assert.equal((await send('DELETE', `/v2/${path}`)).status, 204);
      assert.equal(entities.list('zone').length, 0);
    });

    it('answers 404 to every method on an unknown id', async () => {
      const { send } = openApi();
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, body: error } = await send(
          method,
          `/v2/${path}/${UUID_B}`,
          method === 'PUT' ? body : undefined,
        );
        assert.deepEqual([status, error.type], [404, 'com.flowcate.http.not_found']);
      }
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, []);
    });

    it('answers 400 to an id that exists, in both versions where the id is kept', async () => {
      const { send } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      const again = await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal(again.status, 400);
      assert.match(again.body.message, new RegExp(`"${id}" already exists$`));
      const inV1 = await send('POST', `/v1/${path}`, { id, ...body });
      assert.equal(inV1.status, path === 'providers' ? 400 : 201);
      if (path !== 'providers') assert.notEqual(inV1.body.id, id);
    });

    it('answers 400 to bodies that are no entity', async () => {
      const { send } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      for (const bad of ['', '{', 'null', '[]', '5', '{}', '{"type":7}', '[[[', '\u0000']) {
        assert.equal((await send('POST', `/v2/${path}`, bad)).status, 400, `POST ${bad}`);
        assert.equal((await send('PUT', `/v2/${path}/${id}`, bad)).status, 400, `PUT ${bad}`);
      }
      const other = await send('PUT', `/v2/${path}/${id}`, { ...body, id: UUID_B });
      assert.match(other.body.message, /^id: must be the id of the path/);
      assert.equal(other.status, 400);
    });
  });
}

describe('bodies', () => {
  it('are JSON whatever surrounds it', async () => {
    const { send, sendBytes } = openApi();
    assert.equal((await send('POST', '/v2/providers', ' {"id":"p","type":"uwb"}\n')).status, 201);
    const withMark = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"id":"q","type":"uwb"}')]);
    assert.equal((await sendBytes('POST', '/v2/providers', withMark)).status, 201);
  });

  it('that are not UTF-8 or nested too deeply are refused', async () => {
    const { send, sendBytes } = openApi();
    const latin = await sendBytes('POST', '/v2/providers', new Uint8Array([0x22, 0xe4, 0x22]));
    assert.deepEqual([latin.status, latin.body.message], [400, 'body: must be JSON, found bytes that are not UTF-8']);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const nested = await send('POST', '/v2/providers', `{"id":"p","type":"uwb","sensors":${deep}}`);
    assert.deepEqual(
      [nested.status, nested.body.message],
      [400, 'body: must be nested at most 200 levels deep, found more'],
    );
    assert.equal((await send('POST', '/v2/providers', deep)).status, 400);
    assert.equal((await send('PUT', '/v2/providers/locations', `{"a":${deep}}`)).status, 400);
  });
});

describe('zones', () => {
  it('are found by foreign id', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'a', foreign_id: 'hall 1' }));
    await send('POST', '/v2/zones', uwbZone({ id: 'b' }));
    assert.deepEqual((await send('GET', '/v2/zones?foreign_id=hall%201')).body, ['a']);
    assert.deepEqual((await send('GET', '/v2/zones?foreign_id=hall+1')).body, ['a']);
    assert.deepEqual((await send('GET', '/v2/zones?foreign_id=b')).body, []);
    const summary = (await send('GET', '/v2/zones/summary?foreign_id=hall%201')).body;
    assert.deepEqual(
      summary.map((zone: { id: string }) => zone.id),
      ['a'],
    );
  });

  it('say need_transformation in v1 only, and never keep it', async () => {
    const { send, entities } = openApi();
    const zone = await send('POST', '/v1/zones', uwbZone({ need_transformation: false }));
    assert.equal(zone.body.need_transformation, true);
    await send('POST', '/v1/zones', { type: 'none' });
    const inV1 = (await send('GET', '/v1/zones/summary')).body;
    assert.deepEqual(
      inV1.map((row: { need_transformation: boolean }) => row.need_transformation),
      [true, false],
    );
    assert.equal('need_transformation' in (await send('GET', `/v2/zones/${zone.body.id}`)).body, false);
    assert.equal('need_transformation' in (entities.list('zone')[0] ?? {}), false);
  });

  it('transform positions both ways and keep z', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'hall', foreign_id: 'h' }));
    const sent = { position: { type: 'Point', coordinates: [50, 25, 3] } };
    const out = await send('PUT', '/v2/zones/hall/transform', sent);
    assert.equal(out.status, 200);
    assert.deepEqual([out.body.source, out.body.crs, out.body.position.coordinates[2]], ['hall', 'EPSG:4326', 3]);
    assert.ok(Math.abs(out.body.position.coordinates[0] - 8.6828) < 1e-4);
    const back = await send('PUT', '/v2/zones/hall/transform', out.body);
    assert.equal(back.body.crs, 'local');
    for (const [i, expected] of [50, 25, 3].entries()) {
      assert.ok(Math.abs(back.body.position.coordinates[i] - expected) < 1e-3);
    }
    const { body: feature } = await send('PUT', '/v2/zones/hall/transform?geojson=true', sent);
    assert.deepEqual(feature, {
      type: 'Feature',
      geometry: out.body.position,
      properties: { source: 'hall', crs: 'EPSG:4326' },
    });
  });

  const untransformable: readonly (readonly [string, object, RegExp])[] = [
    ['hall', {}, /^position: is required/],
    ['hall', { position: point(1, 1), crs: 'EPSG:32632' }, /^crs: must be local or EPSG:4326, found "EPSG:32632"$/],
    [
      'hall',
      { position: point(200, 1), crs: 'EPSG:4326' },
      /^position\.coordinates: must lie within reach of zone "hall"/,
    ],
    ['hall', { position: point(99, 0), crs: 'EPSG:4326' }, /^position\.coordinates: must lie within reach/],
    [
      'hall',
      { position: point(1e12, 0) },
      /^position\.coordinates: must lie within reach .*found \[1000000000000,0\]$/,
    ],
    ['reader', { position: point(1, 1) }, /^zone_id: must be a zone with local coordinates, found "reader"$/],
    ['sketch', { position: point(1, 1) }, /^zone_id: must be a zone with local coordinates, found "sketch"$/],
  ];
  for (const [zone, body, message] of untransformable) {
    it(`do not transform ${JSON.stringify(body)} in ${zone}`, async () => {
      const { send } = openApi();
      await send('POST', '/v2/zones', uwbZone({ id: 'hall' }));
      await send('POST', '/v2/zones', rfidZone({ id: 'reader' }));
      await send('POST', '/v2/zones', { id: 'sketch', type: 'uwb', incomplete_configuration: true });
      const reply = await send('PUT', `/v2/zones/${zone}/transform`, body);
      assert.equal(reply.status, 400);
      assert.match(reply.body.message, message);
    });
  }
});

describe('trackables', () => {
  it('show their providers and providers their trackables, as objects in v2 and ids in v1', async () => {
    const { send } = openApi();
    await send('POST', '/v2/providers', { id: 'p', type: 'uwb', sensors: { battery: 5 } });
    await send('POST', '/v2/providers', { id: 'q', type: 'gps', sensors: null });
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox', location_providers: ['q', 'nobody', 'p'] });
    const providers = (await send('GET', `/v2/trackables/${UUID_A}/providers`)).body;
    assert.deepEqual(
      providers.map((row: { id: string; type: string }) => [row.id, row.type]),
      [
        ['q', 'gps'],
        ['p', 'uwb'],
      ],
    );
    assert.deepEqual((await send('GET', `/v1/trackables/${UUID_A}/providers`)).body, ['q', 'p']);
    assert.equal((await send('GET', '/v2/providers/p/trackables')).body[0].id, UUID_A);
    assert.deepEqual((await send('GET', '/v1/providers/p/trackables')).body, [UUID_A]);
    assert.deepEqual((await send('GET', `/v2/trackables/${UUID_A.toUpperCase()}/sensors`)).body, [{ battery: 5 }]);
    assert.equal((await send('GET', '/v2/providers/nobody/trackables')).status, 404);
    assert.equal((await send('GET', `/v2/trackables/${UUID_B}/providers`)).status, 404);
  });

  it('hand on force_location_update', async () => {
    const forced: (boolean | undefined)[] = [];
    const committed = (changes: readonly { force?: boolean }[]) =>
      void forced.push(...changes.map(({ force }) => force));
    const { send } = openApi({ entities: { committed } });
    await send('POST', '/v2/trackables?force_location_update=true', { id: UUID_A, type: 'omlox' });
    await send('PUT', `/v2/trackables/${UUID_A}?force_location_update`, { type: 'omlox' });
    await send('PUT', `/v2/trackables/${UUID_A}?force_location_update=0`, { type: 'omlox' });
    assert.deepEqual(forced, [true, true, undefined]);
    const bad = await send('PUT', `/v2/trackables/${UUID_A}?force_location_update=maybe`, { type: 'omlox' });
    assert.deepEqual(
      [bad.status, bad.body.message],
      [400, 'force_location_update: must be true or false, found "maybe"'],
    );
  });
});

describe('provider sensors', () => {
  it('are any JSON, 404 until they are set', async () => {
    const { send } = openApi();
    await send('POST', '/v2/providers', { id: 'p', type: 'uwb' });
    assert.equal((await send('GET', '/v2/providers/p/sensors')).status, 404);
    for (const sensors of [0, false, '"text"', [], { a: [1, null] }]) {
      assert.equal((await send('PUT', '/v2/providers/p/sensors', sensors)).status, 204);
      const expected = typeof sensors === 'string' ? JSON.parse(sensors) : sensors;
      assert.deepEqual((await send('GET', '/v2/providers/p/sensors')).body, expected);
    }
    assert.equal((await send('PUT', '/v2/providers/p/sensors', '{')).status, 400);
    assert.equal((await send('PUT', '/v2/providers/nobody/sensors', {})).status, 404);
    assert.equal((await send('GET', '/v2/providers/nobody/sensors')).status, 404);
  });
});

describe('fences', () => {
  async function withFences() {
    const api = openApi();
    await api.send('POST', '/v2/zones', uwbZone({ id: 'hall', foreign_id: 'h' }));
    await api.send('POST', '/v2/zones', rfidZone({ id: 'reader' }));
    await api.send('POST', '/v2/fences', { id: 'earth', region: polygon() });
    const local = { id: 'local', region: point(50, 50), radius: 5, crs: 'local', zone_id: 'hall' };
    const created = await api.send('POST', '/v2/fences', local);
    return { ...api, local, created };
  }

  it('are shown in EPSG:4326, and the reply to POST equals GET', async () => {
    const { send, entities, local, created } = await withFences();
    assert.equal(created.body.crs, 'EPSG:4326');
    const [lon, lat] = created.body.region.coordinates;
    assert.ok(Math.abs(lon - 8.6828) < 1e-4 && Math.abs(lat - 50.11135) < 1e-4);
    assert.deepEqual((await send('GET', '/v2/fences/local')).body, created.body);
    assert.deepEqual(entities.get('fence', 'local'), local);
    assert.equal('crs' in (await send('GET', '/v2/fences/earth?crs=EPSG:4326')).body, false);
  });

  it('are shown in zone and UTM coordinates', async () => {
    const { send, local } = await withFences();
    assert.deepEqual((await send('GET', '/v2/fences/local?crs=local&zone_id=h')).body, local);
    const inZone = (await send('GET', '/v2/fences/earth?crs=local&zone_id=hall')).body;
    assert.deepEqual([inZone.crs, inZone.zone_id], ['local', 'hall']);
    assert.ok(Math.abs(inZone.region.coordinates[0][0][0] - 7.14) < 0.1, String(inZone.region.coordinates[0][0]));
    const inUtm = (await send('GET', '/v2/fences/earth?crs=EPSG:32632')).body;
    assert.equal(inUtm.crs, 'EPSG:32632');
    assert.ok(Math.abs(inUtm.region.coordinates[0][0][0] - 477_265) < 100, String(inUtm.region.coordinates[0][0]));
  });

  it('are Features, and a FeatureCollection as a list', async () => {
    const { send } = await withFences();
    const feature = { type: 'Feature', geometry: polygon(SQUARE), properties: { id: 'earth' } };
    assert.deepEqual((await send('GET', '/v2/fences/earth?geojson=true')).body, feature);
    const list = (await send('GET', '/v2/fences/summary?geojson=1')).body;
    assert.equal(list.type, 'FeatureCollection');
    assert.deepEqual(list.features[0], feature);
    assert.equal(list.features.length, 2);
  });

  it('that cannot be shown are 400 alone and left out of lists', async () => {
    const { send } = await withFences();
    await send('POST', '/v2/fences', { id: 'far', region: point(99, 0), radius: 5 });
    const ids = async (query: string) =>
      (await send('GET', `/v2/fences/summary?${query}`)).body.map((fence: { id: string }) => fence.id);
    assert.deepEqual(await ids('crs=local&zone_id=hall'), ['earth', 'local']);
    assert.deepEqual(await ids('crs=local&zone_id=reader'), []);
    const far = await send('GET', '/v2/fences/far?crs=EPSG:32632');
    assert.deepEqual(
      [far.status, far.body.message.slice(0, 45)],
      [400, 'crs: fence "far" cannot be shown in EPSG:3263'],
    );
  });

  it('whose zone is gone are shown as they are kept, unless a crs is asked for', async () => {
    const { send, local } = await withFences();
    assert.equal((await send('DELETE', '/v2/zones/hall')).status, 204);
    assert.deepEqual((await send('GET', '/v2/fences/local')).body, local);
    assert.equal((await send('GET', '/v2/fences/local?crs=EPSG:4326')).status, 400);
    assert.deepEqual((await send('GET', '/v2/fences/summary')).body.length, 2);
    assert.deepEqual((await send('GET', '/v2/fences/summary?crs=EPSG:4326')).body.length, 1);
  });

  for (const [query, message] of [
    ['crs=EPSG:3857', /^crs: must be one of local, .*found "EPSG:3857"$/],
    ['crs=local', /^zone_id: is required for fences in crs local/],
    ['zone_id=nowhere', /^zone_id: must be the id or foreign id of a zone, found "nowhere"$/],
    ['geojson=yes', /^geojson: must be true or false, found "yes"$/],
  ] as const) {
    it(`answer 400 to ${query}`, async () => {
      const { send } = await withFences();
      for (const path of ['/v2/fences/summary', '/v2/fences/earth']) {
        const { status, body } = await send('GET', `${path}?${query}`);
        assert.equal(status, 400);
        assert.match(body.message, message);
      }
    });
  }

  it('across the antimeridian keep their longitudes, and convert by their wrapped ones', async () => {
    const { send } = openApi();
    await send('POST', '/v2/fences', { id: 'f', region: point(181, 10), radius: 5 });
    await send('POST', '/v2/fences', { id: 'g', region: point(-179, 10), radius: 5 });
    assert.deepEqual((await send('GET', '/v2/fences/f')).body.region.coordinates, [181, 10]);
    const [f, g] = (await send('GET', '/v2/fences/summary?crs=EPSG:32601')).body;
    assert.deepEqual(f.region, g.region);
  });
});
