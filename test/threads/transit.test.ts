import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meters, provider, RunningShards, trackable } from './running_shards.ts';

test('published() resolves when the outcomes of all items so far are released, with the first steps that are not', async () => {
  const held = Promise.withResolvers<void>();
  const running = new RunningShards({ shards: 2, commitSteps: () => held.promise });
  const { shards } = running;
  try {
    const found: (readonly number[])[] = [];
    running.tell(provider('tag'));
    const first = shards.published().then((steps) => found.push(steps));
    await shards.nextStep();
    assert.equal(found.length, 0);
    held.resolve();
    await first;
    running.location('tag', meters(0, 0));
    found.push(await shards.published());
    const [before, after] = found.map((steps) => steps.toSorted());
    assert.deepEqual([before?.length, after?.length], [2, 2]);
    for (const [i, step] of (after ?? []).entries()) assert.ok(step > (before?.[i] ?? Infinity));
    await running.close();
    assert.deepEqual((await shards.published()).toSorted(), after, 'closed shards make no more steps');
  } finally {
    held.resolve();
    await running.close();
  }
});

test('A round in which objects are between shards is not over: no shard has emitted their rows', async () => {
  const over: number[] = [];
  const held = Promise.withResolvers<void>();
  let heldShard: number | undefined;
  const running = new RunningShards({
    shards: 2,
    sequence: () => 1,
    commitSteps: (shard) => (shard === heldShard ? held.promise : Promise.resolve()),
    rounds: (shard) => ({ begun: () => undefined, over: () => void over.push(shard) }),
  });
  const { shards } = running;
  const tags = Array.from({ length: 20 }, (_, i) => `tag ${i}`);
  /** Plays a round of a shard in which another object has changed. */
  const round = async (shard: number): Promise<void> => {
    running.second++;
    running.location(tags.find((tag) => shards.homeOf(tag) === shard) as string, meters(1, 1));
    shards.flushInBackground();
    await shards.nextStep();
    await shards.lanes[shard]?.lane.settled();
  };
  try {
    running.tell(...tags.map((tag) => provider(tag)));
    for (const tag of tags) running.location(tag, meters(0, 0));
    await running.settle();
    const before = tags.map((tag) => shards.homeOf(tag));
    const moves = tags.map((tag) => trackable(`cart of ${tag}`, [tag]));
    // An assignment moves one of its objects to the shard of the other one.
    const moved = moves.findIndex((move, i) => {
      running.tell(move);
      return shards.homeOf(tags[i] as string) !== before[i];
    });
    assert.ok(moved >= 0);
    heldShard = shards.homeOf(tags[moved] as string);
    await shards.released();
    await round(before[moved] as number);
    assert.deepEqual(over, []);
    held.resolve();
    await running.settle();
    await round(before[moved] as number);
    assert.deepEqual([...new Set(over)], [before[moved]]);
  } finally {
    held.resolve();
    await running.close();
  }
});
