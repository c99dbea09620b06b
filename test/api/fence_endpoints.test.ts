import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fence } from '../../src/model/fence.ts';
import { point, polygon, rfidZone, SQUARE, uwbZone } from '../entities/open_entities.ts';
import { assertNear, openApi } from './open_api.ts';

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

  it('are returned in EPSG:4326, and the reply to POST equals GET', async () => {
    const { send, entities, local, created } = await withFences();
    assert.equal(created.body.crs, 'EPSG:4326');
    const [lon, lat] = created.body.region.coordinates;
    assertNear(lon, 8.6828, 1e-4);
    assertNear(lat, 50.11135, 1e-4);
    assert.deepEqual((await send('GET', '/v2/fences/local')).body, created.body);
    assert.deepEqual(entities.get('fence', 'local'), local);
    assert.equal('crs' in (await send('GET', '/v2/fences/earth?crs=EPSG:4326')).body, false);
  });

  it('are returned in zone and UTM coordinates', async () => {
    const { send, local } = await withFences();
    assert.deepEqual((await send('GET', '/v2/fences/local?crs=local&zone_id=h')).body, local);
    const inZone = (await send('GET', '/v2/fences/earth?crs=local&zone_id=hall')).body;
    assert.deepEqual([inZone.crs, inZone.zone_id], ['local', 'hall']);
    assertNear(inZone.region.coordinates[0]?.[0]?.[0], 7.14, 0.1);
    const inUtm = (await send('GET', '/v2/fences/earth?crs=EPSG:32632')).body;
    assert.equal(inUtm.crs, 'EPSG:32632');
    assertNear(inUtm.region.coordinates[0]?.[0]?.[0], 477_265, 100);
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

  it('that cannot be converted are 400 alone and left out of lists', async () => {
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

  it('whose zone was deleted retain their positions, in any crs', async () => {
    const { send, created } = await withFences();
    const inUtm = (await send('GET', '/v2/fences/local?crs=EPSG:32632')).body;
    assert.equal((await send('DELETE', '/v2/zones/hall')).status, 204);
    for (const query of ['', '?crs=EPSG:4326']) {
      assert.deepEqual((await send('GET', `/v2/fences/local${query}`)).body, created.body);
    }
    assert.deepEqual((await send('GET', '/v2/fences/local?crs=EPSG:32632')).body, inUtm);
    const { region: geometry, ...properties } = created.body;
    assert.deepEqual((await send('GET', '/v2/fences/local?geojson=true')).body, {
      type: 'Feature',
      geometry,
      properties,
    });
    assert.deepEqual((await send('GET', '/v2/fences/summary')).body[1], created.body);
  });

  it('that were never georeferenced are returned as stored, but not as GeoJSON, and can be changed', async () => {
    const { send, entities, local } = await withFences();
    const lost = { ...local, id: 'lost', zone_id: 'nowhere' } as Fence;
    entities.load({ fence: [lost] });
    assert.deepEqual((await send('GET', '/v2/fences/lost')).body, lost);
    assert.equal((await send('GET', '/v2/fences/lost?crs=EPSG:4326')).status, 400);
    assert.equal((await send('GET', '/v2/fences/lost?geojson=true')).status, 400);
    assert.equal((await send('GET', '/v2/fences/summary')).body.length, 3);
    assert.equal((await send('GET', '/v2/fences/summary?crs=EPSG:4326')).body.length, 2);
    assert.equal((await send('GET', '/v2/fences/summary?geojson=true')).body.features.length, 2);
    assert.equal((await send('PUT', '/v2/fences/lost', { ...lost, name: 'Lost' })).status, 204);
    const moved = await send('PUT', '/v2/fences/lost', { ...lost, region: point(1, 1) });
    assert.match(moved.body.message, /^zone_id: must be the id or foreign id of a zone, found "nowhere"$/);
  });

  for (const [query, message] of [
    ['crs=EPSG:3857', /^crs: must be one of local, .*found "EPSG:3857"$/],
    ['crs=local', /^zone_id: is required for fences in crs local/],
    ['crs=local&zone_id=nowhere', /^zone_id: must be the id or foreign id of a zone, found "nowhere"$/],
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

  it('across the antimeridian retain their longitudes, and are converted by the wrapped ones', async () => {
    const { send } = openApi();
    await send('POST', '/v2/fences', { id: 'f', region: point(181, 10), radius: 5 });
    await send('POST', '/v2/fences', { id: 'g', region: point(-179, 10), radius: 5 });
    assert.deepEqual((await send('GET', '/v2/fences/f')).body.region.coordinates, [181, 10]);
    const [f, g] = (await send('GET', '/v2/fences/summary?crs=EPSG:32601')).body;
    assert.ok(f !== undefined);
    assert.deepEqual(f.region, g?.region);
  });
});
