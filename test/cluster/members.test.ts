import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { firstMap, type PartitionMap } from '../../src/cluster/membership/partition_map.ts';
import { appliedByAll, clockDifferences, firstMember, loads } from '../../src/cluster/membership/member_views.ts';
import {
  HEARTBEAT_MS,
  type Members,
  openMembers,
  restored,
  type Signal,
  advance,
} from '../../src/cluster/membership/members.ts';
import { accusation, look, nextLookMs, type MembershipStep, suspects } from '../../src/cluster/membership/suspicion.ts';
import type { Heartbeat } from '../../src/cluster/messages/messages.ts';

const SUSPECT_MS = 2000;

function join(sequence: number, incarnation: string, atMs = 0): Signal {
  return { is: 'join', sequence, atMs, incarnation, name: `hub ${incarnation}`, protocols: [1] };
}

function beat(incarnation: string, atMs: number, more: Partial<Heartbeat> = {}): Signal {
  const sent: Heartbeat = { incarnation, applied: 0, clockMs: atMs, room: 100, loads: new Map(), seen: [], ...more };
  return { is: 'beat', atMs, beat: sent };
}

const up = (atMs: number): Signal => ({ is: 'up', atMs });
const committed = (atMs: number): Signal => ({ is: 'committed', atMs });
const noResponders = (incarnation: string, atMs: number): Signal => ({ is: 'noResponders', atMs, incarnation });
const sealed = (incarnation: string): Signal => ({ is: 'sealed', incarnation });
const overtaken = (incarnation: string): Signal => ({ is: 'overtaken', incarnation });
const failed = (incarnation: string, atMs: number): Signal => ({ is: 'failed', atMs, incarnation });
const has = (incarnation: string, sequence: number): Signal => ({ is: 'hasApplied', incarnation, sequence });
const expel = (sequence: number, incarnation: string): Signal => ({ is: 'expel', sequence, incarnation });

function play(signals: readonly Signal[], from = openMembers('me', { suspectMs: SUSPECT_MS })): Members {
  return signals.reduce(advance, from);
}

/** This hub, and others that joined after it, up since -10,000 and silent since 0, with an append stored at `committedAtMs`. */
function cluster(
  others: readonly string[],
  { committedAtMs = 1_000_000 }: { readonly committedAtMs?: number } = {},
): Members {
  const joined = ['me', ...others].map((incarnation, i) => join(i + 1, incarnation));
  const state: Signal = { is: 'state', protocol: 1, isSettled: true };
  return play([up(-10_000), ...joined, state, committed(committedAtMs)]);
}

function suspected(members: Members, nowMs: number): string[] {
  return suspects(members, nowMs).map(({ incarnation }) => incarnation);
}

/** Looks and signals in turn; returns the steps after each signal. */
function session(members: Members, steps: readonly [nowMs: number, ...signals: Signal[]][]): string[] {
  let now = members;
  return steps.map(([nowMs, ...signals]) => {
    const looked = look(play(signals, now), nowMs);
    now = looked.members;
    return looked.steps.map(show).join(' ');
  });
}

function show(step: MembershipStep): string {
  return step.do === 'append' ? step.do : `${step.do} ${step.incarnation}`;
}

