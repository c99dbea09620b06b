import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstMap, type PartitionMap } from '../../src/cluster/membership/partition_map.ts';
import { type Members, openMembers, type Signal, advance } from '../../src/cluster/membership/members.ts';
import {
  mapWithoutSelf,
  type Imbalance,
  imbalancedSince,
  coordinatorRecord,
} from '../../src/cluster/membership/coordinator.ts';
import { PARTITIONS } from '../../src/shards/affinity.ts';

const SUSPECT_MS = 2000;
const DOWN: Signal = { is: 'down' };

function join(sequence: number, incarnation: string, protocols = [1, 2]): Signal {
  return { is: 'join', sequence, atMs: 0, incarnation, name: `hub ${incarnation}`, protocols };
}

const expel = (sequence: number, incarnation: string): Signal => ({ is: 'expel', sequence, incarnation });
const brings = (sequence: number, map: PartitionMap): Signal => ({ is: 'map', sequence, map });
const state = (protocol: number, isSettled = true): Signal => ({ is: 'state', protocol, isSettled });
const beat = (incarnation: string, atMs: number, loads = new Map<number, number>()): Signal => {
  const sent = { incarnation, applied: 0, clockMs: atMs, room: 1, loads, seen: [] };
  return { is: 'beat', atMs, beat: sent };
};

function play(signals: readonly Signal[], from = openMembers('me', { suspectMs: SUSPECT_MS })): Members {
  return signals.reduce(advance, from);
}

/** This hub, and others that joined after it, last seen at 0; several may own partitions, and nothing is migrating. */
function cluster(others: readonly string[], options: { readonly ownersMax?: number } = {}): Members {
  const joined = ['me', ...others].map((incarnation, i) => join(i + 1, incarnation));
  const open = openMembers('me', { suspectMs: SUSPECT_MS, ...options });
  return play([{ is: 'up', atMs: -10_000 }, ...joined, state(2)], open);
}

/** A map with the given number of consecutive partitions per member. */
function mapOf(counts: Readonly<Record<string, number>>, epoch = 5): PartitionMap {
  const owners = Object.entries(counts).flatMap(([member, count]) => Array.from({ length: count }, () => member));
  assert.equal(owners.length, PARTITIONS);
  return { epoch, owners, collisions: 'me' };
}

function countsOf(map: PartitionMap | undefined): Record<string, number> {
  const counts = Map.groupBy(map?.owners ?? [], (owner) => owner);
  return Object.fromEntries([...counts].map(([owner, all]) => [owner, all.length]));
}

function mapDue(members: Members, nowMs: number, imbalance?: Imbalance): PartitionMap | undefined {
  const due = coordinatorRecord(members, nowMs, imbalance);
  return due?.is === 'map' ? due.map : undefined;
}

describe('A missing map', () => {
  const map = firstMap({ members: ['x', 'y'] });
  const rows: [name: string, signals: Signal[], nowMs: number, owners: string[] | undefined][] = [
    ['is the first one, with all members', [], 500, ['a', 'b', 'me']],
    ['is made while a change is in progress', [state(2, false)], 500, ['a', 'b', 'me']],
    ['is made without suspects', [beat('b', 900)], 2000, ['b', 'me']],
    ['is not made if all owners are members', [brings(9, mapOf({ a: 85, b: 85, me: 86 }))], 500, undefined],
    ['drops owners that are no members', [brings(9, map)], 500, ['a', 'b', 'me']],
    [
      'is one with an owner of the collision stage',
      [brings(9, { ...map, owners: map.owners.map(() => 'a') })],
      500,
      ['a'],
    ],
    ['is made by another member before this hub has joined', [expel(9, 'me')], 500, undefined],
    ['is not made without a connection', [DOWN], 500, undefined],
  ];
  for (const [name, signals, nowMs, owners] of rows) {
    test(name, () => {
      const made = mapDue(play(signals, cluster(['a', 'b'])), nowMs);
      assert.deepEqual(made && [...new Set(made.owners)].toSorted(), owners);
      if (made !== undefined) assert.ok(['me', 'a', 'b'].includes(made.collisions));
    });
  }

  test('is made by the first member that is no suspect, after the last map', () => {
    const start = play([{ is: 'up', atMs: -9000 }, join(1, 'a'), join(2, 'me'), brings(3, { ...map, epoch: 5 })]);
    assert.equal(mapDue(start, 1999), undefined);
    assert.equal(mapDue(start, 2000)?.epoch, 6);
  });

  test('gives everything to one where one may own', () => {
    const made = mapDue(play([brings(3, map)], cluster(['a'], { ownersMax: 1 })), 10);
    assert.deepEqual([new Set(made?.owners).size, made?.collisions], [1, made?.owners[0]]);
  });
});

