import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change } from '../../src/entities/entities.ts';
import { isSilent } from '../../src/entities/detached_fences.ts';
import type { StoredFence } from '../../src/model/fence.ts';
import { HALL, square } from '../support/hall.ts';
import { openEntities, point, uwbZone } from './open_entities.ts';

const LOCAL = square({ id: 'dock', name: 'Dock' });
const NAMED = square({ id: 'gate', zone_id: 'hall' });
const ROWS = HALL.ground_control_points;

/** The hall with a local fence that refers to it by id, one by foreign id, and one that only mentions it. */
async function inHall() {
  const { entities, reported } = openEntities();
  await entities.create('zone', HALL);
  for (const fence of [LOCAL, NAMED]) await entities.create('fence', fence);
  await entities.create('fence', { id: 'round', region: point(9, 50), radius: 5, zone_id: 'hall' });
  reported.length = 0;
  const formers = () =>
    ['dock', 'gate', 'round'].map((id) => entities.get('fence', id)?.former_zone?.ground_control_points);
  return { entities, reported, formers };
}

const brief = (change: Change) => `${change.kind} ${change.id}${isSilent(change) ? ' silently' : ''}`;

describe('A local fence retains the plane', () => {
  it('of a deleted zone, before that is deleted', async () => {
    const { entities, reported, formers } = await inHall();
    await entities.remove('zone', HALL.id);
    assert.deepEqual(reported.map(brief), ['fence dock silently', 'fence gate silently', `zone ${HALL.id}`]);
    assert.deepEqual(formers(), [ROWS, ROWS, undefined]);
    assert.deepEqual(entities.get('fence', 'dock')?.former_zone, {
      id: HALL.id,
      type: 'uwb',
      ground_control_points: ROWS,
    });
  });

  it('of all zones, deleted at once', async () => {
    const { entities, formers } = await inHall();
    await entities.clear('zone');
    assert.deepEqual(formers(), [ROWS, ROWS, undefined]);
  });

  it('of a zone whose foreign id changes, if the fence uses that id', async () => {
    const { entities, formers } = await inHall();
    await entities.replace('zone', HALL.id, { ...HALL, foreign_id: 'tower' });
    assert.deepEqual(formers(), [undefined, ROWS, undefined]);
  });

  it('of a zone that no longer has one', async () => {
    const { entities, formers } = await inHall();
    await entities.replace('zone', HALL.id, { type: 'rfid', foreign_id: 'hall', position: point(9, 50) });
    assert.deepEqual(formers(), [ROWS, ROWS, undefined]);
  });

  it('of anchors, one of which is deleted or loses its position', async () => {
    for (const lose of ['remove', 'replace'] as const) {
      const { entities } = openEntities();
      const places = [
        [9, 50, 0, 0],
        [9.001, 50, 70, 0],
      ] as const;
      for (const [i, [lon, lat, x, y]] of places.entries()) {
        const known = { georeferenced_position: point(lon, lat), local_position: point(x, y) };
        await entities.create('anchor', { id: `a${i}`, ...known });
      }
      await entities.create('zone', { id: 'z', type: 'uwb', anchor_ids: ['a0', 'a1'] });
      await entities.create('fence', { ...LOCAL, zone_id: 'z' });
      if (lose === 'remove') await entities.remove('anchor', 'a1');
      else await entities.replace('anchor', 'a1', { local_position: point(70, 0) });
      const rows = places.flatMap(([lon, lat, x, y]) => [
        [lon, lat],
        [x, y],
      ]);
      assert.deepEqual(entities.get('fence', 'dock')?.former_zone?.ground_control_points, rows);
    }
  });

  it('once: nothing is written when the same zone is deleted again', async () => {
    const { entities, reported } = await inHall();
    await entities.remove('zone', HALL.id);
    await entities.create('zone', HALL);
    reported.length = 0;
    await entities.remove('zone', HALL.id);
    assert.deepEqual(reported.map(brief), [`zone ${HALL.id}`]);
  });

  it('of the last zone with its name', async () => {
    const { entities, formers } = await inHall();
    await entities.remove('zone', HALL.id);
    await entities.create('zone', uwbZone({ id: 'other', foreign_id: 'hall' }));
    await entities.remove('zone', 'other');
    assert.deepEqual(formers(), [ROWS, uwbZone().ground_control_points, undefined]);
  });

  it('only if the change of the zone itself is stored', async () => {
    const { entities, reported } = openEntities({
      commit: async (changes) => {
        if (changes.some(({ kind, after }) => kind === 'zone' && after === undefined)) throw new Error('full');
      },
    });
    await entities.create('zone', HALL);
    await entities.create('fence', LOCAL);
    reported.length = 0;
    await assert.rejects(entities.remove('zone', HALL.id));
    assert.deepEqual([entities.get('fence', 'dock'), reported], [LOCAL, []]);
  });
});