describe('suspects', () => {
  const rows: [name: string, signals: Signal[], silentFromMs: number, afterMs: number][] = [
    ['one that has sent no heartbeat, 2 s after its join', [], 0, 2000],
    ['one that has sent heartbeats, 2 s after the last one', [beat('a', 300), beat('a', 700)], 700, 2000],
    ['one without responders, after 1 s', [beat('a', 300), noResponders('a', 400)], 300, 1000],
    [
      'one that sent a heartbeat after it had no responders, after 2 s',
      [noResponders('a', 300), beat('a', 400)],
      400,
      2000,
    ],
    ['one whose lack of responders is reported late, after 2 s', [beat('a', 400), noResponders('a', 300)], 400, 2000],
    ['one whose heartbeats are reported out of order, by the latest', [beat('a', 700), beat('a', 300)], 700, 2000],
    [
      'one whose heartbeat was overtaken by a later one, by that one',
      [beat('a', 300, { applied: 9 }), beat('a', 900, { applied: 8 })],
      300,
      2000,
    ],
    ['one whose clock is an hour off, as any other', [beat('a', 300, { clockMs: 3_600_000 })], 300, 2000],
    ['one whose clock was set back, as any other', [beat('a', 300), beat('a', 600, { clockMs: -9000 })], 600, 2000],
    ['one that has joined later, from then', [expel(9, 'a'), join(10, 'a', 500)], 500, 2000],
    ['no member for silence before this hub had a connection', [{ is: 'down' }, up(5000)], 5000, 2000],
    [
      'no member for missing responders before a new connection',
      [noResponders('a', 9), { is: 'down' }, up(20)],
      20,
      2000,
    ],
    ['no further member when the same connection is signaled twice', [up(1000)], 0, 2000],
  ];
  for (const [name, signals, silentFromMs, afterMs] of rows) {
    test(`names ${name}`, () => {
      const members = play(signals, cluster(['a']));
      assert.deepEqual(suspected(members, silentFromMs + afterMs - 1), []);
      assert.deepEqual(suspected(members, silentFromMs + afterMs), ['a']);
      assert.equal(nextLookMs(members, silentFromMs + afterMs - 1), silentFromMs + afterMs);
    });
  }

  test('names no member without a connection, and never this hub', () => {
    const members = cluster(['a']);
    assert.deepEqual(suspected(play([{ is: 'down' }], members), 1e9), []);
    assert.deepEqual(suspected(members, 1e9), ['a']);
  });

  test('names one without responders at once if a later member has its name', () => {
    const again: Signal = { is: 'join', sequence: 5, atMs: 0, incarnation: 'b', name: 'hub a', protocols: [1] };
    const members = play([again], cluster(['a']));
    assert.deepEqual(suspected(members, 1999), []);
    assert.deepEqual(suspected(play([noResponders('a', 1)], members), 1), ['a']);
    // The later one is judged as any other.
    assert.deepEqual(suspected(play([noResponders('b', 1)], members), 999), []);
  });

  test('never waits longer for one without responders than for others', () => {
    const hasty = openMembers('me', { suspectMs: 600 });
    const members = play([up(0), join(1, 'me'), join(2, 'a'), noResponders('a', 1)], hasty);
    assert.deepEqual([suspected(members, 599), suspected(members, 600)], [[], ['a']]);
  });

  test('ignores all messages of hubs that are not members', () => {
    const members = play([beat('x', 5), noResponders('x', 6), sealed('x'), failed('x', 7)], cluster([]));
    assert.deepEqual([...members.all.keys()], ['me']);
  });
});

describe('accusation', () => {
  const now = 10_000;
  const heartbeats = (...all: string[]): Signal[] => all.map((incarnation) => beat(incarnation, now - HEARTBEAT_MS));
  const rows: [name: string, others: string[], signals: Signal[], expected: string][] = [
    ['may be made by one of two', ['a'], [committed(now)], 'may'],
    ['may be made by one of three that receives from another', ['a', 'b'], [...heartbeats('a'), committed(now)], 'may'],
    ['needs more than half: not one of three', ['a', 'b'], [committed(now)], 'minority'],
    ['needs more than half: not two of four', ['a', 'b', 'c'], [...heartbeats('a'), committed(now)], 'minority'],
    [
      'may be made by two of four that receive from the last one',
      ['a', 'b', 'c'],
      [...heartbeats('c'), committed(now)],
      'may',
    ],
    ['needs more than half: three of five', ['a', 'b', 'c', 'd'], [...heartbeats('a', 'd'), committed(now)], 'may'],
    ['does not count one that was expelled', ['a', 'b'], [expel(9, 'b'), committed(now)], 'may'],
    [
      'does not count one without responders',
      ['a', 'b'],
      [beat('a', 9000), noResponders('a', 9001), committed(now)],
      'minority',
    ],
    ['needs an append committed within the last second', ['a'], [committed(now - 999)], 'may'],
    ['needs one committed, not a second ago', ['a'], [committed(now - 1000)], 'notCommitted'],
    ['uses the latest append, even if an earlier one is reported last', ['a'], [committed(now), committed(5)], 'may'],
    ['needs one committed at all', ['a'], [], 'notCommitted'],
    ['needs a connection', ['a'], [committed(now), { is: 'down' }], 'down'],
    ['waits for 3 s after a reconnection', ['a'], [committed(now), { is: 'down' }, up(now - 2999)], 'reconnected'],
    ['does not wait longer than 3 s', ['a'], [committed(now), { is: 'down' }, up(now - 3000)], 'may'],
    ['needs a member: not one that was expelled', ['a'], [committed(now), expel(9, 'me')], 'notMember'],
  ];
  for (const [name, others, signals, expected] of rows) {
    test(name, () => {
      const members = play(signals, cluster(others, { committedAtMs: Number.NEGATIVE_INFINITY }));
      assert.equal(accusation(members, now), expected);
    });
  }

  test('is made of a restarted hub right after a reconnection, and of no other one', () => {
    const again: Signal = { is: 'join', sequence: 5, atMs: 0, incarnation: 'b', name: 'hub a', protocols: [1] };
    const before = cluster(['a', 'c'], { committedAtMs: Number.NEGATIVE_INFINITY });
    const silent = play([again, { is: 'down' }, up(now), committed(now)], before);
    assert.equal(accusation(silent, now), 'reconnected');
    const gone = play([noResponders('a', now), noResponders('c', now)], silent);
    assert.equal(accusation(gone, now), 'may');
    assert.deepEqual(look(gone, now).steps.map(show), ['seal a']);
    assert.deepEqual(look(gone, now + 1000).steps.map(show), ['append']);
  });

  test('is not made before this hub has applied its own join', () => {
    assert.equal(accusation(play([up(0), join(1, 'a'), committed(now)]), now), 'notMember');
  });
});