describe('mapWithoutSelf', () => {
  test('gives to members that are no suspects what this hub has', () => {
    const map = firstMap({ members: ['me', 'a', 'b'] });
    const members = play([brings(9, map), beat('b', 900)], cluster(['a', 'b']));
    assert.deepEqual(new Set(mapWithoutSelf(members, 500)?.owners), new Set(['a', 'b']));
    const later = mapWithoutSelf(members, 2000)?.owners;
    assert.deepEqual(new Set(later?.filter((_, partition) => map.owners[partition] === 'me')), new Set(['b']));
  });

  test('does not exist without other members', () => {
    const map = firstMap({ members: ['me'] });
    assert.equal(mapWithoutSelf(play([brings(9, map)], cluster([])), 1), undefined);
    assert.equal(mapWithoutSelf(cluster(['a']), 1), undefined);
  });
});

describe('The next version of the protocol', () => {
  const owned = brings(9, mapOf({ me: 256 }));
  const rows: [name: string, signals: Signal[], due: number | undefined][] = [
    ['is due when all speak it', [state(1), owned], 2],
    ['is due while something is taken over', [state(1, false), owned], 2],
    ['is not due before there is a map: that is first', [state(1)], undefined],
    ['is not due while a member does not speak it', [state(1), owned, join(10, 'old', [1])], undefined],
    [
      'is due when the last member without it has been removed',
      [state(1), owned, join(10, 'old', [1]), expel(11, 'old')],
      2,
    ],
    ['is not due when all members write it', [state(2, false), owned], undefined],
    ['is not due if this hub does not support it', [state(2, false), owned, join(10, 'new', [2, 3])], undefined],
    ['is appended by the first', [state(1), owned, expel(10, 'me'), join(11, 'me')], undefined],
  ];
  for (const [name, signals, version] of rows) {
    test(name, () => {
      const due = coordinatorRecord(play(signals, cluster(['a'])), 500);
      assert.equal(due?.is === 'protocol' ? due.version : undefined, version);
    });
  }
});

test('With one owner at most, the member with the smallest incarnation owns everything, and nothing moves', () => {
  const one = cluster(['a'], { ownersMax: 1 });
  const due = coordinatorRecord(one, 500);
  assert.deepEqual(due?.is === 'map' && new Set(due.map.owners), new Set(['a']));
  assert.equal(coordinatorRecord(play([brings(9, mapOf({ me: 256 })), state(2)], one), 500), undefined);
});

