import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  afterImbalance,
  afterJoin,
  afterLeave,
  firstMap,
  MOVED_SHARE,
  type PartitionMap,
  partitionsOf,
} from '../../src/cluster/membership/partition_map.ts';
import { PARTITIONS } from '../../src/shards/affinity.ts';

const MOVES_MAX = PARTITIONS * MOVED_SHARE;

/** Some incarnations, in any order. */
const someMembers = fc.uniqueArray(fc.stringMatching(/^[a-z]{3}$/), { minLength: 1, maxLength: 12 });
const someLoads = fc.array(fc.oneof(fc.nat(1000), fc.constant(0), fc.nat(20)), {
  minLength: PARTITIONS,
  maxLength: PARTITIONS,
});

function countsOf(map: PartitionMap, members: readonly string[]): number[] {
  return members.map((member) => map.owners.filter((owner) => owner === member).length);
}

function loadsOf(map: PartitionMap, members: readonly string[], loads: readonly number[]): number[] {
  return members.map((member) => {
    return loads.reduce((sum, load, partition) => (map.owners[partition] === member ? sum + load : sum), 0);
  });
}

function spreadOf(numbers: readonly number[]): number {
  return Math.max(...numbers) - Math.min(...numbers);
}

/** Partitions with another owner than before. */
function movedBetween(before: PartitionMap, after: PartitionMap): number[] {
  return after.owners.flatMap((owner, partition) => (owner === before.owners[partition] ? [] : [partition]));
}

function assertOwned(map: PartitionMap, members: readonly string[]): void {
  assert.equal(map.owners.length, PARTITIONS);
  for (const owner of new Set([...map.owners, map.collisions])) assert.ok(members.includes(owner), `${owner} is gone`);
}

/** The map once nothing moves any more. Checks each batch. */
function settled(start: PartitionMap, members: readonly string[], ownersMax?: number): PartitionMap {
  let map = start;
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (const joined of members) {
      const next = afterJoin(map, candidates(members, ownersMax, { joined }));
      if (next === undefined) continue;
      assertBatch(map, next, joined);
      assertOwned(next, members);
      map = next;
      isMoving = true;
    }
  }
  return map;
}

function assertBatch(before: PartitionMap, after: PartitionMap, joined: string): void {
  const moved = movedBetween(before, after);
  assert.ok(moved.length >= 1 && moved.length <= MOVES_MAX, `${moved.length} moved`);
  for (const partition of moved) assert.equal(after.owners[partition], joined);
  assert.equal(after.epoch, before.epoch + 1);
  assert.equal(after.collisions, before.collisions);
}

function candidates<More extends object>(members: readonly string[], ownersMax: number | undefined, more: More) {
  return { members, ...(ownersMax !== undefined && { ownersMax }), ...more };
}

/** A map with the given number of consecutive partitions per member. */
function mapOf(counts: Readonly<Record<string, number>>, collisions = 'a'): PartitionMap {
  const owners = Object.entries(counts).flatMap(([member, count]) => Array.from({ length: count }, () => member));
  assert.equal(owners.length, PARTITIONS);
  return { epoch: 7, owners, collisions };
}

describe('firstMap', () => {
  test('gives all members equally many partitions, give or take one', () => {
    fc.assert(
      fc.property(someMembers, (members) => {
        const map = firstMap({ members });
        assert.equal(map.epoch, 1);
        assertOwned(map, members);
        assert.ok(spreadOf(countsOf(map, members)) <= 1);
      }),
      { seed: 301, numRuns: 200 },
    );
  });

  test('with more partitions gives 48 members almost the same share', () => {
    const members = Array.from({ length: 48 }, (_, i) => `m${i}`);
    const sharesOf = (partitions: number) => {
      const counts = countsOf(firstMap({ members, partitions }), members);
      return [Math.min(...counts), Math.max(...counts)];
    };
    assert.deepEqual([256, 1024, 4096].map(sharesOf), [
      [5, 6],
      [21, 22],
      [85, 86],
    ]);
    for (const partitions of [0, 128, 300, 8192]) assert.throws(() => sharesOf(partitions), { name: 'RangeError' });
  });

  test('gives everything to one member where one may own', () => {
    const map = firstMap({ members: ['b', 'a', 'c'], ownersMax: 1 });
    assert.deepEqual(countsOf(map, ['a', 'b', 'c']), [PARTITIONS, 0, 0]);
    assert.equal(map.collisions, 'a');
  });
});