describe('A fence whose zone was deleted', () => {
  async function orphan() {
    const { entities } = await inHall();
    await entities.remove('zone', HALL.id);
    return entities;
  }

  it('can be replaced by itself with other members, whether or not they name the zone', async () => {
    const entities = await orphan();
    const former = entities.get('fence', 'dock')?.former_zone;
    const renamed: StoredFence = await entities.replace('fence', 'dock', { ...LOCAL, name: 'Dock 2', timeout: 5 });
    assert.deepEqual(renamed, { ...LOCAL, name: 'Dock 2', timeout: 5, former_zone: former });
    const { region } = LOCAL;
    const open = region.type === 'Polygon' && { ...region, coordinates: [region.coordinates[0]?.slice(0, -1)] };
    assert.deepEqual((await entities.replace('fence', 'dock', { ...LOCAL, region: open })).region, region);
    assert.equal(
      (await entities.replace('fence', 'round', { region: point(9, 51), radius: 1, zone_id: 'hall' })).radius,
      1,
    );
  });

  it('cannot get another position in meters, nor another reference', async () => {
    const entities = await orphan();
    const zoneIsGone = /^zone_id: must be the id or foreign id of a zone, found "/;
    const refused = [
      { ...LOCAL, region: point(1, 1), radius: 1 },
      { ...LOCAL, zone_id: 'hall' },
      { ...LOCAL, region: point(1, 1), radius: 1, former_zone: HALL },
    ];
    for (const body of refused) {
      await assert.rejects(entities.replace('fence', 'dock', body), { message: zoneIsGone });
    }
    await assert.rejects(entities.create('fence', { ...LOCAL, id: 'x', former_zone: HALL }), { message: zoneIsGone });
  });

  it('loses its own plane when it gets another reference', async () => {
    const entities = await orphan();
    const placed = await entities.replace('fence', 'dock', { region: point(9, 50), radius: 3 });
    assert.deepEqual(placed, { id: 'dock', region: point(9, 50), radius: 3 });
  });

  it('is attached to the next zone with that name', async () => {
    const entities = await orphan();
    await entities.create('zone', HALL);
    assert.deepEqual(await entities.replace('fence', 'dock', LOCAL), LOCAL);
  });

  it('can be subdivided', async () => {
    const entities = await orphan();
    const finer = await entities.replace('fence', 'dock', LOCAL, { subdivide: true });
    assert.equal(finer.former_zone?.id, HALL.id);
  });

  it('is reported to clients whenever they change it, even without a visible difference', async () => {
    const { entities, reported } = await inHall();
    await entities.remove('zone', HALL.id);
    reported.length = 0;
    await entities.replace('fence', 'dock', LOCAL);
    await entities.create('zone', HALL);
    await entities.replace('fence', 'dock', LOCAL);
    await entities.remove('fence', 'gate');
    assert.deepEqual(reported.map(brief), ['fence dock', `zone ${HALL.id}`, 'fence dock', 'fence gate']);
  });
});
