import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { georeferencedChanges } from '../../src/entities/anchor_changes.ts';
import { openEntities, point, rfidZone } from '../entities/open_entities.ts';
import { HALL } from '../support/hall.ts';
import { assertNear, openApi } from './open_api.ts';

/** Anchors that shift the hall ten degrees east. */
const MOVED = (HALL.ground_control_points ?? []).flatMap(([lon = 0, lat = 0], i, rows) => {
  if (i % 2 !== 0) return [];
  return [
    {
      id: `a${i / 2}`,
      zone_id: 'hall',
      georeferenced_position: point(lon + 10, lat),
      local_position: { type: 'Point', coordinates: [...(rows[i + 1] ?? []), 2.5] },
    },
  ];
});
const IDS = MOVED.map(({ id }) => id);

describe('anchors', () => {
  it('include georeferenced positions of the zone, if possible', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', HALL);
    await send('POST', '/v2/zones', rfidZone({ id: 'reader' }));
    const local = { local_position: { type: 'Point', coordinates: [100, 0, 3] } };
    const sent = [
      { id: 'in zone', zone_id: 'hall', ...local, georeferenced_position: point(1, 1) },
      { id: 'by reader', zone_id: 'reader', ...local },
      { id: 'no zone', ...local },
      { id: 'no position', zone_id: 'hall' },
      { id: 'too far', zone_id: 'hall', local_position: point(1e9, 0) },
    ];
    for (const anchor of sent) assert.equal((await send('POST', '/v2/anchors', anchor)).status, 201);
    assert.deepEqual((await send('GET', '/v2/anchors/summary')).body, sent);
    assert.deepEqual((await send('GET', '/v2/anchors/summary?georef=false')).body, sent);
    const [computed, ...same] = (await send('GET', '/v1/anchors/summary?georef')).body;
    assert.deepEqual(same, sent.slice(1));
    assertNear(computed?.georeferenced_position.coordinates[0], 9.001394785, 1e-7);
    assert.equal(computed?.georeferenced_position.coordinates[2], 3);
    assert.deepEqual((await send('GET', '/v2/anchors/in%20zone?georef=true')).body, computed);
    assert.deepEqual((await send('GET', '/v2/anchors/in%20zone')).body, sent[0]);
    assert.equal((await send('GET', '/v2/anchors/summary?georef=maybe')).status, 400);
  });

  it('georeference their zone in the API, and restore it when they are deleted', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', { ...HALL, anchor_ids: IDS });
    const fence = { id: 'f', region: point(50, 50), radius: 5, crs: 'local', zone_id: 'hall' };
    await send('POST', '/v2/fences', fence);
    const place = async () => {
      const moved = await send('PUT', `/v2/zones/${HALL.id}/transform`, { position: point(50, 50) });
      const shown = await send('GET', '/v2/fences/f');
      const lon = Number(moved.body.position.coordinates[0]);
      assertNear(shown.body.region.coordinates[0], lon, 1e-8);
      return Math.round(lon);
    };
    assert.equal(await place(), 9);
    for (const anchor of MOVED) await send('POST', '/v2/anchors', anchor);
    assert.equal(await place(), 19);
    const around = await send('GET', `/v2/zones/${HALL.id}/createfence`);
    assertNear(around.body.region.coordinates[0]?.[0]?.[0], 19, 1e-6);
    await send('PATCH', '/v2/anchors/a0', { op: 'remove', path: '/georeferenced_position' });
    assert.equal(await place(), 19);
    assert.deepEqual((await send('GET', `/v2/zones/${HALL.id}`)).body, { ...HALL, anchor_ids: IDS });
    await send('DELETE', '/v2/anchors');
    assert.equal(await place(), 9);
  });
});

describe('georeferencedChanges', () => {
  const [a, b] = MOVED;
  const named = { ...a, name: 'north' };

  async function entities() {
    const open = openEntities();
    await open.entities.create('zone', { ...HALL, anchor_ids: IDS });
    await open.entities.create('zone', { id: 'other', type: 'uwb', anchor_ids: IDS, incomplete_configuration: true });
    await open.entities.create('zone', rfidZone({ id: 'reader' }));
    open.reported.length = 0;
    return open;
  }

  it('reports zones instead of the anchors that georeference them, once per zone', async () => {
    const { entities: all, reported } = await entities();
    await Promise.all([all.create('anchor', a), all.create('anchor', b)]);
    const placed = georeferencedChanges(reported, all);
    assert.deepEqual(
      placed.map(({ kind, id }) => [kind, id]),
      [
        ['zone', HALL.id],
        ['zone', 'other'],
      ],
    );
    for (const { after } of placed) assert.equal((after as typeof HALL).ground_control_points?.length, 4);
  });

  it('reports nothing if an anchor changes otherwise, or georeferences no zone', async () => {
    const { entities: all, reported } = await entities();
    await all.create('anchor', a);
    reported.length = 0;
    await all.replace('anchor', 'a0', named);
    await all.create('anchor', { id: 'stray', local_position: point(0, 0), georeferenced_position: point(8, 50) });
    assert.deepEqual(georeferencedChanges(reported, all), []);
  });

  it('reports a zone with the positions of its anchors, and all other entities unchanged', async () => {
    const { entities: all, reported } = await entities();
    for (const anchor of MOVED) await all.create('anchor', anchor);
    reported.length = 0;
    const zone = await all.replace('zone', HALL.id, { ...HALL, anchor_ids: IDS, name: 'renamed' });
    await all.create('provider', { id: 'p', type: 'uwb' });
    await all.remove('zone', 'reader');
    const [renamed, created, removed] = georeferencedChanges(reported, all);
    assert.deepEqual(renamed?.after, all.zoneBy('hall'));
    assert.notDeepEqual(renamed?.after, zone);
    assert.deepEqual([created, removed], reported.slice(1));
  });
});