test('partitionsOf counts the partitions of a member', () => {
  const map = firstMap({ members: ['a', 'b', 'c'] });
  const counts = (of: typeof map | undefined) => ['a', 'b', 'c', 'd'].map((member) => partitionsOf(of, member));
  assert.deepEqual(counts(map), [86, 85, 85, 0]);
  assert.deepEqual(counts(afterLeave(map, { gone: 'a', members: ['b', 'c'] })), [0, 128, 128, 0]);
  assert.deepEqual(counts(undefined), [0, 0, 0, 0]);
});

describe('afterJoin', () => {
  test('moves no more than the share of the joined member, each partition once, at most 8 at a time', () => {
    fc.assert(
      fc.property(someMembers, ([joined = '', ...others]) => {
        fc.pre(others.length > 0);
        const members = [joined, ...others];
        const before = firstMap({ members: others });
        let map = before;
        let moves = 0;
        for (;;) {
          const next = afterJoin(map, { joined, members });
          if (next === undefined) break;
          assertBatch(map, next, joined);
          moves += movedBetween(map, next).length;
          map = next;
        }
        assert.equal(moves, Math.floor(PARTITIONS / members.length));
        assert.equal(movedBetween(before, map).length, moves);
        assert.ok(spreadOf(countsOf(map, members)) <= 1);
      }),
      { seed: 302, numRuns: 100 },
    );
  });

  test('moves a batch from the member with most partitions', () => {
    const next = afterJoin(mapOf({ a: 100, b: 96, c: 60 }), { joined: 'd', members: ['a', 'b', 'c', 'd'] });
    assert.ok(next);
    assert.deepEqual(countsOf(next, ['a', 'b', 'c', 'd']), [94, 94, 60, 8]);
  });

  test('moves nothing from an owner that is not a member', () => {
    const next = afterJoin(mapOf({ a: 50, b: 206 }), { joined: 'c', members: ['a', 'c'] });
    assert.ok(next);
    assert.deepEqual(countsOf(next, ['a', 'b', 'c']), [42, 206, 8]);
  });

  test('gives nothing to a second owner where one may own', () => {
    assert.equal(afterJoin(mapOf({ a: PARTITIONS }), { joined: 'b', members: ['a', 'b'], ownersMax: 1 }), undefined);
  });
});

describe('afterLeave', () => {
  const rows: [name: string, counts: Record<string, number>, members: string[], expected: number[]][] = [
    ['those who have least', { a: 100, b: 56, gone: 50, c: 50 }, ['a', 'b', 'c'], [100, 78, 78]],
    ['one who has nothing yet', { a: 200, gone: 56 }, ['a', 'b'], [200, 56]],
    ['the only one that remains', { gone: PARTITIONS }, ['a'], [PARTITIONS]],
    ['no member, if it owned nothing', { a: 200, b: 56 }, ['a', 'b'], [200, 56]],
  ];
  for (const [name, counts, members, expected] of rows) {
    test(`gives its partitions to ${name}, and moves nothing else`, () => {
      const before = mapOf(counts);
      const after = afterLeave(before, { gone: 'gone', members });
      assert.deepEqual(countsOf(after, members), expected);
      for (const partition of movedBetween(before, after)) assert.equal(before.owners[partition], 'gone');
      assert.equal(after.epoch, before.epoch + 1);
    });
  }

  test('gives its partitions to the preferred member up to its share, and the rest to those who have least', () => {
    const members = ['a', 'b', 'next'];
    const restarted = afterLeave(mapOf({ a: 86, gone: 85, other: 85 }), { gone: 'gone', members, preferred: 'next' });
    assert.deepEqual(countsOf(restarted, members), [86, 0, 85]);
    const more = afterLeave(mapOf({ a: 50, b: 100, gone: 106 }), { gone: 'gone', members, preferred: 'next' });
    assert.deepEqual(countsOf(more, members), [70, 100, 86]);
    const unknown = afterLeave(mapOf({ a: 100, b: 100, gone: 56 }), {
      gone: 'gone',
      members: ['a', 'b'],
      preferred: 'x',
    });
    assert.deepEqual(countsOf(unknown, ['a', 'b']), [128, 128]);
  });

  test('gives everything to one other member where one may own', () => {
    const after = afterLeave(mapOf({ b: PARTITIONS }, 'b'), { gone: 'b', members: ['d', 'c', 'a'], ownersMax: 1 });
    assert.deepEqual(countsOf(after, ['a', 'c', 'd']), [PARTITIONS, 0, 0]);
    assert.equal(after.collisions, 'a');
  });

  test('leaves everything with the one owner when another member is removed', () => {
    const before = mapOf({ b: PARTITIONS }, 'b');
    const after = afterLeave(before, { gone: 'a', members: ['b', 'c'], ownersMax: 1 });
    assert.deepEqual(after, { ...before, epoch: 8 });
  });

  test('moves the collision stage to the member with fewest partitions if its owner is removed, and only then', () => {
    const before = mapOf({ a: 100, b: 60, c: 96 });
    assert.equal(afterLeave(before, { gone: 'a', members: ['b', 'c'] }).collisions, 'b');
    assert.equal(afterLeave(before, { gone: 'b', members: ['a', 'c'] }).collisions, 'a');
    assert.equal(afterLeave(mapOf({ a: 200, b: 26, c: 30 }), { gone: 'b', members: ['a', 'c'] }).collisions, 'a');
    const passing = mapOf({ b: 200, c: 55, a: 1 });
    assert.equal(afterLeave(passing, { gone: 'a', members: ['b', 'c'] }).collisions, 'c');
  });

  test('does not touch partitions of a member that is suspected too', () => {
    const after = afterLeave(mapOf({ a: 100, gone: 56, late: 100 }), { gone: 'gone', members: ['a'] });
    assert.deepEqual(countsOf(after, ['a', 'late']), [156, 100]);
  });
});