test('nextLookMs names the end of the 3 s after a reconnection', () => {
  const alone = cluster([], { committedAtMs: Number.NEGATIVE_INFINITY });
  assert.equal(nextLookMs(play([{ is: 'down' }, up(9000)], alone), 9000), 12_000);
});

describe('look', () => {
  test('gives the partitions of a hub that has started again to its next process, when all have', () => {
    const again = (incarnation: string, name: string, sequence: number): Signal => {
      return { is: 'join', sequence, atMs: 0, incarnation, name, protocols: [1] };
    };
    const map = firstMap({ members: ['a', 'c'] });
    const joined = [up(-10_000), join(1, 'a'), join(2, 'c'), { is: 'map', sequence: 3, map } as const];
    const back = [again('me', 'hub a', 4), again('d', 'hub c', 5), committed(0)];
    const restarted = play([...joined, ...back, noResponders('a', 1), noResponders('c', 1)]);
    const { steps } = look(play([sealed('a')], look(restarted, 10).members), 20);
    const owners = steps.flatMap((step) => (step.do === 'expel' ? (step.map?.owners ?? []) : []));
    assert.deepEqual(
      Object.entries(Object.groupBy(owners, (owner) => owner)).map(([of, all]) => [of, all?.length]),
      [
        ['me', 128],
        ['c', 128],
      ],
    );
  });

  const three = (): Members => cluster(['a', 'b'], { committedAtMs: 0 });
  /** At `nowMs` a message of b arrives, and an append is stored. */
  const well = (nowMs: number): Signal[] => [beat('b', nowMs), committed(nowMs)];
  const rows: [name: string, start: Members, steps: [nowMs: number, ...signals: Signal[]][], expected: string[]][] = [
    [
      'seals a suspect first, then expels it, each once',
      three(),
      [[1999, ...well(1999)], [2000], [2001], [2002, sealed('a')], [2003], [2004, expel(9, 'a')], [2005]],
      ['', 'seal a', '', 'expel a', '', '', ''],
    ],
    [
      'expels no member before it is signaled that the journal is sealed',
      three(),
      [
        [2000, ...well(2000)],
        [3000, ...well(3000), overtaken('a')],
        [4000, ...well(4000), expel(9, 'b')],
      ],
      ['seal a', '', ''],
    ],
    [
      'ignores a seal that it did not request',
      three(),
      [
        [100, sealed('a')],
        [200, ...well(200), failed('a', 200)],
        [2000, ...well(2000)],
      ],
      ['', '', 'seal a'],
    ],
    [
      'seals again a little later when sealing came to nothing',
      three(),
      [[2000, ...well(2000)], [2500, failed('a', 2500)], [2599], [2600], [2601, sealed('a')]],
      ['seal a', '', '', 'seal a', 'expel a'],
    ],
    [
      'expels again at once when overtaken, a little later when failed',
      three(),
      [
        [2000, ...well(2000)],
        [2001, sealed('a')],
        [2002, { is: 'applied', sequence: 9 }, overtaken('a')],
        [2003, failed('a', 2003)],
        [2102],
        [2103],
      ],
      ['seal a', 'expel a', 'expel a', '', '', 'expel a'],
    ],
    [
      'continues even if messages arrive again, and if it may no longer accuse: the journal may be sealed',
      three(),
      [
        [2000, ...well(2000)],
        [2100, beat('a', 2100)],
        [9000, failed('a', 8000)],
        [9001, sealed('a')],
      ],
      ['seal a', '', 'seal a', 'expel a'],
    ],
    [
      'does not seal a member again that another hub has expelled in the meantime',
      three(),
      [[2000, ...well(2000)], [2100, expel(9, 'a'), failed('a', 2100)], [2200, sealed('a')], [2300]],
      ['seal a', '', '', ''],
    ],
    [
      'does nothing without a connection, and goes on when there is one',
      three(),
      [[2000, ...well(2000)], [2001, { is: 'down' }, sealed('a')], [2002], [2003, up(2003)]],
      ['seal a', '', '', 'expel a'],
    ],
    [
      'seals several at a time, but expels one by one',
      cluster(['a', 'b', 'c', 'd'], { committedAtMs: 0 }),
      [
        [2000, beat('c', 2000), beat('d', 2000), committed(2000)],
        [2001, sealed('b')],
        [2002, sealed('a')],
        [2003, expel(9, 'b')],
        [2004, expel(10, 'a')],
      ],
      ['seal a seal b', 'expel b', '', 'expel a', ''],
    ],
    [
      'asks for an append where that is all that is missing, and accuses when it was committed',
      three(),
      [[1500], [2000, beat('b', 2000)], [2001], [2002, committed(2002)]],
      ['', 'append', 'append', 'seal a'],
    ],
    [
      'accuses no member as a minority until the silent ones have been suspects for 10 s',
      cluster(['a', 'b'], { committedAtMs: 0 }),
      [[2000, committed(2000)], [11_999, beat('b', 2000), committed(11_999)], [12_000]],
      ['', '', 'seal a'],
    ],
    [
      'does not count a member whose journal is sealed',
      cluster(['a', 'b', 'c'], { committedAtMs: 0 }),
      [
        [4000, noResponders('a', 1), beat('b', 3000), committed(4000)],
        [4001, sealed('a'), noResponders('c', 4001), committed(4001)],
      ],
      ['seal a', 'seal c expel a'],
    ],
    [
      'accuses as a minority whose connections have been gone for 3 s, and only those',
      cluster(['a', 'b', 'c'], { committedAtMs: 0 }),
      [[999, noResponders('a', 999), noResponders('b', 999)], [3999, committed(3999), beat('b', 1000)], [4000]],
      ['', '', 'seal a'],
    ],
    [
      'asks for an append as a minority that waits for nothing else',
      cluster(['a', 'b'], { committedAtMs: 0 }),
      [[3999, noResponders('a', 999), beat('b', 1)], [4000], [4001, committed(4001)]],
      ['', 'append', 'seal a'],
    ],
    [
      'accuses no member for 3 s after a reconnection',
      three(),
      [[1000, { is: 'down' }], [9000, up(9000), ...well(9000)], [11_999, ...well(11_999)], [12_000]],
      ['', '', '', 'seal a'],
    ],
    [
      'does nothing as one that was expelled, nor finishes what it began',
      three(),
      [
        [2000, ...well(2000)],
        [2001, expel(9, 'me'), sealed('a')],
        [9000, committed(9000)],
      ],
      ['seal a', '', ''],
    ],
    [
      'accuses no member right after this hub itself was stopped, even as one of two',
      cluster(['a'], { committedAtMs: 0 }),
      [[100, beat('a', 100), committed(100)], [9000], [9001, beat('a', 9001), committed(9002)]],
      ['', 'append', ''],
    ],
  ];
  for (const [name, start, steps, expected] of rows) {
    test(name, () => assert.deepEqual(session(start, steps), expected));
  }

  test('returns the journal to seal, and expels with the current map and sequence', () => {
    const map = firstMap({ members: ['me', 'a', 'b'] });
    const start = play([{ is: 'map', sequence: 7, map }, ...well(2000)], three());
    const first = look(start, 2000);
    assert.deepEqual(first.steps, [{ do: 'seal', incarnation: 'a' }]);
    const second = look(play([sealed('a')], first.members), 2001);
    const [step] = second.steps;
    assert.ok(step?.do === 'expel' && step.map);
    assert.equal(step.expects, 7);
    assert.equal(step.map.epoch, 2);
    assert.deepEqual(new Set(step.map.owners), new Set(['me', 'b']));
    const third = look(play([{ is: 'applied', sequence: 8 }, overtaken('a')], second.members), 2002);
    assert.deepEqual(third.steps, [{ ...step, expects: 8 }]);
  });

  test('gives nothing of the one to the next', () => {
    const map = firstMap({ members: ['me', 'a', 'b', 'c', 'd'] });
    const silent = play(
      [{ is: 'map', sequence: 7, map }, committed(2000)],
      cluster(['a', 'b', 'c', 'd'], { committedAtMs: 0 }),
    );
    const sealing = look(play([beat('c', 2000), beat('d', 500)], silent), 2000).members;
    const { steps } = look(play([sealed('a'), beat('b', 2400)], sealing), 2500);
    const step = steps.find((each) => each.do === 'expel');
    assert.ok(step?.map);
    const given = step.map.owners.filter((_, partition) => map.owners[partition] === 'a');
    // b is being sealed, although its messages arrive again; d has just become a suspect.
    assert.deepEqual(new Set(given), new Set(['me', 'c']));
  });

  test('gives everything to one while one may own', () => {
    const open = openMembers('me', { suspectMs: SUSPECT_MS, ownersMax: 1 });
    const map = firstMap({ members: ['a', 'b', 'me'], ownersMax: 1 });
    const joined = [up(-9000), join(1, 'a'), join(2, 'b'), join(3, 'me'), { is: 'map', sequence: 4, map } as const];
    const sealing = look(play([...joined, ...well(2000)], open), 2000).members;
    const [step] = look(play([sealed('a')], sealing), 2001).steps;
    assert.ok(step?.do === 'expel' && step.map);
    assert.deepEqual([new Set(step.map.owners), step.map.collisions], [new Set(['b']), 'b']);
  });
});

