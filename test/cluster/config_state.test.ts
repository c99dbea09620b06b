import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Packr } from 'msgpackr';
import { type EntityText, restored, snapshotParts } from '../../src/cluster/config/snapshot_messages.ts';
import {
  type ConfigBody,
  type ConfigRecord,
  type ObjectMove,
  packRecord,
  unpackRecord,
} from '../../src/cluster/config/config_record.ts';
import {
  acquisitions,
  applied,
  type ConfigState,
  EMPTY_STATE,
  isSettled,
  leftOf,
  mapFields,
  partitionMap,
  serving,
  toDelete,
} from '../../src/cluster/config/config_state.ts';
import { afterLeave, firstMap, type PartitionMap } from '../../src/cluster/membership/partition_map.ts';
import { Ownership } from '../../src/cluster/routing/ownership.ts';
import { lend } from '../../src/model/borrowed.ts';
import { PARTITIONS } from '../../src/shards/affinity.ts';
import { type Dice, diceOf } from '../support/dice.ts';

const NO_MAP = mapFields(undefined);
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

function stateAfter(bodies: readonly ConfigBody[], from = EMPTY_STATE, first = 1): ConfigState {
  return bodies.reduce((state, body, i) => applied(state, { sequence: first + i, id: `${first + i}`, body }), from);
}

const join = (incarnation: string): ConfigBody => {
  return { kind: 'join', incarnation, name: `hub ${incarnation}`, protocols: [1], digest: 'd' };
};
const map = (map: PartitionMap): ConfigBody => ({ kind: 'map', ...mapFields(map) });
const took = (by: string, of: string, partitions: readonly number[]): ConfigBody => {
  return { kind: 'took', by, of, partitions };
};
const arrived = (by: string, sequence: number, partitions = ALL): ConfigBody => {
  return { kind: 'arrived', by, sequence, partitions };
};
const regroup = (...objects: ObjectMove[]): ConfigBody => ({ kind: 'regroup', by: 'x', changes: [], objects });
const expel = (incarnation: string, next?: PartitionMap): ConfigBody<'expel'> => {
  return { kind: 'expel', incarnation, ...(next === undefined ? NO_MAP : mapFields(next)) };
};

const leave = (incarnation: string, last?: PartitionMap): ConfigBody => ({
  ...expel(incarnation, last),
  kind: 'leave',
});

/** The next map, with some partitions given to others. */
function given(before: PartitionMap, partitions: readonly number[], to: string): PartitionMap {
  const owners = before.owners.map((owner, partition) => (partitions.includes(partition) ? to : owner));
  return { ...before, epoch: before.epoch + 1, owners };
}

/** Partitions and objects that a member must acquire, as strings. */
function toTake(state: ConfigState, self: string): string[] {
  const { partitions, objects } = acquisitions(state, self);
  return [
    ...partitions.map((each) => `${each.partitions.join()} of ${each.of}, ${each.isMember ? 'a member' : 'dead'}`),
    ...objects.map((each) => `${each.objects.map(([, id]) => id).join()} of ${each.from ?? 'nobody'}`),
  ];
}

/** Random records, most of them plausible. */
function history(dice: Dice, length: number): ConfigBody[] {
  const bodies: ConfigBody[] = [];
  let state = EMPTY_STATE;
  for (let i = 0; i < length; i++) {
    const body = anyRecord(dice, state, i);
    bodies.push(body);
    state = stateAfter([body], state, i + 1);
  }
  return bodies;
}

function anyRecord(dice: Dice, state: ConfigState, at: number): ConfigBody {
  const names = [...state.members.keys(), ...state.dead.keys(), 'x'];
  const name = names[dice(names.length)] ?? 'x';
  const other = names[dice(names.length)] ?? 'x';
  const kind = dice(14);
  if (state.members.size < 2 || kind < 1) return join(dice(4) === 0 ? name : `h${at}`);
  if (kind < 3) return { kind: 'map', ...mapFields(anyMap(dice, state)) };
  if (kind === 3) {
    const next = mapFields(anyMap(dice, state));
    return { kind: dice(2) === 0 ? 'expel' : 'leave', incarnation: name, ...next };
  }
  if (kind === 4) return { kind: 'protocol', version: 1 + dice(2) };
  if (kind === 5) return { kind: 'ensure', by: name, providers: [['p', '{"id":"p"}']] };
  if (kind < 8) return anyChange(dice, name);
  if (kind === 8) return arrived(name, state.migrating[0]?.sequence ?? at, dice(3) > 0 ? ALL : [dice(256)]);
  const some = acquisitions(state, name).partitions[0];
  if (some !== undefined && dice(4) > 0) return took(name, some.of, dice(3) > 0 ? some.partitions : [dice(256)]);
  return took(name, other, dice(3) === 0 ? [] : ALL.filter(() => dice(2) === 0));
}

