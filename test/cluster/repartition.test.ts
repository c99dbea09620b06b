import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigBody } from '../../src/cluster/config/config_record.ts';
import { applied, type ConfigState, EMPTY_STATE, serving } from '../../src/cluster/config/config_state.ts';
import { ObjectPartitions } from '../../src/cluster/config/object_partitions.ts';
import { Ownership } from '../../src/cluster/routing/ownership.ts';
import { changeRecord } from '../../src/cluster/config/repartition.ts';
import { PARTITIONS, partitionOf } from '../../src/shards/affinity.ts';

/** A trackable with one provider. */
const CART: ConfigBody<'change'>['changes'] = [
  ['trackable', 'cart', JSON.stringify({ id: 'cart', location_providers: ['tag'] }), false],
];

/** Partitions in turn, except that the one of `tag` is with the first hub and the one of `cart` with the last. */
function owners(members: number): number[] {
  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition % members);
  all[partitionOf('tag')] = 0;
  all[partitionOf('cart')] = members - 1;
  return all;
}

function stateAfter(...bodies: readonly ConfigBody[]): ConfigState {
  return bodies.reduce((state, body, at) => applied(state, { sequence: at + 1, id: `${at}`, body }), EMPTY_STATE);
}

function joined(...members: readonly string[]): ConfigBody[] {
  return members.map((incarnation) => ({
    ...{ kind: 'join', incarnation, name: incarnation, protocols: [1], digest: '' },
  }));
}

const BOTH = ['a', 'b'];
const MAP = { kind: 'map', epoch: 1, members: BOTH, owners: owners(2), collisionOwner: 0 } as const;
const TWO: ConfigBody[] = [...joined(...BOTH), MAP];
/** Another hub gets every 32nd partition from number `from` on. */
function shareMoved(from: number): ConfigBody[] {
  const next = owners(2).map((owner, partition) => (partition % 32 === from % 32 ? 2 : owner));
  return [...joined('c'), { ...MAP, epoch: 2, members: [...BOTH, 'c'], owners: next }];
}
const OTHER = Array.from({ length: 32 }, (_, at) => at).find((at) => {
  return [partitionOf('tag'), partitionOf('cart')].every((partition) => partition % 32 !== at);
}) as number;
/** Objects that another record moves. */
const MIGRATING: ConfigBody = {
  ...{ kind: 'regroup', by: 'other', changes: [] },
  objects: [['provider', 'other', OTHER, (OTHER + 1) % PARTITIONS]],
};
const GONE: ConfigBody = { ...MAP, kind: 'expel', incarnation: 'b', epoch: 2, owners: owners(1), members: ['a'] };

const CASES: readonly (readonly [what: string, bodies: readonly ConfigBody[], kind: string | undefined])[] = [
  ['where no hub runs', [], 'change'],
  ['where one hub owns both', [...joined('a'), { ...MAP, members: ['a', 'a'] }], 'change'],
  ['where two hubs do', TWO, 'regroup'],
  ['before partitions have owners', joined(...BOTH), undefined],
  ['while something is to be taken over', [...TWO, GONE], undefined],
  ['while other partitions get another owner', [...TWO, ...shareMoved(OTHER)], 'regroup'],
  ['while its partition gets another owner', [...TWO, ...shareMoved(partitionOf('tag'))], undefined],
  ['while the partition that it moves to gets another owner', [...TWO, ...shareMoved(partitionOf('cart'))], undefined],
  ['while other objects are migrating', [...TWO, MIGRATING], undefined],
];

for (const [what, bodies, kind] of CASES) {
  test(`A provider that is assigned, ${what}: ${kind ?? 'it waits'}`, () => {
    const record = changeRecord('test', CART, { state: stateAfter(...bodies), partitions: new ObjectPartitions() });
    assert.equal(record?.kind, kind);
    if (record?.kind !== 'regroup') return;
    assert.deepEqual(record.objects, [['provider', 'tag', partitionOf('tag'), partitionOf('cart')]]);
  });
}

test('A change that connects nothing waits for nothing', () => {
  const state = stateAfter(...TWO, GONE);
  const name: ConfigBody<'change'>['changes'] = [['fence', 'f', '{"id":"f"}', false]];
  assert.equal(changeRecord('test', name, { state, partitions: new ObjectPartitions() })?.kind, 'change');
});

test('A trackable that is deleted and recreated while it migrates is unserved until it would have arrived', () => {
  const partitions = new ObjectPartitions();
  const ownership = new Ownership((kind, id) => partitions.partitionOf(kind, id));
  let state = stateAfter(...TWO);
  const tag = (entity: object | undefined): void => {
    const text = entity === undefined ? null : JSON.stringify(entity);
    const record = changeRecord('test', [['trackable', 'tag', text, false]], { state, partitions });
    state = applied(state, { sequence: state.version + 1, id: 'tag', body: record as ConfigBody });
    partitions.apply([{ kind: 'trackable', id: 'tag', text }]);
    ownership.set(serving(state));
  };
  tag({ id: 'tag' });
  assert.equal(ownership.serverOf('trackable', 'tag'), 'a');
  tag({ id: 'tag', parent: 'cart' });
  // Nothing else moves with it, so this does not have to wait. Its partition is served.
  for (const entity of [undefined, { id: 'tag' }]) {
    tag(entity);
    assert.equal(serving(state).open.has(partitions.partitionOf('trackable', 'tag')), false);
    assert.equal(ownership.serverOf('trackable', 'tag'), undefined);
  }
  const [{ sequence = 0 } = {}] = state.migrating;
  const to = [partitionOf('cart')];
  state = applied(state, { sequence: 99, id: 'arrived', body: { kind: 'arrived', by: 'b', sequence, partitions: to } });
  ownership.set(serving(state));
  assert.equal(ownership.serverOf('trackable', 'tag'), 'a');
});
