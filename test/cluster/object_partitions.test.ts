import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ObjectPartitions } from '../../src/cluster/config/object_partitions.ts';
import { firstMap } from '../../src/cluster/membership/partition_map.ts';
import { hashOf, partitionOf } from '../../src/shards/affinity.ts';

const TRACKABLES = ['t0', 't1', 't2', 't3', 't4'];
const PROVIDERS = ['p0', 'p1', 'p2', 'p3'];

function trackable(id: string, providers: readonly string[] | undefined, parent?: string) {
  const text = providers && JSON.stringify({ id, location_providers: providers, ...(parent && { parent }) });
  return { kind: 'trackable', id, text: text ?? null };
}

function all(partitions: ObjectPartitions): Record<string, number> {
  return Object.fromEntries([
    ...TRACKABLES.map((id) => [id, partitions.partitionOf('trackable', id)]),
    ...PROVIDERS.map((id) => [id, partitions.partitionOf('provider', id)]),
  ]);
}

test('Connected objects have the partition of their smallest trackable', () => {
  const partitions = new ObjectPartitions();
  assert.deepEqual(partitions.apply([trackable('t1', ['p0'])]), [
    { kind: 'provider', id: 'p0', from: partitionOf('p0'), to: partitionOf('t1') },
  ]);
  assert.deepEqual(partitions.apply([trackable('t1', ['p0'])]), []);
  const moved = partitions.apply([trackable('t0', ['p0'])]);
  assert.deepEqual(
    moved.map(({ id, from, to }) => [id, from === partitionOf('t1'), to === partitionOf('t0')]).toSorted(),
    [
      ['p0', true, true],
      ['t1', true, true],
    ],
  );
  // A deleted trackable is deleted in its partition; connected objects move.
  assert.deepEqual(
    partitions
      .apply([trackable('t0', undefined)])
      .map(({ id }) => id)
      .toSorted(),
    ['p0', 't1'],
  );
});

const change = fc
  .record({
    id: fc.constantFrom(...TRACKABLES),
    providers: fc.option(fc.subarray(PROVIDERS), { nil: undefined }),
    parent: fc.option(fc.constantFrom(...TRACKABLES), { nil: undefined }),
  })
  .map(({ id, providers, parent }) => trackable(id, providers, parent));

test('A preview returns the result of applying, and changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 10 }), (groups) => {
      const partitions = new ObjectPartitions();
      const entities = new Map<string, ReturnType<typeof trackable>>();
      for (const group of groups) {
        const before = all(partitions);
        const found = partitions.preview(group);
        assert.deepEqual(all(partitions), before);
        assert.deepEqual(partitions.apply(group), found);
        for (const each of group) entities.set(each.id, each);
        const after = all(partitions);
        const moved = new Set(found.map(({ id }) => id));
        for (const [id, partition] of Object.entries(after)) {
          const isDeleted = entities.get(id)?.text === null;
          if (!isDeleted) assert.equal(moved.has(id), before[id] !== partition, id);
        }
        for (const { id, from, to } of found) assert.deepEqual([from, to], [before[id], after[id]]);
        // A hub that starts with the current entities has the same partitions.
        const fresh = new ObjectPartitions();
        fresh.apply(entities.values());
        assert.deepEqual(all(fresh), after);
      }
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('Partitions follow the number in the map', () => {
  const partitions = new ObjectPartitions();
  partitions.apply([trackable('t1', ['p0'])]);
  partitions.follow(firstMap({ members: ['a'], partitions: 4096 }));
  partitions.follow(undefined);
  assert.equal(partitions.partitionOf('provider', 'p0'), hashOf('t1') % 4096);
  assert.equal(partitions.partitionOfKey('zone'), hashOf('zone') % 4096);
  const names = Array.from({ length: 1000 }, (_, i) => `p${i}`);
  assert.ok(names.some((name) => partitions.partitionOf('provider', name) > 4000));
  const others = names.slice(1);
  assert.ok(others.every((name) => partitions.partitionOf('provider', name) % 256 === partitionOf(name)));
});

test('Deleted objects belong to the partition that they had, until they exist again', () => {
  const partitions = new ObjectPartitions();
  partitions.apply([trackable('t1', ['p0'])]);
  const gone = [
    { kind: 'provider', id: 'p0', text: null },
    { kind: 'provider', id: 'p1', text: null },
    trackable('t1', undefined),
  ];
  partitions.noteDeleted(gone, { sequence: 5, nowMs: 0 });
  partitions.apply(gone);
  const nothing = { providers: [], trackables: [] };
  const at = new Set([partitionOf('t1')]);
  assert.notEqual(partitionOf('p1'), partitionOf('t1'));
  assert.deepEqual(partitions.deletedIn(at, nothing), { providers: ['p0'], trackables: ['t1'] });
  assert.deepEqual(partitions.deletedIn(at, { providers: ['p0'], trackables: [] }), {
    providers: [],
    trackables: ['t1'],
  });
  assert.deepEqual(partitions.deletedIn(new Set(), nothing), nothing);
});
