import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, rfidZone, uwbZone } from '../entities/open_entities.ts';
import { assertNear, openApi } from './open_api.ts';

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

  it('include need_transformation in v1 only, and never store it', async () => {
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

  it('transform positions both ways and preserve z', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'hall', foreign_id: 'h' }));
    const sent = { position: { type: 'Point', coordinates: [50, 25, 3] } };
    const out = await send('PUT', '/v2/zones/hall/transform', sent);
    assert.equal(out.status, 200);
    assert.deepEqual([out.body.source, out.body.crs, out.body.position.coordinates[2]], ['hall', 'EPSG:4326', 3]);
    assertNear(out.body.position.coordinates[0], 8.6828, 1e-4);
    const back = await send('PUT', '/v2/zones/hall/transform', out.body);
    assert.equal(back.body.crs, 'local');
    for (const [i, expected] of [50, 25, 3].entries()) {
      assertNear(back.body.position.coordinates[i], expected, 1e-3);
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