function anyChange(dice: Dice, by: string): ConfigBody {
  const text = dice(3) === 0 ? null : `"${dice(100)}"`;
  const changes = [
    ['zone', 'z', '{"id":"z"}', false],
    ['setting', `s${dice(4)}`, text, false],
  ] as const;
  if (dice(2) === 0) return { kind: 'change', by, changes };
  const objects = Array.from({ length: dice(4) }, (): ObjectMove => ['trackable', `${dice(9)}`, dice(256), dice(256)]);
  return { kind: 'regroup', by, changes, objects };
}

function anyMap(dice: Dice, { map, members }: ConfigState): PartitionMap | undefined {
  if (dice(8) === 0) return undefined;
  // Some owners have left, and some do not exist.
  const owners = [...members.keys(), ...(dice(4) === 0 ? ['', 'x'] : [])];
  const one = (): string => owners[dice(Math.max(1, owners.length))] ?? '';
  const epoch = (map?.epoch ?? 0) + dice(3);
  if (map === undefined || dice(4) === 0) return { epoch, owners: ALL.map(one), collisions: one() };
  const moved = new Set(Array.from({ length: 8 }, () => dice(PARTITIONS)));
  const isOwned = (owner: string, partition: number): boolean => members.has(owner) && !moved.has(partition);
  return { epoch, owners: map.owners.map((owner, at) => (isOwned(owner, at) ? owner : one())), collisions: one() };
}

const SEEN = { handed: 0, chains: 0, back: 0, away: 0 };

