import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Packr } from 'msgpackr';
import { type ConfigBody, type ConfigRecord, packRecord, unpackRecord } from '../../src/cluster/config_record.ts';
import {
  applied,
  type ConfigState,
  EMPTY_STATE,
  type EntityText,
  mapFields,
  partitionMap,
  restored,
  snapshotParts,
  takeOvers,
  toDelete,
} from '../../src/cluster/config_state.ts';
import { afterLeave, firstMap, type PartitionMap } from '../../src/cluster/map.ts';
import { lend } from '../../src/model/borrowed.ts';
import { PARTITIONS } from '../../src/shards/affinity.ts';
import { type Dice, diceOf } from '../support/dice.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const NO_MAP = mapFields(undefined);
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

function stateAfter(bodies: readonly ConfigBody[], from = EMPTY_STATE, first = 1): ConfigState {
  return bodies.reduce((state, body, i) => applied(state, { sequence: first + i, id: `${first + i}`, body }), from);
}

const join = (incarnation: string): ConfigBody => {
  return { kind: 'join', incarnation, name: `hub ${incarnation}`, protocols: [1, 2], digest: 'd' };
};
const map = (map: PartitionMap): ConfigBody => ({ kind: 'map', ...mapFields(map) });
const took = (by: string, of: string, partitions: readonly number[]): ConfigBody => {
  return { kind: 'took', by, of, partitions, requests: [] };
};
const expel = (incarnation: string, next?: PartitionMap): ConfigBody<'expel'> => {
  return { kind: 'expel', incarnation, ...(next === undefined ? NO_MAP : mapFields(next)) };
};

const leave = (incarnation: string, last?: PartitionMap): ConfigBody => ({
  ...expel(incarnation, last),
  kind: 'leave',
});

/** Whatever records there may be, sensible ones more often than not. */
function history(dice: Dice, length: number): ConfigBody[] {
  const bodies: ConfigBody[] = [];
  let state = EMPTY_STATE;
  for (let i = 0; i < length; i++) {
    const body = anyRecord(dice, state);
    bodies.push(body);
    state = stateAfter([body], state, i + 1);
  }
  return bodies;
}

function anyRecord(dice: Dice, state: ConfigState): ConfigBody {
  const name = NAMES[dice(NAMES.length)] ?? 'a';
  const other = NAMES[dice(NAMES.length)] ?? 'a';
  const kind = dice(10);
  const fields = mapFields(anyMap(dice, state));
  if (kind < 2) return join(name);
  if (kind === 2) return { kind: 'map', ...fields };
  if (kind === 3) return { kind: dice(2) === 0 ? 'expel' : 'leave', incarnation: name, ...fields };
  if (kind === 4) return { kind: 'protocol', version: 1 + dice(3) };
  if (kind === 5) return { kind: 'ensure', by: name, providers: [['p', '{"id":"p"}']] };
  if (kind < 8) {
    const text = dice(3) === 0 ? null : `"${dice(100)}"`;
    return {
      ...{ kind: 'change', by: name },
      changes: [
        ['zone', 'z', '{"id":"z"}', false],
        ['setting', `s${dice(4)}`, text, false],
      ],
    };
  }
  const [some] = takeOvers(state);
  if (some !== undefined && dice(4) > 0) return took(some.by, some.of.incarnation, some.partitions.slice(dice(3)));
  return took(name, other, dice(3) === 0 ? [] : ALL.filter(() => dice(2) === 0));
}

function anyMap(dice: Dice, { map, members }: ConfigState): PartitionMap | undefined {
  if (dice(8) === 0) return undefined;
  // Some have left, and some is nobody.
  const owners = dice(4) === 0 ? [...NAMES, ''] : [...members.keys(), ...(dice(2) === 0 ? [''] : [])];
  const one = (): string => owners[dice(Math.max(1, owners.length))] ?? '';
  return { epoch: (map?.epoch ?? 0) + dice(3), owners: ALL.map(one), collisions: one() };
}

for (let seed = 1; seed <= 40; seed++) {
  test(`The state after a snapshot and what is behind it is the state after all, seed ${seed}`, () => {
    const dice = diceOf(seed);
    const bodies = history(dice, 60);
    const whole = stateAfter(bodies);
    for (let at = 0; at <= bodies.length; at += 1 + dice(6)) {
      const parts = snapshotParts(stateAfter(bodies.slice(0, at)), []);
      const { state, entities } = restored(parts);
      assert.deepEqual(entities, []);
      const end = stateAfter(bodies.slice(at), state, at + 1);
      assert.deepEqual(end, whole);
      // In the same order too.
      for (const field of ['settings', 'members', 'dead'] as const) {
        assert.deepEqual([...end[field].keys()], [...whole[field].keys()]);
      }
    }
  });

  test(`What is left of the dead is what nobody has taken who owned it, seed ${seed}`, () => {
    const bodies = history(diceOf(seed), 60);
    for (let length = 1; length <= bodies.length; length += 7) {
      const part = bodies.slice(0, length);
      const { dead } = stateAfter(part);
      assert.deepEqual(
        new Map([...dead].map(([name, { left }]) => [name, left])),
        new Map(NAMES.flatMap((name) => leftOf(name, part))),
      );
    }
  });
}