describe('Records', () => {
  test('determine the members, and the member that joined first has the smallest index', () => {
    const members = cluster(['b', 'a']);
    const first = (...signals: Signal[]) => firstMember(play(signals, members))?.incarnation;
    assert.equal(first(), 'me');
    assert.equal(first({ is: 'leave', sequence: 4, incarnation: 'me' }), 'b');
    assert.equal(first(expel(4, 'me'), expel(5, 'b'), join(6, 'me')), 'a');
    assert.equal(first(beat('b', 5), noResponders('me', 6)), 'me');
    assert.equal(firstMember(openMembers('me', { suspectMs: 1 })), undefined);
  });

  test('bring maps; one that is no later than the last is not taken', () => {
    const map = (epoch: number): PartitionMap => ({ ...firstMap({ members: ['me'] }), epoch });
    const members = play([{ is: 'map', sequence: 9, map: map(5) }], cluster(['a']));
    assert.equal(members.map?.epoch, 5);
    assert.equal(play([{ is: 'map', sequence: 10, map: map(5) }], members).map, members.map);
    assert.equal(play([{ ...expel(10, 'a'), map: map(6) } as Signal], members).map?.epoch, 6);
    assert.equal(play([{ is: 'leave', sequence: 10, incarnation: 'a', map: map(4) }], members).map?.epoch, 5);
  });

  test('may have begun with a snapshot', () => {
    const map = firstMap({ members: ['a'] });
    const protocols = [1];
    const all = [
      { incarnation: 'b', name: 'hub b', protocols, index: 8 },
      { incarnation: 'a', name: 'hub a', protocols, index: 5 },
    ];
    const state = { protocol: 1, isSettled: true };
    const members = restored(openMembers('me', { suspectMs: SUSPECT_MS }), { members: all, map, ...state }, 70);
    const joins = [join(5, 'a', 70), join(8, 'b', 70)];
    const advance = play([...joins, { is: 'state', ...state }, { is: 'map', sequence: 9, map }]);
    assert.deepEqual(members, { ...advance, applied: 8 });
    assert.equal(firstMember(play([expel(9, 'a')], members))?.incarnation, 'b');
  });

  test('mark members that must own more: those that join or remain after a removal, until they have their share', () => {
    const filling = (members: Members) =>
      [...members.all.values()].filter((each) => each.isFilling).map(({ name }) => name);
    const owned = firstMap({ members: ['me'] });
    const brings = (sequence: number, counts: Readonly<Record<string, number>>): Signal => {
      const owners = Object.entries(counts).flatMap(([who, count]) => Array.from({ length: count }, () => who));
      return { is: 'map', sequence, map: { ...owned, epoch: sequence, owners } };
    };
    let members = play([brings(4, { me: 256 })], cluster(['a', 'b']));
    assert.deepEqual(filling(members), ['hub a', 'hub b']);
    members = play([brings(5, { me: 120, a: 86, b: 50 })], members);
    assert.deepEqual(filling(members), ['hub b']);
    // Because of loads.
    members = play([brings(6, { me: 120, a: 40, b: 96 })], members);
    assert.deepEqual(filling(members), []);
    members = play([join(7, 'c')], members);
    assert.deepEqual(filling(members), ['hub c']);
    assert.deepEqual(filling(play([expel(8, 'c')], members)), ['hub a']);
  });

  test('come in order, each once', () => {
    const message = 'Cannot apply a record: sequence must be above 2, found 2';
    assert.throws(() => play([join(2, 'b')], cluster(['a'])), { name: 'RangeError', message });
  });

  test('of a repeated join change nothing', () => {
    const members = cluster(['a', 'b']);
    assert.deepEqual(play([join(9, 'a', 700)], members).all, members.all);
  });
});

