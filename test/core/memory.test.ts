import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HandedOver } from '../../src/core/item.ts';
import type { ShardState } from '../../src/core/state.ts';
import { HALL, square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardBench, trackable, zone } from '../support/shard_harness.ts';
import { leftovers } from './leftovers.ts';

const TIMED = { timeout: 60_000, exit_delay: 5000, exit_tolerance: 1, tolerance_timeout: 3000 };
const ENTRY = { entry_tolerance: 1, entry_tolerance_timeout: 9000, entry_delay: 5000 };

/** A shard with something of everything: members in all stages, carried trackables, rules, several assignments. */
async function busy(): Promise<ShardBench> {
  const bench = await ShardBench.open();
  bench.tell(0, zone(), fence(square({ id: 'plain' })), fence(square({ id: 'timed', ...TIMED })));
  bench.tell(0, fence(square({ id: 'entry', ...ENTRY })), fence(square({ id: 'nowhere', zone_id: 'x' })));
  for (const id of ['a', 'b', 'c']) bench.tell(0, provider(id));
  bench.tell(0, trackable('one', ['a', 'b'], { radius: 1 }), trackable('two', ['b', 'unseen']));
  bench.tell(0, trackable('three', [], { parent: 'two' }));
  const places = [
    [5, 5],
    [9.5, 5],
    [10.5, 5],
    [50, 5],
    [5, 5],
  ] as const;
  for (const [i, place] of places.entries()) {
    for (const id of ['a', 'b', 'c']) bench.tell(1 + i, inHall(1 + i, place, { provider_id: id }));
  }
  return bench;
}

const ENTITIES = [
  ['fence', ['plain', 'timed', 'entry', 'nowhere']],
  ['provider', ['a', 'b', 'c']],
  ['trackable', ['one', 'two', 'three']],
  ['zone', [HALL.id]],
] as const;

function deletions(order: readonly number[]) {
  return order.flatMap((i) => {
    const [kind, ids] = ENTITIES[i] as (typeof ENTITIES)[number];
    return ids.map((id) => deleted(kind, id));
  });
}

describe('when everything is deleted', () => {
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 2, 0, 3],
    [2, 0, 3, 1],
  ]) {
    const names = order.map((i) => ENTITIES[i]?.[0]).join(', ');
    test(`nothing is left of it in the state: ${names}`, async () => {
      const bench = await busy();
      assert.notDeepEqual(leftovers(bench.shard.state), []);
      for (const telling of deletions(order)) bench.tell(7, telling);
      assert.deepEqual(leftovers(bench.shard.state), []);
      assert.equal(bench.step(8).nextDeadlineMs, Number.POSITIVE_INFINITY);
    });
  }

  test('nothing is left after rows of a restart either', async () => {
    const bench = await busy();
    bench.rows = 'all';
    const { rows } = bench.tell(7, ...ENTITIES[0][1].map((id) => fence(square({ id }))));
    const next = await ShardBench.open();
    next.tell(8, zone(), fence(square({ id: 'plain' })), provider('a'), trackable('one', ['a', 'b']));
    next.tell(9, { kind: 'restore', rows, holdMs: 0 });
    for (const telling of deletions([0, 1, 2, 3])) next.tell(10, telling);
    assert.deepEqual(leftovers(next.shard.state), []);
  });
});

test('nothing is left of objects that have moved to another shard', async () => {
  const bench = await busy();
  const all = { providers: [...ENTITIES[1][1]], trackables: [...ENTITIES[2][1]] };
  const { answers } = bench.tell(7, { kind: 'release', id: 1, ...all });
  const next = await ShardBench.open();
  next.tell(7, { kind: 'adopt', state: structuredClone(answers[0]?.[1] as HandedOver) });
  for (const telling of deletions([0, 3])) bench.tell(8, telling);
  assert.deepEqual(leftovers(bench.shard.state), []);
  for (const telling of deletions([1, 2])) next.tell(8, telling);
  assert.deepEqual(leftovers(next.shard.state), []);
});

test('slots of deleted fences are used again', async () => {
  const bench = await ShardBench.open();
  bench.tell(0, zone());
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 3; i++) bench.tell(round, fence(square({ id: `${round}-${i}` })));
    for (let i = 0; i < 3; i++) bench.tell(round, deleted('fence', `${round}-${i}`));
  }
  const { slots }: ShardState = bench.shard.state;
  assert.equal(slots.length, 3);
});

test('a deleted fence does not keep its members alive, nor they it', async () => {
  const bench = await busy();
  bench.tell(7, deleted('fence', 'plain'));
  for (const object of [...bench.shard.state.providers.values(), ...bench.shard.state.trackables.values()]) {
    assert.ok(object.members.every((member) => member.fence.id !== 'plain'));
  }
});