for (let seed = 1; seed <= 40; seed++) {
  test(`A snapshot and later records result in the same state as all records, seed ${seed}`, () => {
    const dice = diceOf(seed);
    const bodies = history(dice, 90);
    const whole = stateAfter(bodies);
    for (let at = 0; at <= bodies.length; at += 1 + dice(6)) {
      const before = stateAfter(bodies.slice(0, at));
      const { state, entities } = restored(snapshotParts(before, []), [1, 2]);
      assert.deepEqual(entities, []);
      const end = stateAfter(bodies.slice(at), state, at + 1);
      assert.deepEqual(end, whole);
      // In the same order too.
      for (const field of ['settings', 'members', 'dead'] as const) {
        assert.deepEqual([...end[field].keys()], [...whole[field].keys()]);
      }
    }
  });

  test(`Each partition has one chain of sources, those that lost it without a later acquisition, seed ${seed}`, () => {
    const bodies = history(diceOf(seed), 90);
    const model = new Chains();
    const deletable = new Set<string>();
    let state = EMPTY_STATE;
    for (const [i, body] of bodies.entries()) {
      const before = state;
      state = applied(before, { sequence: i + 1, id: 'x', body });
      model.apply(body);
      const served = serving(state);
      for (const partition of ALL) {
        const chain = model.of[partition] ?? [];
        const owner = state.map?.owners[partition] ?? '';
        const found = state.sources.filter(({ partitions }) => partitions.includes(partition));
        assert.deepEqual(
          found.map(({ of }) => of),
          chain,
        );
        assert.ok(chain.every((of) => state.members.has(of) || state.dead.has(of)));
        // The owner acquires it from all of them in this order, and no other member does.
        for (const self of state.members.keys()) {
          const own = acquisitions(state, self).partitions.filter(({ partitions }) => partitions.includes(partition));
          assert.deepEqual(
            own.map(({ of }) => of),
            self === owner ? chain : [],
          );
        }
        const isAwaiting = state.migrating.some(({ objects }) => objects.some(([, , , to]) => to === partition));
        const isOpen = isAwaiting || (state.map !== undefined && (chain.length > 0 || !state.members.has(owner)));
        assert.equal(served.open.has(partition), isOpen, `${partition}`);
        if (chain.length > 1) SEEN.chains++;
        if (chain.includes(owner)) SEEN.back++;
      }
      assert.equal(isSettled(state), state.map !== undefined && served.open.size === 0 && served.migrating.size === 0);
      for (const { incarnation, removed } of state.dead.values()) {
        const isDone = toDelete(state).some((member) => member.incarnation === incarnation);
        const isLater = state.migrating.every(({ sequence }) => sequence > removed);
        assert.equal(isDone, leftOf(state, incarnation).length === 0 && isLater);
        // Its streams may be gone.
        assert.ok(isDone || !deletable.has(incarnation));
        if (isDone) deletable.add(incarnation);
      }
      // The version changes with ownership only.
      const { version: _, ...was } = serving(before);
      const { version, ...is } = served;
      const isSame = was.map === is.map && before.migrating === state.migrating && sameSets(was.open, is.open);
      assert.equal(version, isSame ? before.version : i + 1);
      if (state.sources.some(({ of }) => state.members.has(of))) SEEN.handed++;
      if (state.migrating.length > 0) SEEN.away++;
    }
  });

  test(`An object is on its way until the owner of its new partition has it, seed ${seed}`, () => {
    const bodies = history(diceOf(seed), 90);
    let state = EMPTY_STATE;
    let away: (readonly [sequence: number, object: ObjectMove])[] = [];
    for (const [i, body] of bodies.entries()) {
      const { members, map } = state;
      state = applied(state, { sequence: i + 1, id: 'x', body });
      if (body.kind === 'regroup') away.push(...body.objects.map((each) => [i + 1, each] as const));
      if (body.kind === 'arrived' && members.has(body.by)) {
        away = away.filter(([at, [, , , to]]) => {
          return at !== body.sequence || map?.owners[to] !== body.by || !body.partitions.includes(to);
        });
      }
      assert.deepEqual(
        state.migrating.flatMap(({ sequence, objects }) => objects.map((each) => [sequence, each])),
        away,
      );
      for (const self of state.members.keys()) {
        const own = acquisitions(state, self).objects;
        const expected = away.filter(([, [, , , to]]) => state.map?.owners[to] === self);
        assert.deepEqual(
          new Set(own.flatMap(({ sequence, objects }) => objects.map((each) => `${sequence} ${each}`))),
          new Set(expected.map(([at, each]) => `${at} ${each}`)),
        );
        for (const { from, objects } of own) {
          for (const [, , partition] of objects) {
            const owner = state.map?.owners[partition] ?? '';
            assert.equal(from, state.members.has(owner) ? owner : undefined);
          }
        }
      }
    }
  });
}

test('The seeds have covered all cases', (context) => {
  context.diagnostic(JSON.stringify(SEEN));
  for (const [what, count] of Object.entries(SEEN)) assert.ok(count > 100, `${what}: ${count}`);
});

/** Sources of each partition, computed independently. */
class Chains {
  readonly of: string[][] = ALL.map(() => []);
  readonly #members = new Set<string>();
  readonly #ended = new Set<string>();
  #owners: readonly string[] = [];
  #epoch = 0;

