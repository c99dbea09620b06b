import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HubError } from '../../src/errors.ts';
import type { Zone } from '../../src/model/zone.ts';
import { openEntities, point, polygon, rfidZone, UUID_A, UUID_B, UUID_C, uwbZone } from './open_entities.ts';

const refused =
  (code: string, message = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof HubError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };

describe('Entities', () => {
  it('puts a generated id first and retains the position of a given one', async () => {
    const { entities } = openEntities();
    const generated = await entities.create('trackable', { type: 'omlox', id: '' });
    assert.equal(JSON.stringify(generated), '{"id":"00000000-0000-4000-8000-000000000001","type":"omlox"}');
    const given = await entities.create('trackable', { type: 'omlox', id: UUID_A });
    assert.equal(JSON.stringify(given), `{"type":"omlox","id":"${UUID_A}"}`);
    const replaced = await entities.create('trackable', { type: 'omlox', id: 'client' }, { replaceId: true });
    assert.equal(replaced.id, '00000000-0000-4000-8000-000000000002');
  });

  it('compares UUIDs without regard to case, other ids verbatim, and echoes them as created', async () => {
    const { entities, reported } = openEntities();
    await entities.create('trackable', { id: UUID_A.toUpperCase(), type: 'omlox' });
    assert.equal(entities.get('trackable', UUID_A)?.id, UUID_A.toUpperCase());
    await assert.rejects(
      entities.create('trackable', { id: UUID_A, type: 'omlox' }),
      refused('HUB_BAD_REQUEST', /exists/),
    );
    const put = await entities.replace('trackable', UUID_A, { id: UUID_A, type: 'virtual' });
    assert.equal(put.id, UUID_A.toUpperCase());
    await entities.remove('trackable', UUID_A);
    assert.equal(reported.at(-1)?.id, UUID_A.toUpperCase());
    await entities.create('provider', { id: 'tag', type: 'uwb' });
    assert.equal(entities.has('provider', 'TAG'), false);
  });

  for (const id of [undefined, null, '', '00000000-0000-0000-0000-000000000000', 'p']) {
    it(`replaces under the id of the path when the id of the body is ${id}`, async () => {
      const { entities } = openEntities();
      await entities.create('provider', { id: 'p', type: 'uwb' });
      await entities.replace('provider', 'p', { id, type: 'gps' });
      assert.deepEqual(entities.list('provider'), [{ id: 'p', type: 'gps' }]);
    });
  }

  it('rejects a replacement under another id, and of missing entities', async () => {
    const { entities } = openEntities();
    await entities.create('provider', { id: 'p', type: 'uwb' });
    const other = entities.replace('provider', 'p', { id: 'q', type: 'gps' });
    await assert.rejects(other, refused('HUB_BAD_REQUEST', /^id: must be "p" as in the path, found "q"$/));
    const unknown = entities.replace('provider', 'q', { type: 'gps' });
    await assert.rejects(unknown, refused('HUB_NOT_FOUND', /^Cannot replace provider "q": no provider has that id$/));
    await assert.rejects(entities.remove('fence', 'q'), refused('HUB_NOT_FOUND', /^Cannot delete fence "q"/));
  });

  it('finds a zone by its id before one of old data by its foreign id, and both can be changed', async () => {
    const { entities } = openEntities();
    const zone = (id: string, foreignId: string) => ({ ...uwbZone(), id, foreign_id: foreignId }) as Zone;
    entities.load({ zone: [zone('a', 'b'), zone('b', 'c')] });
    assert.equal(entities.zoneBy('b')?.id, 'b');
    assert.equal((await entities.replace('zone', 'a', { ...zone('a', 'b'), name: 'A' })).name, 'A');
    assert.equal((await entities.replace('zone', 'b', { ...zone('b', 'c'), name: 'B' })).name, 'B');
    await entities.remove('zone', 'b');
    assert.equal(entities.zoneBy('b')?.id, 'a');
    await assert.rejects(entities.create('zone', zone('b', '')), refused('HUB_BAD_REQUEST', /^id: must differ/));
  });

  it("reserves a name for one zone: UUIDs in any case, and the zone's own id", async () => {
    const { entities } = openEntities();
    await entities.create('zone', uwbZone({ id: UUID_A, foreign_id: UUID_A.toUpperCase() }));
    await entities.create('zone', uwbZone({ id: 'b', foreign_id: UUID_B }));
    assert.equal(entities.zoneBy(UUID_B.toUpperCase())?.id, 'b');
    for (const taken of [UUID_A, UUID_A.toUpperCase(), UUID_B.toUpperCase(), 'b']) {
      const other = entities.create('zone', uwbZone({ id: 'c', foreign_id: taken }));
      await assert.rejects(other, refused('HUB_BAD_REQUEST', /^foreign_id: must differ from ids and foreign ids/));
    }
    await assert.rejects(
      entities.create('zone', uwbZone({ id: UUID_B.toUpperCase() })),
      refused('HUB_BAD_REQUEST', /^id: must differ from ids and foreign ids of other zones, found ".*"$/),
    );
    // A name is released with its zone.
    await entities.replace('zone', 'b', uwbZone({ foreign_id: 'b' }));
    assert.equal(entities.zoneBy(UUID_B), undefined);
    await entities.create('zone', uwbZone({ id: UUID_B }));
  });

  it('lists the trackables of a provider by id, whether or not the provider exists', async () => {
    const { entities } = openEntities();
    await entities.create('trackable', { id: UUID_B, type: 'omlox', location_providers: ['p', 'q'] });
    await entities.create('trackable', { id: UUID_A, type: 'omlox', location_providers: ['p'] });
    const ids = (provider: string) => entities.trackablesOf(provider).map(({ id }) => id);
    assert.deepEqual(ids('p'), [UUID_A, UUID_B]);
    await entities.replace('trackable', UUID_B, { type: 'omlox', location_providers: ['q'] });
    assert.deepEqual([ids('p'), ids('q')], [[UUID_A], [UUID_B]]);
    await entities.clear('trackable');
    assert.deepEqual([ids('p'), ids('q')], [[], []]);
  });

  it('rejects a parent that would carry itself through others', async () => {
    const { entities } = openEntities();
    await entities.create('trackable', { id: UUID_A, type: 'omlox' });
    await entities.create('trackable', { id: UUID_B, type: 'omlox', parent: UUID_A });
    const cycle = entities.replace('trackable', UUID_A, { type: 'omlox', parent: UUID_B });
    await assert.rejects(cycle, refused('HUB_BAD_REQUEST', /^parent: must not be carried by the trackable itself/));
    await entities.create('zone', rfidZone({ id: 'a' }));
    await entities.create('zone', rfidZone({ id: 'b', parent: 'a' }));
    const zones = entities.replace('zone', 'a', rfidZone({ parent: 'b' }));
    await assert.rejects(zones, refused('HUB_BAD_REQUEST', /^parent: must not be carried by the zone itself/));
  });

  it('clears the parent of entities that a deleted entity carried, in the same commit', async () => {
    const commits: number[] = [];
    const { entities } = openEntities({ commit: async (changes) => void commits.push(changes.length) });
    await entities.create('trackable', { id: UUID_A, type: 'omlox' });
    await entities.create('trackable', { id: UUID_B, type: 'omlox', parent: UUID_A, name: 'b' });
    await entities.create('zone', rfidZone({ id: 'z', parent: UUID_A }));
    await entities.remove('trackable', UUID_A);
    assert.deepEqual(commits, [1, 1, 1, 3]);
    assert.deepEqual(entities.list('trackable'), [{ id: UUID_B, type: 'omlox', name: 'b' }]);
    assert.equal(entities.get('zone', 'z')?.parent, undefined);
  });

  it('deletes a whole collection without updating entities that are deleted too', async () => {
    const { entities, reported } = openEntities();
    await entities.create('trackable', { id: UUID_A, type: 'omlox' });
    await entities.create('trackable', { id: UUID_B, type: 'omlox', parent: UUID_A });
    reported.length = 0;
    await entities.clear('trackable');
    assert.deepEqual(
      reported.map(({ id, after }) => [id, after]),
      [
        [UUID_A, undefined],
        [UUID_B, undefined],
      ],
    );
    await entities.clear('trackable');
    assert.equal(reported.length, 2);
  });

  it('passes on force with a change, and only then', async () => {
    const { entities, reported } = openEntities();
    await entities.create('trackable', { id: UUID_A, type: 'omlox' }, { force: true });
    await entities.replace('trackable', UUID_A, { type: 'omlox' }, { force: false });
    assert.deepEqual(
      reported.map((change) => change.force),
      [true, undefined],
    );
  });

  it('edits the result of the previous change', async () => {
    const { entities } = openEntities();
    await entities.create('provider', { id: 'p', type: 'uwb' });
    await Promise.all([
      entities.edit('provider', 'p', (provider) => ({ ...provider, name: 'n' })),
      entities.edit('provider', 'p', (provider) => ({ ...provider, sensors: [1] })),
    ]);
    assert.deepEqual(entities.get('provider', 'p'), { id: 'p', type: 'uwb', name: 'n', sensors: [1] });
  });

  it('loads entities without a commit or a notification', () => {
    const { entities, reported } = openEntities({ commit: () => assert.fail('committed') });
    entities.load({
      zone: [{ id: 'z', type: 'rfid', position: { type: 'Point', coordinates: [8, 50] }, foreign_id: 'f' }],
      trackable: [{ id: UUID_C, type: 'omlox', location_providers: ['p'] }],
    });
    assert.equal(entities.zoneBy('f')?.id, 'z');
    assert.equal(entities.trackablesOf('p').length, 1);
    assert.equal(reported.length, 0);
  });

  it('checks a fence against the zones of earlier changes', async () => {
    const { entities } = openEntities();
    const [zone, fence] = await Promise.all([
      entities.create('zone', uwbZone({ id: 'hall' })),
      entities.create('fence', { region: point(1, 1), radius: 1, crs: 'local', zone_id: 'hall' }),
      entities.create('fence', { region: polygon() }),
    ]);
    assert.equal(fence.zone_id, zone.id);
  });
});