describe('Maps after joins and removals in any order', () => {
  const step = fc.record({ does: fc.constantFrom('join', 'leave', 'batch'), pick: fc.nat(1000) });
  const walk = fc.record({
    members: someMembers,
    steps: fc.array(step, { maxLength: 40 }),
    ownersMax: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  });

  test('have a member as owner of everything, rise, move what must move, and are even when settled', () => {
    fc.assert(
      fc.property(walk, ({ members: first, steps, ownersMax }) => {
        let members = [...first];
        let map = firstMap(candidates(members, ownersMax, {}));
        for (const { does, pick } of steps) {
          const member = members[pick % members.length] ?? '';
          const before = map;
          if (does === 'join') {
            members.push(`joined${members.length}.${pick}.${map.epoch}`);
          } else if (does === 'batch') {
            map = afterJoin(map, candidates(members, ownersMax, { joined: member })) ?? map;
            if (map !== before) assertBatch(before, map, member);
          } else if (members.length > 1) {
            members = members.filter((each) => each !== member);
            map = afterLeave(map, candidates(members, ownersMax, { gone: member }));
            assert.equal(map.epoch, before.epoch + 1);
            assert.equal(movedBetween(before, map).length, countsOf(before, [member])[0]);
          }
          assertOwned(map, members);
          assert.ok(new Set(map.owners).size <= (ownersMax ?? PARTITIONS));
        }
        map = settled(map, members, ownersMax);
        const owning = countsOf(map, members).filter((count) => count > 0);
        assert.equal(owning.length, Math.min(members.length, ownersMax ?? PARTITIONS));
        assert.ok(spreadOf(owning) <= 1, `they own ${owning}`);
      }),
      { seed: 303, numRuns: 60 },
    );
  });

  test('do not depend on the order, or the number of times, in which members are named', () => {
    const orders = fc.tuple(someMembers, fc.nat(), someLoads).chain(([members, pick, loads]) => {
      const shuffled = fc.shuffledSubarray(members, { minLength: members.length });
      return fc.record({ members: fc.constant(members), shuffled, pick: fc.constant(pick), loads: fc.constant(loads) });
    });
    fc.assert(
      fc.property(orders, ({ members, shuffled, pick, loads }) => {
        const twice = [...shuffled, ...members];
        const one = firstMap({ members });
        assert.deepEqual(firstMap({ members: twice }), one);
        assert.deepEqual(afterImbalance(one, { members: twice, loads }), afterImbalance(one, { members, loads }));
        const joined = 'new';
        assert.deepEqual(
          afterJoin(one, { joined, members: [joined, ...twice] }),
          afterJoin(one, { joined, members: [...members, joined] }),
        );
        const gone = members[pick % members.length] ?? '';
        const remain = (all: readonly string[]) => [joined, ...all.filter((member) => member !== gone)];
        assert.deepEqual(
          afterLeave(one, { gone, members: remain(twice) }),
          afterLeave(one, { gone, members: remain(members).toReversed() }),
        );
      }),
      { seed: 304, numRuns: 100 },
    );
  });
});

/** Loads of the first partitions; the others have none. */
function loadsFrom(...first: number[]): number[] {
  return [...first, ...Array.from({ length: PARTITIONS - first.length }, () => 0)];
}

