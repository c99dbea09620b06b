import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Trackable } from '../../src/model/trackable.ts';
import { partitionOf } from '../../src/shards/affinity.ts';
import { RecentChanges } from '../../src/shards/recent_changes.ts';
import { ShardDirectory } from '../../src/shards/shard_directory.ts';
import { SharedObjects } from '../../src/shards/shared_objects.ts';
import { fenceAround, provider, trackable } from '../threads/running_shards.ts';

/** From the reference values of 32-bit FNV-1a. */
const PARTITIONS: readonly (readonly [key: string, hash: number])[] = [
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
];

for (const [key, hash] of PARTITIONS) {
  test(`partitionOf "${key}" is its FNV-1a hash modulo 256`, () => {
    assert.equal(partitionOf(key), hash % 256);
  });
}

test('partitionOf hashes the UTF-8 bytes of a key', () => {
  const bytes = new TextEncoder().encode('Gabelstapler Süd');
  const hash = bytes.reduce((before, byte) => Math.imul(before ^ byte, 0x01000193), 0x811c9dc5);
  assert.equal(partitionOf('Gabelstapler Süd'), (hash >>> 0) % 256);
});

const PROVIDERS = Array.from({ length: 6 }, (_, index) => `provider ${index}`);
const TRACKABLES = Array.from({ length: 6 }, (_, index) => `trackable ${index}`);

interface Change {
  readonly id: string;
  readonly entity: Trackable | undefined;
}

const entity = fc.record({
  providers: fc.subarray(PROVIDERS, { maxLength: 3 }),
  parent: fc.constantFrom(undefined, null, '', ...TRACKABLES),
});
const change = fc.record({
  id: fc.constantFrom(...TRACKABLES),
  made: fc.option(entity, { nil: undefined, freq: 4 }),
});
const groups = fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 });

function changeOf({
  id,
  made,
}: {
  id: string;
  made: { providers: string[]; parent: string | null | undefined } | undefined;
}): Change {
  if (made === undefined) return { id, entity: undefined };
  const { providers: location_providers, parent = null } = made;
  return { id, entity: { id, type: 'omlox', location_providers, parent } };
}

/** Expected components, found by brute force: sets are merged until nothing changes. */
function componentsOf(trackables: ReadonlyMap<string, Trackable>): Set<string>[] {
  const links: Set<string>[] = [];
  for (const { id, location_providers, parent } of trackables.values()) {
    links.push(new Set([id, ...(location_providers ?? []), ...(parent ? [parent] : [])]));
  }
  for (let i = 0; i < links.length; i++) {
    for (let j = links.length - 1; j > i; j--) {
      if (links[i]?.isDisjointFrom(links[j] as Set<string>)) continue;
      links[i] = (links[i] as Set<string>).union(links[j] as Set<string>);
      links.splice(j, 1);
      j = links.length;
    }
  }
  return links;
}

function homesOf(directory: ShardDirectory): Map<string, number> {
  return new Map([
    ...PROVIDERS.map((id) => [id, directory.ofProvider(id)] as const),
    ...TRACKABLES.map((id) => [id, directory.ofTrackable(id)] as const),
  ]);
}

test('ShardDirectory assigns connected objects to one shard, and moves only those whose shard has changed', () => {
  fc.assert(
    fc.property(groups, fc.integer({ min: 1, max: 7 }), (all, shards) => {
      const directory = new ShardDirectory(shards);
      const trackables = new Map<string, Trackable>();
      for (const group of all.map((changes) => changes.map(changeOf))) {
        const before = homesOf(directory);
        for (const { id, entity: after } of group) {
          if (after === undefined) trackables.delete(id);
          else trackables.set(id, after);
        }
        const deleted = new Set(group.map(({ id }) => id).filter((id) => !trackables.has(id)));
        for (const id of deleted) directory.forget('trackable', id);
        const moves = directory.assign(group);
        const after = homesOf(directory);
        for (const component of componentsOf(trackables)) {
          const named = new Set([...component].map((id) => after.get(id)));
          assert.equal(named.size, 1, `${[...component]} live in ${[...named]}`);
          const smallest = [...component].filter((id) => TRACKABLES.includes(id)).sort()[0] ?? '';
          assert.deepEqual([...named], [partitionOf(smallest) % shards]);
        }
        const moved = new Map<string, readonly [number, number]>();
        for (const { from, to, providers, trackables: ids } of moves) {
          for (const id of [...providers, ...ids]) {
            assert.equal(moved.has(id), false, `${id} moves once`);
            moved.set(id, [from, to]);
          }
        }
        for (const [id, home] of after) {
          // A deleted object is deleted in its shard.
          if (deleted.has(id)) assert.equal(moved.has(id), false);
          else if (before.get(id) === home) assert.equal(moved.has(id), false, `${id} stays`);
          else assert.deepEqual(moved.get(id), [before.get(id), home], `${id} moves`);
        }
      }
      for (const id of PROVIDERS) {
        const isAssigned = [...trackables.values()].some(({ location_providers: own }) => own?.includes(id));
        if (!isAssigned) assert.equal(directory.ofProvider(id), partitionOf(id) % shards);
      }
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('ShardDirectory moves the objects that a deleted trackable connected, but not that trackable', () => {
  const directory = new ShardDirectory(64);
  const first: Trackable = { id: 'a', type: 'omlox', location_providers: ['tag'] };
  const second: Trackable = { id: 'b', type: 'omlox', location_providers: ['tag'] };
  directory.assign([
    { id: 'a', entity: first },
    { id: 'b', entity: second },
  ]);
  const home = directory.ofTrackable('a');
  assert.deepEqual([directory.ofTrackable('b'), directory.ofProvider('tag')], [home, home]);
  assert.deepEqual(directory.ofDeleted([{ kind: 'trackable', id: 'a' }]), [home]);
  directory.forget('trackable', 'a');
  const moves = directory.assign([{ id: 'a', entity: undefined }]);
  assert.deepEqual(moves, [{ from: home, to: partitionOf('b') % 64, providers: ['tag'], trackables: ['b'] }]);
});

test('ShardDirectory returns no move for unassigned objects', () => {
  const directory = new ShardDirectory(64);
  assert.deepEqual(
    directory.assign([{ id: 'a', entity: { id: 'a', type: 'omlox', location_providers: ['tag'] } }]),
    [],
  );
});

test('ShardDirectory finds the directory of a component of thousands without searching it for each', () => {
  const directory = new ShardDirectory(4);
  const many = Array.from({ length: 5000 }, (_, index): Change => {
    const id = `trackable ${index}`;
    return { id, entity: { id, type: 'omlox', location_providers: ['shared', `tag ${index}`] } };
  });
  directory.assign(many);
  const home = partitionOf('trackable 0') % 4;
  for (let index = 0; index < 5000; index++) assert.equal(directory.ofProvider(`tag ${index}`), home);
});

test('objects are the configured ones, and located providers', () => {
  const objects = new SharedObjects({ sequence: () => 0, changes: new RecentChanges(() => 0) });
  objects.change([provider('p'), trackable('t', ['p', 'unseen']), provider('q'), fenceAround('f', [0, 0], 1)]);
  objects.located('stranger');
  objects.located('p');
  assert.deepEqual(objects.all(), { providers: ['p', 'q', 'stranger'], trackables: ['t'] });
  objects.change([
    { kind: 'trackable', id: 't', entity: undefined },
    { kind: 'provider', id: 'q', entity: undefined },
  ]);
  assert.deepEqual(objects.all(), { providers: ['p', 'stranger'], trackables: [] });
});