describe('appliedByAll', () => {
  const rows: [name: string, signals: Signal[], expected: number][] = [
    ['is the join of a member without heartbeats yet: it serves from there on', [], 3],
    ['is the least of all', [beat('a', 1, { applied: 6 }), beat('b', 1, { applied: 5 })], 5],
    ['is at most what this hub has applied', [beat('a', 1, { applied: 60 }), beat('b', 1, { applied: 50 })], 7],
    [
      'does not fall when a beat is overtaken',
      [beat('a', 1, { applied: 6 }), beat('b', 1, { applied: 5 }), beat('b', 2, { applied: 4 })],
      5,
    ],
    ['does not fall below a join', [beat('b', 1, { applied: 1 })], 3],
    [
      'is what a member says between its beats, if that is more',
      [beat('b', 1, { applied: 8 }), has('a', 6), has('a', 5), beat('a', 2, { applied: 4 })],
      6,
    ],
    ['is held up by one that is silent', [beat('b', 1, { applied: 8 }), noResponders('a', 1)], 4],
    ['does not count who was expelled', [beat('b', 1, { applied: 8 }), expel(8, 'a')], 8],
    ['is what this hub has applied when it is alone', [expel(8, 'a'), expel(9, 'b')], 9],
  ];
  for (const [name, signals, expected] of rows) {
    test(name, () => {
      const first = [join(1, 'me'), join(3, 'b'), join(4, 'a'), { is: 'applied', sequence: 7 } as const];
      assert.equal(appliedByAll(play([up(0), ...first, ...signals])), expected);
    });
  }
});