describe('Partitions for members with less than their share', () => {
  const owned = brings(9, mapOf({ me: 256 }));
  const rows: [name: string, signals: Signal[], nowMs: number, counts: Record<string, number>][] = [
    ['are 8 at a time', [owned], 500, { me: 248, a: 8 }],
    ['go to who has fewest', [brings(9, mapOf({ me: 240, a: 16 }))], 500, { me: 232, a: 16, b: 8 }],
    ['are as many as it lacks', [brings(9, mapOf({ me: 90, a: 83, b: 83 }))], 500, { me: 87, a: 86, b: 83 }],
    ['go to no member that has its share', [brings(9, mapOf({ me: 86, a: 85, b: 85 }))], 500, {}],
    ['wait until what was moved before has arrived', [owned, state(2, false)], 500, {}],
    ['wait while a member is suspected', [owned, beat('a', 900)], 2000, {}],
    ['wait for a connection', [owned, DOWN], 500, {}],
    ['are moved by the first', [owned, expel(10, 'me'), join(11, 'me'), brings(12, mapOf({ a: 256 }, 6))], 500, {}],
    [
      'are not moved back to who has lost them because of loads',
      [brings(9, mapOf({ me: 86, a: 85, b: 85 })), brings(10, mapOf({ me: 200, a: 28, b: 28 }, 6))],
      500,
      {},
    ],
  ];
  for (const [name, signals, nowMs, counts] of rows) {
    test(name, () => {
      const map = mapDue(play(signals, cluster(['a', 'b'])), nowMs);
      assert.deepEqual(countsOf(map), counts);
    });
  }

  test('go to no more members than may own', () => {
    let members = play([owned], cluster(['a', 'b', 'c'], { ownersMax: 2 }));
    let due = coordinatorRecord(members, 500);
    for (let sequence = 10; due?.is === 'map'; sequence++) {
      members = play([brings(sequence, due.map)], members);
      due = coordinatorRecord(members, 500);
    }
    assert.deepEqual([due, countsOf(members.map)], [undefined, { me: 128, a: 128 }]);
  });
});

describe('Loads', () => {
  /** a and this hub own one half each, with these loads in each of their partitions. */
  const measured = (own: number, a: number, atMs = 0): Signal[] => {
    const of = (from: number, load: number) =>
      new Map(Array.from({ length: PARTITIONS / 2 }, (_, i) => [from + i, load] as const));
    return [{ is: 'measured', loads: of(0, own) }, beat('a', atMs, of(PARTITIONS / 2, a))];
  };
  const even = play([brings(9, mapOf({ me: 128, a: 128 }))], cluster(['a']));
  /** Looks each second, with the same loads; time until a partition moves. */
  const movedAfter = (own: number, a: number, interrupted: (second: number) => Signal[] = () => []) => {
    let [members, imbalance]: [Members, Imbalance | undefined] = [even, undefined];
    for (let second = 0; second <= 130; second++) {
      members = play([...measured(own, a, second * 1000), ...interrupted(second)], members);
      imbalance = imbalancedSince(members, second * 1000, imbalance);
      const map = mapDue(members, second * 1000, imbalance);
      if (map !== undefined) return { second, counts: countsOf(map), moved: map };
    }
    return undefined;
  };

  const rows: [name: string, own: number, a: number, second: number | undefined][] = [
    ['that differ by more than a fifth for a minute are evened out', 20, 10, 60],
    ['of others are evened out as well', 10, 20, 60],
    ['that differ by a fifth are not', 12, 10, undefined],
    ['below 1,000 locations a second in all are not', 5, 2, undefined],
  ];
  for (const [name, own, a, second] of rows) {
    test(name, () => assert.equal(movedAfter(own, a)?.second, second));
  }

  test('are evened out by 8 partitions at most, from the busy one', () => {
    const { moved, counts } = movedAfter(20, 10) ?? {};
    assert.deepEqual([counts, moved?.epoch, moved?.collisions], [{ me: 120, a: 136 }, 6, 'me']);
  });

  test('must differ for the whole minute', () => {
    const pause = (second: number) => (second === 30 ? measured(10, 10, second * 1000) : []);
    assert.equal(movedAfter(20, 10, pause)?.second, 91);
  });

  test('are measured again with the next map', () => {
    const next = (second: number) => (second === 40 ? [brings(10, mapOf({ me: 128, a: 128 }, 6))] : []);
    assert.equal(movedAfter(20, 10, next)?.second, 100);
  });

  test('move nothing while something is migrating or a member is suspected, and do so at once afterwards', () => {
    const busy = (second: number) => [state(2, second < 59 || second >= 70)];
    assert.equal(movedAfter(20, 10, busy)?.second, 70);
    let members = play(measured(20, 10), even);
    const imbalance = { epoch: 5, sinceMs: -60_000 };
    assert.ok(mapDue(members, 1999, imbalance));
    members = play([{ is: 'noResponders', atMs: 900, incarnation: 'a' }], members);
    assert.equal(mapDue(members, 1999, imbalance), undefined);
  });
});
