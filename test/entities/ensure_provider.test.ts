import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change } from '../../src/entities/entities.ts';
import { openEntities } from './open_entities.ts';

/** A store whose commits complete on command. */
function heldStore() {
  const held: { readonly keep: () => void; readonly fail: () => void }[] = [];
  const commit = (_changes: readonly Change[]): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    held.push({ keep: resolve, fail: () => reject(errorWith('HUB_UNAVAILABLE', 'Cannot write: the disk is full')) });
    return promise;
  };
  return { held, commit };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const failed = { code: 'HUB_UNAVAILABLE' };

describe('Entities.ensureProvider', () => {
  it('makes an unknown provider visible at once and resolves when it is stored', async () => {
    const { held, commit } = heldStore();
    const { entities, reported } = openEntities({ commit });
    const kept = entities.ensureProvider('p', 'gps');
    assert.deepEqual(entities.list('provider'), [{ id: 'p', type: 'gps' }]);
    assert.deepEqual([entities.count('provider'), entities.get('provider', 'p')?.type], [1, 'gps']);
    assert.equal(entities.ensureProvider('p', 'uwb'), kept);
    await turn();
    assert.ok(entities.ensureProvider('p', 'uwb') instanceof Promise);
    assert.equal(reported.length, 0);
    held[0]?.keep();
    await kept;
    assert.equal(entities.ensureProvider('p', 'uwb'), undefined);
    assert.deepEqual(reported, [{ kind: 'provider', id: 'p', before: undefined, after: { id: 'p', type: 'gps' } }]);
    assert.equal(entities.count('provider'), 1);
  });

  it('commits providers that are announced together in one transaction', async () => {
    let commits = 0;
    const { entities } = openEntities({ commit: async () => void commits++ });
    await Promise.all(Array.from({ length: 500 }, (_, i) => entities.ensureProvider(`p${i}`, 'uwb')));
    assert.deepEqual([commits, entities.count('provider')], [1, 500]);
  });

  it('rejects and leaves nothing when the store fails', async () => {
    const { held, commit } = heldStore();
    const { entities, reported } = openEntities({ commit });
    const kept = entities.ensureProvider('p', 'gps');
    await turn();
    const late = entities.ensureProvider('p', 'gps');
    held[0]?.fail();
    await assert.rejects(Promise.resolve(kept), failed);
    await assert.rejects(Promise.resolve(late), failed);
    assert.deepEqual([entities.count('provider'), reported.length], [0, 0]);
    assert.ok(entities.ensureProvider('p', 'gps') instanceof Promise);
    await turn();
    held[1]?.keep();
    await turn();
    assert.deepEqual([entities.count('provider'), reported.length], [1, 1]);
  });

  it('rejects when too many changes wait, and leaves nothing', async () => {
    const { entities } = openEntities({ waitingMax: 1 });
    const first = entities.ensureProvider('p', 'gps');
    const second = entities.ensureProvider('q', 'gps');
    await assert.rejects(Promise.resolve(second), failed);
    await first;
    assert.deepEqual(
      entities.list('provider').map(({ id }) => id),
      ['p'],
    );
  });

  it('creates the provider again after a deletion that is being stored', async () => {
    const { held, commit } = heldStore();
    const { entities, reported } = openEntities({ commit });
    entities.load({ provider: [{ id: 'p', type: 'uwb', name: 'old' }] });
    const removed = entities.remove('provider', 'p');
    await turn();
    const kept = entities.ensureProvider('p', 'gps');
    assert.equal(entities.get('provider', 'p')?.type, 'gps');
    held[0]?.keep();
    await removed;
    await turn();
    held[1]?.keep();
    await kept;
    assert.deepEqual(
      reported.map(({ before, after }) => [before?.name, after]),
      [
        ['old', undefined],
        [undefined, { id: 'p', type: 'gps' }],
      ],
    );
  });

  it('leaves the old provider when its deletion is reverted', async () => {
    const { held, commit } = heldStore();
    const { entities, reported } = openEntities({ commit });
    entities.load({ provider: [{ id: 'p', type: 'uwb', name: 'old' }] });
    const removed = entities.remove('provider', 'p');
    await turn();
    const kept = entities.ensureProvider('p', 'gps');
    held[0]?.fail();
    await assert.rejects(removed, failed);
    await kept;
    assert.deepEqual(entities.list('provider'), [{ id: 'p', type: 'uwb', name: 'old' }]);
    assert.deepEqual([entities.count('provider'), reported.length], [1, 0]);
  });

  it('precedes a deletion that is requested later', async () => {
    const { entities, reported } = openEntities();
    const kept = entities.ensureProvider('p', 'gps');
    const removed = entities.remove('provider', 'p');
    await Promise.all([kept, removed]);
    assert.equal(entities.has('provider', 'p'), false);
    assert.deepEqual(
      reported.map(({ after }) => after?.id),
      ['p', undefined],
    );
  });

  it('creates the provider again after it was announced and deleted in the group that is being stored', async () => {
    const { held, commit } = heldStore();
    const { entities } = openEntities({ commit });
    const first = entities.ensureProvider('p', 'gps');
    const removed = entities.remove('provider', 'p');
    await turn();
    assert.equal(entities.has('provider', 'p'), false);
    const second = entities.ensureProvider('p', 'uwb');
    assert.notEqual(second, first);
    held[0]?.keep();
    await Promise.all([first, removed]);
    await turn();
    held[1]?.keep();
    await second;
    assert.deepEqual(entities.list('provider'), [{ id: 'p', type: 'uwb' }]);
  });

  it('makes a creation with the same id fail, in either order', async () => {
    const { entities } = openEntities();
    const kept = entities.ensureProvider('p', 'gps');
    await assert.rejects(entities.create('provider', { id: 'p', type: 'uwb' }), { code: 'HUB_BAD_REQUEST' });
    await kept;
    const created = entities.create('provider', { id: 'q', type: 'uwb' });
    await Promise.all([created, entities.ensureProvider('q', 'gps')]);
    assert.equal(entities.get('provider', 'q')?.type, 'uwb');
  });
});