describe('afterImbalance', () => {
  /** Five partitions for a, three for b, the others, without any load, for c. */
  const map: PartitionMap = {
    epoch: 7,
    owners: Array.from({ length: PARTITIONS }, (_, partition) => (partition < 5 ? 'a' : partition < 8 ? 'b' : 'c')),
    collisions: 'a',
  };
  const both = ['a', 'b'];
  const rows: [name: string, loads: number[], members: string[], moved: Record<number, string>][] = [
    ['nothing while members differ by a fifth', [50, 10, 0, 0, 60, 50, 50, 0], both, {}],
    ['what brings both nearest when they differ by more', [61, 5, 8, 0, 47, 50, 50, 0], both, { 2: 'b' }],
    ['nothing if it would only change who has more', [300, 0, 0, 0, 0, 10, 10, 0], both, {}],
    ['what is small enough, where the largest is not', [300, 40, 0, 0, 0, 10, 10, 0], both, { 1: 'b' }],
    [
      'from the fullest to the emptiest, past the one between',
      [40, 40, 0, 0, 0, 45, 0, 0],
      ['a', 'b', 'c'],
      { 0: 'c' },
    ],
    ['nothing without loads', [], ['a', 'b', 'c'], {}],
    ['nothing where there is one member', [10], ['a'], {}],
  ];
  for (const [name, loads, members, expected] of rows) {
    test(`moves ${name}`, () => {
      const next = afterImbalance(map, { members, loads: loadsFrom(...loads) });
      const moved = next === undefined ? [] : movedBetween(map, next);
      assert.deepEqual(Object.fromEntries(moved.map((partition) => [partition, next?.owners[partition]])), expected);
      assert.equal(next === undefined, moved.length === 0);
      if (next) assert.equal(next.epoch, 8);
    });
  }

  test('moves nothing where one may own', () => {
    const one = mapOf({ a: PARTITIONS });
    assert.equal(afterImbalance(one, { members: ['a', 'b'], loads: loadsFrom(5, 5, 5), ownersMax: 1 }), undefined);
  });

  test('makes loads more even with each batch of at most 8, until a fifth or nothing that helps is left', () => {
    fc.assert(
      fc.property(someMembers, someLoads, (members, loads) => {
        let now = firstMap({ members });
        const squares = (of: PartitionMap) => loadsOf(of, members, loads).reduce((sum, load) => sum + load * load, 0);
        for (;;) {
          const next = afterImbalance(now, { members, loads });
          if (next === undefined) break;
          const moved = movedBetween(now, next);
          assert.ok(moved.length >= 1 && moved.length <= MOVES_MAX);
          assert.ok(squares(next) < squares(now));
          assert.ok(spreadOf(loadsOf(next, members, loads)) <= spreadOf(loadsOf(now, members, loads)));
          assertOwned(next, members);
          assert.equal(next.epoch, now.epoch + 1);
          now = next;
        }
        const sums = loadsOf(now, members, loads);
        const most = Math.max(...sums);
        const least = Math.min(...sums);
        const isHelped = now.owners.some((owner, partition) => {
          const load = loads[partition] ?? 0;
          return sums[members.indexOf(owner)] === most && load > 0 && load < most - least;
        });
        assert.ok(most <= 1.2 * least || !isHelped || sums.filter((sum) => sum === most).length > 1);
      }),
      { seed: 305, numRuns: 100 },
    );
  });
});

describe('What cannot be asked for', () => {
  const map = mapOf({ a: PARTITIONS });
  const loads = loadsFrom();
  const rows: [call: () => unknown, message: string][] = [
    [() => firstMap({ members: [] }), 'members must name at least one, found none'],
    [() => afterLeave(map, { gone: 'a', members: [] }), 'members must name at least one, found none'],
    [
      () => afterLeave({ ...map, collisions: 'b' }, { gone: 'a', members: [] }),
      'members must name at least one, found none',
    ],
    [() => firstMap({ members: ['a'], ownersMax: 0 }), 'ownersMax must be an integer of at least 1, found 0'],
    [() => firstMap({ members: ['a'], ownersMax: 1.5 }), 'ownersMax must be an integer of at least 1, found 1.5'],
    [() => afterJoin(map, { joined: 'x', members: ['a'] }), 'joined must be one of the members, found "x"'],
    [() => afterLeave(map, { gone: 'a', members: ['a'] }), 'members must be those that remain, found "a"'],
    [() => afterImbalance(map, { members: ['a'], loads: [1] }), 'one number for each of 256 partitions, found 1'],
    [() => afterImbalance(map, { members: ['a'], loads: loads.with(3, -1) }), 'loads[3] must be a finite number'],
    [() => afterImbalance(map, { members: ['a'], loads: loads.with(4, Number.NaN) }), 'not negative, found NaN'],
  ];
  for (const [call, message] of rows) {
    test(`is rejected with "${message}"`, () => {
      assert.throws(call, (error) => error instanceof RangeError && error.message.includes(message));
    });
  }
});
