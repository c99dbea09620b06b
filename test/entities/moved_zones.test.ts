import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ZoneMove } from '../../src/core/zone/following.ts';
import type { Entities } from '../../src/entities/entities.ts';
import { openEntities, POINTS, point, rfidZone, UUID_A, UUID_B, uwbZone } from './open_entities.ts';

const BY_PROVIDERS = 'com.hdm.hub.zone.autozoneupdate.providers';
const BY_TRACKABLES = 'com.hdm.hub.zone.autozoneupdate.trackables';
const BY_TAG = { properties: { [BY_PROVIDERS]: ['tag'] } };
const BENCHMARK = { type: 'generic', position: point(9, 50), surface_projection: 'EPSG:32632' };

const follower = (id: string, provider = 'tag') => rfidZone({ id, properties: { [BY_PROVIDERS]: [provider] } });

/** A move, caused by a provider by default. */
function move(id: string, position: number[], more: Partial<ZoneMove> = {}): ZoneMove {
  return { id, by: { kind: 'provider', id: 'tag' }, seq: 1, position, floor: 2, ...more };
}

function placeOf(entities: Entities, id: string): unknown {
  const zone = entities.get('zone', id);
  return [...(zone?.position?.coordinates ?? []), zone?.floor];
}

describe('Entities.moveZones', () => {
  it('moves zones to the objects that they follow, and reports it like any change', async () => {
    const { entities, reported } = openEntities();
    await entities.create('zone', follower('a'));
    const before = entities.get('zone', 'a');
    await entities.moveZones(() => [move('a', [9, 51, 3])]);
    const after = { ...before, position: point(9, 51), floor: 2 };
    after.position.coordinates.push(3);
    assert.deepEqual(entities.get('zone', 'a'), after);
    assert.deepEqual(reported.slice(1), [{ kind: 'zone', id: 'a', before, after }]);
  });

  it('changes nothing if a zone is already there, was deleted, or no longer follows that object', async () => {
    const { entities, reported } = openEntities();
    await entities.create('zone', follower('a', 'other'));
    await entities.create('zone', { ...follower('b'), position: point(9, 51), floor: 2 });
    const changes = reported.length;
    await entities.moveZones(() => [move('a', [9, 51]), move('b', [9, 51]), move('c', [9, 51])]);
    assert.equal(reported.length, changes);
    await entities.moveZones(() => [move('b', [9, 51], { floor: 3 })]);
    assert.deepEqual(placeOf(entities, 'b'), [9, 51, 3]);
  });

  it('moves entities that a zone carries, directly and indirectly', async () => {
    const { entities, reported } = openEntities();
    await entities.create('zone', follower('a'));
    await entities.create('zone', rfidZone({ id: 'b', parent: 'a' }));
    await entities.create('zone', rfidZone({ id: 'c', parent: 'b', floor: 7 }));
    const changes = reported.length;
    await entities.moveZones(() => [move('a', [9, 51])]);
    assert.deepEqual(
      reported.slice(changes).map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    for (const id of ['a', 'b', 'c']) assert.deepEqual(placeOf(entities, id), [9, 51, 2]);
  });

  it('follows the parent trackable, in any case of its id, until that is deleted', async () => {
    const { entities } = openEntities();
    await entities.create('trackable', { id: UUID_A, type: 'omlox' });
    await entities.create('zone', rfidZone({ id: 'a', parent: UUID_A.toUpperCase() }));
    const by = { kind: 'trackable', id: UUID_A } as const;
    await entities.moveZones(() => [move('a', [9, 51], { by })]);
    assert.deepEqual(placeOf(entities, 'a'), [9, 51, 2]);
    await entities.remove('trackable', UUID_A);
    await entities.moveZones(() => [move('a', [9, 52], { by })]);
    assert.deepEqual(placeOf(entities, 'a'), [9, 51, 2], 'it stays at its last position');
  });

  it('follows no trackable that has the id of the parent zone', async () => {
    const { entities } = openEntities();
    await entities.create('zone', rfidZone({ id: UUID_A }));
    await entities.create('trackable', { id: UUID_A, type: 'omlox' });
    await entities.create('zone', rfidZone({ id: 'b', parent: UUID_A }));
    await entities.moveZones(() => [move('b', [9, 51], { by: { kind: 'trackable', id: UUID_A } })]);
    assert.deepEqual(placeOf(entities, 'b'), [8.68, 50.11, undefined]);
  });

  it('moves a zone georeferenced by a benchmark, as far as its projection reaches', async () => {
    const { entities } = openEntities();
    await entities.create('zone', { id: 'a', ...BENCHMARK, properties: { [BY_TRACKABLES]: [UUID_B] } });
    const by = { kind: 'trackable', id: UUID_B } as const;
    await entities.moveZones(() => [move('a', [9.5, 50], { by })]);
    assert.deepEqual(placeOf(entities, 'a'), [9.5, 50, 2]);
    await entities.moveZones(() => [move('a', [120, 0], { by })]);
    assert.deepEqual(placeOf(entities, 'a'), [9.5, 50, 2]);
  });

  it('moves the ground control points of a zone by the shift of its position', async () => {
    const { entities } = openEntities();
    const at = [8.6821, 50.1109];
    await entities.create('zone', uwbZone({ id: 'a', position: point(at[0] as number, at[1] as number), ...BY_TAG }));
    await entities.moveZones(() => [move('a', [8.6921, 50.1109])]);
    const [first, local, second] = entities.get('zone', 'a')?.ground_control_points ?? [];
    assert.deepEqual(
      [first, local, second],
      [
        [8.6921, 50.1109],
        [0, 0],
        [8.6935, 50.1109],
      ],
    );
    await entities.moveZones(() => [move('a', [8.6921, 90])]);
    assert.deepEqual(placeOf(entities, 'a'), [8.6921, 50.1109, 2], 'east is no direction there');
    await entities.moveZones(() => [move('a', at)]);
    assert.deepEqual(entities.get('zone', 'a')?.ground_control_points, POINTS);
  });

  it('gives a zone without a position one', async () => {
    const { entities } = openEntities();
    const properties = { [BY_PROVIDERS]: ['tag'] };
    await entities.create('zone', { id: 'a', type: 'ibeacon', incomplete_configuration: true, properties });
    await entities.create('zone', uwbZone({ id: 'b', properties }));
    await entities.moveZones(() => [move('a', [9, 51]), move('b', [9, 51])]);
    assert.deepEqual([placeOf(entities, 'a'), placeOf(entities, 'b')], Array(2).fill([9, 51, 2]));
  });

  it('reverts the moves when they cannot be stored', async () => {
    let fails = false;
    const commit = async () => {
      if (fails) throw errorWith('HUB_UNAVAILABLE', 'The disk is full');
    };
    const { entities } = openEntities({ commit });
    await entities.create('zone', follower('a'));
    fails = true;
    await assert.rejects(
      entities.moveZones(() => [move('a', [9, 51])]),
      /The disk is full/,
    );
    assert.deepEqual(placeOf(entities, 'a'), [8.68, 50.11, undefined]);
  });
});

describe('Entities.edit of a zone', () => {
  it('moves carried entities when the zone is moved, and only then', async () => {
    const { entities, reported } = openEntities();
    await entities.create('zone', rfidZone({ id: 'a' }));
    await entities.create('zone', rfidZone({ id: 'b', parent: 'a', position: point(1, 2), floor: 3 }));
    await entities.replace('zone', 'a', rfidZone({ name: 'gate' }));
    assert.deepEqual(placeOf(entities, 'b'), [1, 2, 3]);
    const changes = reported.length;
    await entities.replace('zone', 'a', rfidZone({ position: point(9, 51) }));
    assert.deepEqual(
      reported.slice(changes).map(({ id }) => id),
      ['a', 'b'],
    );
    assert.deepEqual(placeOf(entities, 'b'), [9, 51, 3]);
  });
});

describe('Entities.hasMobileZones', () => {
  it('is true if any zone follows an object', async () => {
    const { entities } = openEntities();
    await entities.create('zone', rfidZone({ id: 'a' }));
    assert.equal(entities.hasMobileZones, false);
    await entities.create('zone', rfidZone({ id: 'b', parent: 'a' }));
    await entities.create('zone', follower('c'));
    assert.equal(entities.hasMobileZones, true);
    await entities.replace('zone', 'c', rfidZone());
    assert.equal(entities.hasMobileZones, true);
    await entities.remove('zone', 'a');
    assert.equal(entities.hasMobileZones, false);
  });
});