describe('clockDifferences', () => {
  /** An exchange of that duration with a member whose clock is that far ahead. */
  const at = (aheadMs: number, tookMs = 2): Signal => {
    const askedMs = 500;
    return {
      is: 'clock',
      incarnation: 'a',
      askedMs,
      answeredMs: askedMs + tookMs,
      clockMs: 500 + tookMs / 2 + aheadMs,
    };
  };
  const rows: [name: string, signals: Signal[], aheadMs: number, isWarning: boolean][] = [
    ['shows a clock that is ahead', [at(30)], 30, false],
    ['does not warn of 100 ms', [at(100)], 100, false],
    ['warns of more than 100 ms ahead', [at(102)], 102, true],
    ['warns of more than 100 ms behind', [at(-102)], -102, true],
    ['does not warn of what a slow exchange may have made up', [at(-900, 2000)], -900, false],
    ['takes the most exact exchange', [at(-900, 2000), at(-2, 3), at(-700, 1500)], -2, false],
    ['takes the latest of those that are as exact', [at(900), at(3)], 3, false],
    [
      'forgets a clock that was set, after 8 exchanges',
      [at(900), ...Array.from({ length: 8 }, () => at(3, 4))],
      3,
      false,
    ],
    ['still shows it before', [at(900), ...Array.from({ length: 7 }, () => at(3, 4))], 900, true],
  ];
  for (const [name, signals, aheadMs, isWarning] of rows) {
    test(name, () => {
      // Clock values in heartbeats depend on when they are read.
      const late = Array.from({ length: 20 }, (_, i) => beat('a', 9000 + i, { clockMs: 1 }));
      const members = play([...signals, ...late], cluster(['a', 'b']));
      assert.deepEqual(clockDifferences(members), [{ incarnation: 'a', name: 'hub a', aheadMs, isWarning }]);
    });
  }
});

test('loads are the last reports of each owner, or measurements of this hub, and room is reported by member', () => {
  const map = firstMap({ members: ['a', 'me'] });
  const advance = (load: number) => new Map([0, 1, 2, 3].map((partition) => [partition, load + partition]));
  const beats = [beat('a', 1, { loads: advance(90) }), beat('a', 2, { loads: advance(10), room: 7 })];
  const own: Signal = { is: 'measured', loads: new Map([0, 1, 4].map((partition) => [partition, 70])) };
  const members = play([{ is: 'map', sequence: 9, map }, ...beats, own], cluster(['a']));
  assert.deepEqual(loads(members).slice(0, 5), [10, 70, 12, 0, 0]);
  assert.equal(members.all.get('a')?.beat?.room, 7);
  assert.equal(loads(members).length, 256);
  assert.deepEqual(loads(openMembers('me', { suspectMs: 1 })), []);
});

test('a hub with a slow start suspects no member when it joins: it was not subscribed before', () => {
  const members = play([up(0), join(1, 'other'), noResponders('other', 9000), join(2, 'me', 10_000)]);
  assert.deepEqual(suspected(members, 10_500), []);
  assert.deepEqual(suspected(members, 10_000 + SUSPECT_MS), ['other']);
});

test('openMembers rejects a silence of 0', () => {
  const message = 'Cannot watch members: suspectMs must be above 0, found 0';
  assert.throws(() => openMembers('me', { suspectMs: 0 }), { name: 'RangeError', message });
});

/** An event some time after the previous one; a record if it has a sequence. */
interface RandomSignal {
  readonly afterMs: number;
  readonly make: (atMs: number, sequence: number) => Signal;
}

/** An event of a random member, with a weight. */
function happens(weight: number, make: (who: string, atMs: number, sequence: number, some: number) => Signal) {
  const arbitrary = fc
    .record({ afterMs: fc.nat(250), who: fc.constantFrom('me', 'a', 'b', 'c'), some: fc.nat(400) })
    .map(
      ({ afterMs, who, some }): RandomSignal => ({ afterMs, make: (at, sequence) => make(who, at, sequence, some) }),
    );
  return { weight, arbitrary };
}