  apply(body: ConfigBody): void {
    if (body.kind === 'join' && !this.#ended.has(body.incarnation)) this.#members.add(body.incarnation);
    if ((body.kind === 'expel' || body.kind === 'leave') && this.#members.delete(body.incarnation)) {
      this.#ended.add(body.incarnation);
      for (const partition of ALL) {
        if (this.#owners[partition] === body.incarnation) this.#lose(partition, body.incarnation);
      }
    }
    if (body.kind === 'map' || body.kind === 'expel' || body.kind === 'leave') this.#map(partitionMap(body));
    if (body.kind === 'took') this.#took(body);
  }

  #map(next: PartitionMap | undefined): void {
    if (next === undefined || next.epoch <= this.#epoch) return;
    for (const [partition, owner] of this.#owners.entries()) {
      if (next.owners[partition] === owner || !this.#members.has(owner)) continue;
      this.#lose(partition, owner);
    }
    this.#owners = next.owners;
    this.#epoch = next.epoch;
  }

  #lose(partition: number, loser: string): void {
    const chain = this.of[partition] ?? [];
    if (!chain.includes(loser)) chain.push(loser);
  }

  #took({ by, of, partitions }: ConfigBody<'took'>): void {
    if (partitions.length === 0) {
      if (!this.of.some((chain) => chain.includes(of))) this.#ended.delete(of);
      return;
    }
    for (const partition of this.#members.has(by) ? partitions : []) {
      if (this.#owners[partition] !== by) continue;
      this.of[partition] = (this.of[partition] ?? []).filter((each) => each !== of);
    }
  }
}

function sameSets<Item>(one: ReadonlySet<Item>, other: ReadonlySet<Item>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
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

test('A map that was made without knowing the last one is ignored', () => {
  const first = firstMap({ members: ['a'] });
  const second: PartitionMap = { ...firstMap({ members: ['b'] }), epoch: 2 };
  assert.deepEqual(stateAfter([join('a'), map(second), map(first)]).map, second);
  assert.deepEqual(stateAfter([join('a'), map(second), expel('a')]).map, second);
  assert.deepEqual(stateAfter([map(first), map({ ...second, epoch: 1 })]).map, first);
});

test('The first map fixes the number of partitions, and one with another number is ignored', () => {
  const first = firstMap({ members: ['a'], partitions: 1024 });
  assert.deepEqual(stateAfter([join('a'), map(first), map({ ...firstMap({ members: ['a'] }), epoch: 2 })]).map, first);
  const next = given(first, [1000], 'b');
  const state = stateAfter([join('a'), join('b'), map(first), map(next)]);
  assert.deepEqual([state.map, toTake(state, 'b')], [next, ['1000 of a, a member']]);
  assert.deepEqual(restored(snapshotParts(state, [])).state, state);
});

test('The successor of a member acquires all its partitions, and then its streams are deleted', () => {
  const owned = firstMap({ members: ['a', 'b'], ownersMax: 1 });
  const next = afterLeave(owned, { gone: 'a', members: ['b'], ownersMax: 1 });
  let state = stateAfter([join('a'), join('b'), map(owned), expel('a', next)]);
  const of = { incarnation: 'a', removed: 4 };
  assert.deepEqual(acquisitions(state, 'b').partitions, [{ of: 'a', released: 0, isMember: false, partitions: ALL }]);
  assert.deepEqual(toDelete(state), []);
  state = stateAfter([took('b', 'a', ALL.slice(0, 100)), took('b', 'a', [])], state, 5);
  assert.deepEqual(leftOf(state, 'a'), ALL.slice(100));
  state = stateAfter([took('b', 'a', ALL.slice(90))], state, 7);
  assert.deepEqual([toTake(state, 'b'), toDelete(state)], [[], [of]]);
  state = stateAfter([took('b', 'a', [])], state, 8);
  assert.deepEqual([toTake(state, 'b'), toDelete(state), state.dead.size], [[], [], 0]);
});

test('The streams of a removed member remain while objects are migrating that it may have released', () => {
  const owned = firstMap({ members: ['a', 'b'] });
  const next = afterLeave(owned, { gone: 'a', members: ['b'] });
  const moved = regroup(['provider', 'p', 0, 1]);
  const members = [join('a'), join('b'), map(owned)];
  const acquired = took('b', 'a', ALL);
  const before = stateAfter([...members, moved, expel('a', next), acquired]);
  assert.deepEqual(toDelete(before), []);
  assert.deepEqual(toDelete(stateAfter([arrived('b', 4)], before, 7)), [{ incarnation: 'a', removed: 5 }]);
  // The streams may be deleted already when a later record moves objects.
  const behind = stateAfter([...members, expel('a', next), acquired, moved]);
  assert.deepEqual(toDelete(behind), [{ incarnation: 'a', removed: 4 }]);
});

test('The streams of a member that has owned nothing are deleted', () => {
  const state = stateAfter([join('a'), join('b'), map(firstMap({ members: ['a'] })), leave('b')]);
  assert.deepEqual([toTake(state, 'a'), toDelete(state).map(({ incarnation }) => incarnation)], [[], ['b']]);
});

test('The successor of a successor acquires from both, and later records of the first have no effect', () => {
  const owned = firstMap({ members: ['a'] });
  const second = afterLeave(owned, { gone: 'a', members: ['b'] });
  const third = afterLeave(second, { gone: 'b', members: ['c'] });
  const deaths = [expel('a', second), expel('b', third)];
  const state = stateAfter([...['a', 'b', 'c'].map(join), map(owned), ...deaths, took('b', 'a', ALL)]);
  assert.deepEqual(toTake(state, 'c'), [`${ALL.join()} of a, dead`, `${ALL.join()} of b, dead`]);
});

test('The partitions of the last member wait until there is a map with a new one', () => {
  const owned = firstMap({ members: ['a'] });
  const left = stateAfter([join('a'), map(owned), leave('a', owned)]);
  assert.deepEqual([leftOf(left, 'a'), serving(left).open.size, isSettled(left)], [ALL, PARTITIONS, false]);
  const next = stateAfter([join('b'), map({ ...firstMap({ members: ['b'] }), epoch: 2 })], left, 4);
  assert.deepEqual(toTake(next, 'b'), [`${ALL.join()} of a, dead`]);
});

/** a owns everything, b and c nothing; then a must hand 3 and 4 over to b. */
const OWNED = firstMap({ members: ['a'] });
const MOVED = given(OWNED, [3, 4], 'b');
const HANDING = stateAfter([join('a'), join('b'), join('c'), map(OWNED), map(MOVED)]);

const HANDED: readonly [
  name: string,
  bodies: readonly ConfigBody[],
  wanted: Readonly<Record<string, readonly string[]>>,
  open: readonly number[],
][] = [
  ['waits for its new owner', [], { a: [], b: ['3,4 of a, a member'] }, [3, 4]],
  ['is served as it is taken', [took('b', 'a', [3])], { b: ['4 of a, a member'] }, [4]],
  ['is not taken by who does not own it', [took('c', 'a', [3, 4])], { b: ['3,4 of a, a member'] }, [3, 4]],
  ['is over when all is taken', [took('b', 'a', [3, 4])], { a: [], b: [], c: [] }, []],
  [
    'is found in the journal of a source that ends, in the order of its losses',
    [expel('a', given(MOVED, ALL.slice(5), 'c')), map(given(given(MOVED, ALL.slice(5), 'c'), [0, 1, 2], 'b'))],
    { b: ['3,4 of a, dead', '0,1,2 of a, dead'], c: [`${ALL.slice(5).join()} of a, dead`] },
    ALL,
  ],
  [
    'is taken from the source by the heir of a new owner that ends, and then from that one',
    [expel('b', given(MOVED, [3, 4], 'c'))],
    { a: [], c: ['3,4 of a, a member', '3,4 of b, dead'] },
    [3, 4],
  ],
  [
    'comes back to a source that gets it again',
    [expel('b', given(MOVED, [3, 4], 'a'))],
    { a: ['3,4 of a, a member', '3,4 of b, dead'] },
    [3, 4],
  ],
  [
    'orders sources by the loss of their partitions, not by their removal',
    [expel('b', given(MOVED, [3, 4], 'a')), expel('a', given(MOVED, ALL, 'c'))],
    { c: ['3,4 of a, dead', '3,4 of b, dead', `${ALL.filter((each) => each !== 3 && each !== 4)} of a, dead`] },
    ALL,
  ],
];

for (const [name, bodies, wanted, open] of HANDED) {
  test(`A partition that is handed over ${name}`, () => {
    // Records of the table are made for the next epoch; each following one has the next.
    const later = bodies.map((body, i) => ('epoch' in body ? { ...body, epoch: MOVED.epoch + 1 + i } : body));
    const state = stateAfter(later, HANDING, 7);
    for (const [self, expected] of Object.entries(wanted)) assert.deepEqual(toTake(state, self), expected, self);
    assert.deepEqual([...serving(state).open], open);
    assert.equal(isSettled(state), open.length === 0);
  });
}

test('A migrating object is unserved until the owner of its new partition has it', () => {
  const settled = stateAfter([took('b', 'a', [3, 4])], HANDING, 7);
  const objects = [
    ['trackable', 't', 0, 3],
    ['provider', 'p', 0, 3],
    ['provider', 'q', 3, 9],
  ] as const satisfies ObjectMove[];
  const ownership = new Ownership((_, id) => ({ t: 3, p: 3, q: 9 })[id] ?? 0);
  const served = (state: ConfigState) => {
    ownership.set(serving(state));
    return [...objects.map(([kind, id]) => ownership.serverOf(kind, id)), ownership.isWhole];
  };
  let state = stateAfter([regroup(...objects)], settled, 8);
  assert.deepEqual(served(state), [undefined, undefined, undefined, false]);
  assert.deepEqual([toTake(state, 'a'), toTake(state, 'b'), toTake(state, 'c')], [['q of b'], ['t,p of a'], []]);
  state = stateAfter([arrived('b', 8)], state, 9);
  assert.deepEqual(served(state), ['b', 'b', undefined, false]);
  // Only the partitions of the record have arrived.
  assert.equal(stateAfter([arrived('a', 8, [3])], state, 10), state);
  // The successor of a takes its part.
  const gone = stateAfter(
    [
      expel(
        'a',
        given(
          MOVED,
          ALL.filter((each) => each !== 3),
          'c',
        ),
      ),
    ],
    state,
    10,
  );
  assert.deepEqual(toTake(gone, 'c').at(-1), 'q of b');
  state = stateAfter([arrived('a', 8)], state, 10);
  assert.deepEqual([served(state), isSettled(state), state.version], [['b', 'b', 'a', true], true, 10]);
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
    /^MessageError: Cannot read a partition map: owners\[7\] must be -1 or below 1, but is 1$/,
  );
  assert.throws(
    () => partitionMap({ epoch: 1, members: [], owners: ALL.map(() => -1), collisionOwner: 0 }),
    /collisionOwner/,
  );
});

test('A snapshot has all entities in order, in messages below 4 MB, however long their JSON is', () => {
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
  ['no messages', [], /message 1 of the configuration's snapshot: it is missing$/],
  [
    'a later version',
    head([0, 2]),
    /message 1 .*: the cluster uses version 2 of its protocol, but this hub supports 1$/,
  ],
  ['fewer fields', [packr.pack([1, 'state', 1, []])], /message 1 .*: number of fields must be 10, but is 2$/],
  ['texts in the place of the state', [texts()], /message 1 .*: kind must be state, but is "texts"$/],
  ['a wrong member', head([3, [['a']]]), /: joined must be a list, each of them .*, but is \[\["a"\]\]$/],
  ['a wrong partition', head([9, [['a', 1, [4096]]]]), /: sources must be a list, .*a number below 4096/],
  ['a short map', head([7, [0]]), /: owners must be a list of 256/],
  ['an owner that is no member', head([5, 1], [7, ALL]), /owners\[0\] must be -1 or below 0, but is 0$/],
  ['the state twice', [...HEAD, ...HEAD], `${PART}: kind must be texts, but is "state"`],
  ['no msgpack', [...HEAD, Uint8Array.of(0x92)], `${PART}: 1 bytes are not msgpack`],
  ['an unknown kind', [...HEAD, texts(['thing', 'a', '', false])], /message 2 .*: rows must be a list.*"thing"/],
  ['a text without its end', [...HEAD, texts(['zone', 'a', '{', true])], `${PART}: the JSON of zone "a" is incomplete`],
  [
    'another text within one',
    [...HEAD, texts(['zone', 'a', '{', true]), texts(['zone', 'b', '}', false])],
    /message 3 .*: the JSON of zone "a" is incomplete$/,
  ],
];

for (const [what, parts, message] of DAMAGED) {
  test(`A snapshot with ${what} is not restored, and the error has the reason`, () => {
    assert.throws(() => restored(parts), { name: 'MessageError', message });
  });
}

test('The record that switches to the next version is written in it, and so are later snapshots', () => {
  const versionOf = (bytes: Uint8Array | undefined): unknown => packr.unpack(bytes ?? new Uint8Array())[0];
  const next: ConfigBody = { kind: 'protocol', version: 2 };
  const bodies = [join('a'), next, regroup(['provider', 'p', 0, 1])];
  assert.deepEqual(
    bodies.map((body) => versionOf(packRecord('1', body))),
    [1, 2, 1],
  );
  assert.equal(versionOf(snapshotParts(stateAfter([next]), [])[0]), 2);
  const message = /record 2: the cluster uses version 2 of its protocol, but this hub supports 1$/;
  assert.throws(() => unpackRecord(lend(packRecord('1', next)), 2), { name: 'MessageError', message });
  assert.deepEqual(unpackRecord(lend(packRecord('1', next)), 2, [1, 2]).body, next);
});