/** The same, found out by looking at each record anew. */
function leftOf(name: string, bodies: readonly ConfigBody[]): [string, number[]][] {
  const isEnd = (body: ConfigBody) => (body.kind === 'expel' || body.kind === 'leave') && body.incarnation === name;
  const before = (at: number) => stateAfter(bodies.slice(0, at));
  const end = bodies.findLastIndex((body, at) => isEnd(body) && before(at).members.has(name));
  if (end === -1) return [];
  let left = ALL.filter((partition) => before(end).map?.owners[partition] === name);
  for (const [at, body] of bodies.entries()) {
    if (at < end || body.kind !== 'took' || body.of !== name) continue;
    if (body.partitions.length === 0 && left.length === 0) return [];
    const { members, map } = before(at);
    const isTaken = (each: number) => body.partitions.includes(each) && map?.owners[each] === body.by;
    if (members.has(body.by)) left = left.filter((each) => !isTaken(each));
  }
  return [[name, left]];
}

test('applied() changes no state that it was given', () => {
  const bodies = history(diceOf(7), 80);
  const states = bodies.map((_, i) => stateAfter(bodies.slice(0, i)));
  const texts = states.map((state) => snapshotParts(state, []));
  for (const [i, body] of bodies.entries()) {
    const state = states[i] ?? EMPTY_STATE;
    applied(state, { sequence: i + 1, id: 'x', body });
    assert.deepEqual(snapshotParts(state, []), texts[i]);
  }
});

test('Members are in the order of their joins, with the sequence of each', () => {
  const { members } = stateAfter([join('b'), join('a'), join('c'), join('a'), expel('b'), join('d')]);
  assert.deepEqual(
    [...members.values()].map(({ incarnation, index }) => [incarnation, index]),
    [
      ['a', 2],
      ['c', 3],
      ['d', 6],
    ],
  );
  const { kind: _, ...joined } = join('a');
  assert.deepEqual(members.get('a'), { ...joined, index: 2 });
});

test('A map that was made without knowing the last one is taken by none', () => {
  const first = firstMap({ members: ['a'] });
  const second: PartitionMap = { ...firstMap({ members: ['b'] }), epoch: 2 };
  assert.deepEqual(stateAfter([join('a'), map(second), map(first)]).map, second);
  assert.deepEqual(stateAfter([join('a'), map(second), expel('a')]).map, second);
  assert.deepEqual(stateAfter([map(first), map({ ...second, epoch: 1 })]).map, first);
});

test('The heir of a member takes over all that it owned, and then its streams are deleted', () => {
  const owned = firstMap({ members: ['a', 'b'], ownersMax: 1 });
  const next = afterLeave(owned, { gone: 'a', members: ['b'], ownersMax: 1 });
  let state = stateAfter([join('a'), join('b'), map(owned), expel('a', next)]);
  const of = { incarnation: 'a', index: 1, left: ALL };
  assert.deepEqual([takeOvers(state), toDelete(state)], [[{ of, by: 'b', partitions: ALL }], []]);
  state = stateAfter([took('b', 'a', ALL.slice(0, 100)), took('b', 'a', [])], state, 5);
  assert.deepEqual(
    takeOvers(state).map(({ partitions }) => partitions),
    [ALL.slice(100)],
  );
  state = stateAfter([took('b', 'a', ALL.slice(90))], state, 7);
  assert.deepEqual([takeOvers(state), toDelete(state)], [[], [{ ...of, left: [] }]]);
  state = stateAfter([took('b', 'a', [])], state, 8);
  assert.deepEqual([takeOvers(state), toDelete(state), state.dead.size], [[], [], 0]);
});

test('The streams of a member that has owned nothing are deleted', () => {
  const state = stateAfter([join('a'), join('b'), map(firstMap({ members: ['a'] })), leave('b')]);
  assert.deepEqual([takeOvers(state), toDelete(state).map(({ incarnation }) => incarnation)], [[], ['b']]);
});

test('The heir of a taker takes over from both, and what the taker says afterwards counts for nothing', () => {
  const owned = firstMap({ members: ['a'] });
  const second = afterLeave(owned, { gone: 'a', members: ['b'] });
  const third = afterLeave(second, { gone: 'b', members: ['c'] });
  const deaths = [expel('a', second), expel('b', third)];
  const state = stateAfter([...['a', 'b', 'c'].map(join), map(owned), ...deaths, took('b', 'a', ALL)]);
  assert.deepEqual(
    takeOvers(state).map(({ of, by, partitions }) => [of.incarnation, by, partitions.length]),
    [
      ['a', 'c', PARTITIONS],
      ['b', 'c', PARTITIONS],
    ],
  );
});