const signals = fc.array(
  fc.oneof(
    // One heartbeat in ten was overtaken; others come late.
    happens(120, (who, atMs, _, some) => beat(who, atMs - some, { applied: some % 10 === 0 ? some : 400 })),
    happens(80, (_, atMs) => committed(atMs)),
    happens(40, (who, atMs) => noResponders(who, atMs)),
    happens(60, sealed),
    happens(20, failed),
    happens(20, overtaken),
    happens(10, (who, atMs, sequence) => join(sequence, who, atMs)),
    happens(5, (who, _, sequence) => expel(sequence, who === 'me' ? 'c' : who)),
    happens(1, (_who, _atMs, sequence) => expel(sequence, 'me')),
    happens(3, () => ({ is: 'down' })),
    happens(10, (_, atMs) => up(atMs)),
  ),
  { minLength: 20, maxLength: 120 },
);

/** All have joined and are up, so that later events have effects. */
const BEGIN: readonly Signal[] = [
  up(-5000),
  ...['me', 'a', 'b', 'c'].map((incarnation, i) => join(i + 1, incarnation)),
];

/** Result of the rules for a whole history, computed from its beginning each time. */
function judged(history: readonly Signal[], nowMs: number): { suspects: string[]; accusing: string } {
  const joinedAt = new Map<string, number>();
  for (const [at, signal] of history.entries()) {
    if (signal.is === 'expel') joinedAt.delete(signal.incarnation);
    if (signal.is === 'join' && !joinedAt.has(signal.incarnation)) joinedAt.set(signal.incarnation, at);
  }
  const ups = history.filter((signal) => signal.is === 'up' || signal.is === 'down');
  const lastDown = ups.findLastIndex(({ is }) => is === 'down');
  const upSignal = ups[lastDown + 1];
  const upAtMs = upSignal?.is === 'up' ? upSignal.atMs : undefined;
  const upAt = upSignal === undefined ? -1 : history.indexOf(upSignal);
  /** Time since a member is suspected, and time that a minority waits before it accuses it. */
  const suspicion = (who: string): { ms: number; minorityMs: number } => {
    if (who === 'me' || upAtMs === undefined) return { ms: -1, minorityMs: 0 };
    let lastSeenMs = Number.NEGATIVE_INFINITY;
    let applied = -1;
    let isUnreachable = false;
    for (const [at, signal] of history.entries()) {
      if (at < (joinedAt.get(who) ?? 0)) continue;
      if (at === upAt) isUnreachable = false;
      if (at === joinedAt.get(who) && signal.is === 'join') lastSeenMs = signal.atMs;
      if (signal.is === 'join' && signal.incarnation === 'me' && at === joinedAt.get('me')) {
        // Earlier messages do not count.
        lastSeenMs = Math.max(lastSeenMs, signal.atMs);
        isUnreachable = false;
      }
      if (signal.is === 'beat' && signal.beat.incarnation === who && signal.beat.applied >= applied) {
        applied = signal.beat.applied;
        lastSeenMs = Math.max(lastSeenMs, signal.atMs);
        isUnreachable = false;
      }
      if (signal.is === 'noResponders' && signal.incarnation === who && signal.atMs >= lastSeenMs) isUnreachable = true;
    }
    const silentMs = nowMs - Math.max(lastSeenMs, upAtMs);
    return { ms: silentMs - (isUnreachable ? 1000 : SUSPECT_MS), minorityMs: isUnreachable ? 3000 : 10_000 };
  };
  const silent = [...joinedAt.keys()].filter((who) => suspicion(who).ms >= 0);
  const isOverdue = (who: string): boolean => suspicion(who).ms >= suspicion(who).minorityMs;
  const reachableCount = joinedAt.size - silent.length;
  const last = [...joinedAt.keys()].at(-1) ?? '';
  const isHalf = reachableCount === joinedAt.size / 2 && !silent.includes(last);
  const isMinority = joinedAt.size !== 2 && reachableCount <= joinedAt.size / 2 && !isHalf;
  const keptMs = history.map((signal) => (signal.is === 'committed' ? signal.atMs : Number.NEGATIVE_INFINITY));
  const ladder: [refused: boolean, why: string][] = [
    [!joinedAt.has('me'), 'notMember'],
    [upAtMs === undefined, 'down'],
    [nowMs - (upAtMs ?? 0) < 3000, 'reconnected'],
    [isMinority && silent.length > 0 && !silent.some(isOverdue), 'minority'],
    [nowMs - Math.max(...keptMs) >= 1000, 'notCommitted'],
  ];
  return { suspects: silent.toSorted(), accusing: ladder.find(([refused]) => refused)?.[1] ?? 'may' };
}

