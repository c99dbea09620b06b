import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExportedState } from '../../src/core/item.ts';
import type { ShardState } from '../../src/core/state.ts';
import { HALL, square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { leftovers } from './leftovers.ts';

const TIMED = { timeout: 60_000, exit_delay: 5000, exit_tolerance: 1, tolerance_timeout: 3000 };
const ENTRY = { entry_tolerance: 1, entry_tolerance_timeout: 9000, entry_delay: 5000 };

/** A shard with all kinds of state: members in all stages, carried trackables, rules, several assignments. */
async function busy(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'plain' })), fence(square({ id: 'timed', ...TIMED })));
  harness.tell(0, fence(square({ id: 'entry', ...ENTRY })), fence(square({ id: 'nowhere', zone_id: 'x' })));
  harness.tell(0, fence(square({ id: 'hidden', floor: 9, untracked: true })));
  for (const id of ['a', 'b', 'c']) harness.tell(0, provider(id));
  harness.tell(0, trackable('one', ['a', 'b'], { radius: 1 }), trackable('two', ['b', 'unseen']));
  harness.tell(0, trackable('three', [], { parent: 'two' }));
  const places = [
    [5, 5],
    [9.5, 5],
    [10.5, 5],
    [50, 5],
    [5, 5],
  ] as const;
  for (const [i, place] of places.entries()) {
    for (const id of ['a', 'b', 'c']) harness.tell(1 + i, inHall(1 + i, place, { provider_id: id }));
  }
  return harness;
}

const ENTITIES = [
  ['fence', ['plain', 'timed', 'entry', 'nowhere', 'hidden']],
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

describe('after everything is deleted', () => {
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 2, 0, 3],
    [2, 0, 3, 1],
  ]) {
    const names = order.map((i) => ENTITIES[i]?.[0]).join(', ');
    test(`the state contains nothing of it: ${names}`, async () => {
      const harness = await busy();
      assert.notDeepEqual(leftovers(harness.shard.state), []);
      for (const command of deletions(order)) harness.tell(7, command);
      assert.deepEqual(leftovers(harness.shard.state), []);
      assert.equal(harness.step(8).nextDeadlineMs, Number.POSITIVE_INFINITY);
    });
  }

  test('no rows of a restart remain, either', async () => {
    const harness = await busy();
    harness.rows = 'all';
    const { rows } = harness.tell(7, ...ENTITIES[0][1].map((id) => fence(square({ id }))));
    const next = await ShardHarness.open();
    next.tell(8, zone(), fence(square({ id: 'plain' })), provider('a'), trackable('one', ['a', 'b']));
    next.tell(9, { kind: 'restore', rows, suppressUntilMs: 0 });
    for (const command of deletions([0, 1, 2, 3])) next.tell(10, command);
    assert.deepEqual(leftovers(next.shard.state), []);
  });
});

test('nothing remains of objects that have migrated to another shard', async () => {
  const harness = await busy();
  const all = { providers: [...ENTITIES[1][1]], trackables: [...ENTITIES[2][1]] };
  const { answers } = harness.tell(7, { kind: 'exportState', id: 1, ...all });
  const next = await ShardHarness.open();
  next.tell(7, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
  for (const command of deletions([0, 3])) harness.tell(8, command);
  assert.deepEqual(leftovers(harness.shard.state), []);
  for (const command of deletions([1, 2])) next.tell(8, command);
  assert.deepEqual(leftovers(next.shard.state), []);
});

test('Slots of deleted fences are reused', async () => {
  const harness = await ShardHarness.open();
  harness.tell(0, zone());
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 3; i++) harness.tell(round, fence(square({ id: `${round}-${i}` })));
    for (let i = 0; i < 3; i++) harness.tell(round, deleted('fence', `${round}-${i}`));
  }
  const { slots }: ShardState = harness.shard.state;
  assert.equal(slots.length, 3);
});

test('A deleted fence does not retain its members, nor they it', async () => {
  const harness = await busy();
  harness.tell(7, deleted('fence', 'plain'));
  for (const object of [...harness.shard.state.providers.values(), ...harness.shard.state.trackables.values()]) {
    assert.ok(object.members.every((member) => member.fence.id !== 'plain'));
  }
});