test('What the last member has left waits until there is a map with a new one', () => {
  const owned = firstMap({ members: ['a'] });
  const left = stateAfter([join('a'), map(owned), leave('a', owned)]);
  assert.deepEqual([takeOvers(left), left.dead.get('a')?.left.length], [[], PARTITIONS]);
  const found = takeOvers(stateAfter([join('b'), map({ ...firstMap({ members: ['b'] }), epoch: 2 })], left, 4));
  assert.deepEqual(
    found.map(({ by, partitions }) => [by, partitions.length]),
    [['b', PARTITIONS]],
  );
});

test('A map goes through a record and back', () => {
  const dice = diceOf(3);
  const maps = Array.from({ length: 50 }, () => anyMap(dice, stateAfter(history(dice, 20))));
  for (const each of [undefined, ...maps.filter((found) => found !== undefined && found.epoch > 0)]) {
    const bytes = packRecord('1', { kind: 'map', ...mapFields(each) });
    const { body }: ConfigRecord = unpackRecord(lend(bytes), 1);
    assert.deepEqual(body.kind === 'map' && partitionMap(body), each);
  }
  const owners = ALL.map(() => 0);
  assert.throws(
    () => partitionMap({ epoch: 1, members: ['a'], owners: owners.with(7, 1), collisionOwner: 0 }),
    /^ConfigRecordError: Cannot read a partition map: owners\[7\] must be -1 or below 1, but is 1$/,
  );
  assert.throws(
    () => partitionMap({ epoch: 1, members: [], owners: ALL.map(() => -1), collisionOwner: 0 }),
    /collisionOwner/,
  );
});

test('A snapshot holds all entities in their order, in messages below 4 MB, however long texts are', () => {
  const long = (length: number, of: string) => JSON.stringify({ id: 'z', name: of.repeat(length) });
  const entities: EntityText[] = [
    { kind: 'zone', id: 'z', text: long(5_500_001, 'x') },
    { kind: 'zone', id: 'y', text: long(1_300_001, '😀') },
    { kind: 'fence', id: 'ä', text: long(2_600_000, 'ß') },
    ...Array.from({ length: 3000 }, (_, i): EntityText => ({ kind: 'provider', id: `${i}`, text: long(3000, '€') })),
    { kind: 'anchor', id: 'z', text: '' },
  ];
  const state = stateAfter([
    { kind: 'change', by: 'a', changes: [['setting', 'rules', long(4_500_000, 'r'), false]] },
    join('a'),
  ]);
  const parts = snapshotParts(state, entities.values());
  for (const { length } of parts) assert.ok(length > 0 && length < 4_000_000, `${length}`);
  assert.deepEqual(restored(parts), { state, entities });
  assert.ok(parts.length < 20, `${parts.length}`);
});

const packr = new Packr({ useRecords: false });
const HEAD = snapshotParts(EMPTY_STATE, []);
const PART = "Cannot read message 2 of the configuration's snapshot";
const head = (...with_: readonly [at: number, value: unknown][]): Uint8Array[] => {
  const values = packr.unpack(HEAD[0] ?? new Uint8Array()) as unknown[];
  for (const [at, value] of with_) values[at] = value;
  return [packr.pack(values)];
};
const texts = (...rows: unknown[]): Uint8Array => packr.pack([1, 'texts', rows]);

const DAMAGED: readonly [what: string, parts: readonly Uint8Array[], message: string | RegExp][] = [
  ['no messages', [], /message 1 of the configuration's snapshot: there is none$/],
  ['another version', head([0, 2]), /version must be 1, but is 2$/],
  ['texts in the place of the state', [texts()], /message 1 .*: kind must be state, but is "texts"$/],
  ['a wrong member', head([3, [['a']]]), /: joined must be a list, each of them .*, but is \[\["a"\]\]$/],
  ['a wrong partition', head([4, [['a', 1, 1, [256]]]]), /: dead must be a list, .*a number below 256/],
  ['a short map', head([7, [0]]), /: owners must be a list of 256/],
  ['an owner that is no member', head([5, 1], [7, ALL]), /owners\[0\] must be -1 or below 0, but is 0$/],
  ['the state twice', [...HEAD, ...HEAD], `${PART}: kind must be texts, but is "state"`],
  ['no msgpack', [...HEAD, Uint8Array.of(0x92)], `${PART}: 1 bytes are not msgpack`],
  ['an unknown kind', [...HEAD, texts(['thing', 'a', '', false])], /message 2 .*: rows must be a list.*"thing"/],
  [
    'a text without its end',
    [...HEAD, texts(['zone', 'a', '{', true])],
    `${PART}: the text of zone "a" must go on, but does not`,
  ],
  [
    'another text within one',
    [...HEAD, texts(['zone', 'a', '{', true]), texts(['zone', 'b', '}', false])],
    /message 3 .*: the text of zone "a" must go on, but does not$/,
  ],
];

for (const [what, parts, message] of DAMAGED) {
  test(`A snapshot with ${what} is not restored, and it is said why`, () => {
    assert.throws(() => restored(parts), { name: 'ConfigRecordError', message });
  });
}