describe('Members in any history', () => {
  test('are suspected and accused according to the rules for the whole history', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(signals, (all) => {
        let members = play(BEGIN);
        const history = [...BEGIN];
        let nowMs = 0;
        for (const { afterMs, make } of all) {
          nowMs += afterMs;
          const before = judged(history, nowMs);
          assert.deepEqual(suspected(members, nowMs).toSorted(), before.suspects);
          assert.equal(accusation(members, nowMs), before.accusing);
          const kind = `${before.accusing}${before.suspects.length > 0}`;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
          const signal = make(nowMs, history.length + 1);
          history.push(signal);
          members = advance(members, signal);
        }
      }),
      { seed: 401, numRuns: 500 },
    );
    // All kinds of situations have come up, some of them often.
    for (const kind of [
      'maytrue',
      'mayfalse',
      'minoritytrue',
      'notCommittedtrue',
      'reconnectedtrue',
      'notMemberfalse',
    ]) {
      assert.ok((seen.get(kind) ?? 0) > 20, `${kind}: ${seen.get(kind)}`);
    }
  });

  test('are sealed only by members that may accuse, then expelled, one at a time; and applied sequences never decrease', () => {
    let expelled = 0;
    fc.assert(
      fc.property(signals, (all) => {
        let members = play(BEGIN);
        let nowMs = 0;
        const asked = new Map<string, 'seal' | 'sealed' | 'expel'>();
        for (const [i, { afterMs, make }] of all.entries()) {
          nowMs += afterMs;
          const signal = make(nowMs, i + 10);
          const appliedBefore = appliedByAll(members);
          members = advance(members, signal);
          assert.ok(appliedByAll(members) >= appliedBefore);
          if (signal.is === 'expel') asked.delete(signal.incarnation);
          if (signal.is === 'sealed' && asked.get(signal.incarnation) === 'seal')
            asked.set(signal.incarnation, 'sealed');
          if ((signal.is === 'failed' || signal.is === 'overtaken') && asked.get(signal.incarnation) === 'expel') {
            asked.set(signal.incarnation, 'sealed');
          }
          const accusing = accusation(members, nowMs);
          const looked = look(members, nowMs);
          members = looked.members;
          for (const step of looked.steps) {
            assert.notEqual(accusing, 'down');
            assert.notEqual(accusing, 'notMember');
            if (step.do === 'append') continue;
            assert.notEqual(step.incarnation, 'me');
            if (step.do === 'seal') {
              assert.ok(accusing === 'may' || asked.get(step.incarnation) === 'seal', `sealed although ${accusing}`);
            } else {
              expelled++;
              assert.equal(asked.get(step.incarnation), 'sealed');
              assert.ok(![...asked.values()].includes('expel'), 'two are expelled at a time');
            }
            asked.set(step.incarnation, step.do);
          }
          assert.deepEqual(
            look(members, nowMs).steps.filter(({ do: what }) => what !== 'append'),
            [],
          );
        }
      }),
      { seed: 402, numRuns: 500 },
    );
    assert.ok(expelled > 20, `only ${expelled} expelled`);
  });

  test('give the same answers until the next look is due', () => {
    fc.assert(
      fc.property(signals, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (all, part) => {
        let members = play(BEGIN);
        let nowMs = 0;
        for (const [i, { afterMs, make }] of all.entries()) {
          nowMs += afterMs;
          members = look(advance(members, make(nowMs, i + 10)), nowMs).members;
          const nextMs = Math.min(nextLookMs(members, nowMs), nowMs + 100_000);
          assert.ok(nextMs > nowMs);
          const laterMs = nowMs + part * (nextMs - nowMs);
          if (laterMs >= nextMs) continue;
          assert.deepEqual(suspected(members, laterMs), suspected(members, nowMs));
          assert.equal(accusation(members, laterMs), accusation(members, nowMs));
          assert.deepEqual(look(members, laterMs).steps, look(members, nowMs).steps);
        }
      }),
      { seed: 403, numRuns: 300 },
    );
  });
});

test('A member with regular heartbeats is never suspected, however late each is within the rest', () => {
  const late = fc.array(fc.nat(SUSPECT_MS - HEARTBEAT_MS - 1), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(late, (lateMs) => {
      // Sent every HEARTBEAT_MS, received later and in order.
      let members = cluster(['a']);
      let lastSeenMs = 0;
      for (const [i, ms] of lateMs.entries()) {
        lastSeenMs = Math.max(lastSeenMs, (i + 1) * HEARTBEAT_MS + ms);
        assert.deepEqual(suspected(members, lastSeenMs), []);
        members = play([beat('a', lastSeenMs)], members);
      }
    }),
    { seed: 404, numRuns: 200 },
  );
});
