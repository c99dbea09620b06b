import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EntityCommand } from '../../src/shards/shard_commands.ts';
import { meters, provider, RunningShards, trackable } from './running_shards.ts';

const BY_PROVIDERS = 'com.hdm.hub.zone.autozoneupdate.providers';
const BY_TRACKABLES = 'com.hdm.hub.zone.autozoneupdate.trackables';

function reader(id: string, lists: object): EntityCommand {
  const position = { type: 'Point' as const, coordinates: [8, 50] };
  return { kind: 'zone', id, entity: { id, type: 'rfid', position, properties: { ...lists } } };
}

/** Final position of each zone: the move with the highest sequence wins. */
function endsOf({ zoneMoves }: RunningShards): Record<string, readonly number[]> {
  const bySeq = zoneMoves.toSorted((a, b) => a.seq - b.seq);
  return Object.fromEntries(bySeq.map(({ id, position }) => [id, position]));
}

test('The final position of a mobile zone does not depend on the number of shards or on batching', async () => {
  const step = fc.record({ tag: fc.nat(3), east: fc.nat(100), cut: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const ends = [];
      for (const { shards, batchMax } of [
        { shards: 1, batchMax: 1000 },
        { shards: 2, batchMax: 3 },
      ]) {
        const running = new RunningShards({ shards, batchMax });
        running.tell(trackable('cart', ['tag 0', 'tag 1']), reader('a', { [BY_TRACKABLES]: ['cart'] }));
        running.tell(reader('b', { [BY_PROVIDERS]: ['tag 1', 'tag 2', 'tag 3'] }));
        for (const { tag, east, cut } of steps) {
          running.second++;
          running.location(`tag ${tag}`, meters(east, 0));
          if (cut && shards > 1) await new Promise((resolve) => setImmediate(resolve));
        }
        await running.settle();
        ends.push(endsOf(running));
        await running.close();
      }
      assert.deepEqual(ends[0], ends[1]);
      const last = (tags: readonly number[]) => steps.findLast(({ tag }) => tags.includes(tag));
      const expected = { a: last([0, 1]), b: last([1, 2, 3]) };
      for (const [id, found] of Object.entries(expected)) {
        assert.deepEqual(ends[0]?.[id], found && meters(found.east, 0));
      }
    }),
    { numRuns: 2, seed: 7, endOnFailure: true },
  );
});

test('A new worker knows which objects zones follow, and repeats no move', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  running.tell(provider('tag'), reader('a', { [BY_PROVIDERS]: ['tag'] }));
  running.location('tag', meters(1, 0));
  await running.settle();
  await running.shards.lanes[0]?.kill();
  await running.settle();
  assert.equal(running.zoneMoves.length, 1);
  running.location('tag', meters(2, 0));
  await running.settle();
  assert.equal(running.counts.workerRestarts, 1);
  assert.deepEqual(
    running.zoneMoves.map(({ position }) => position),
    [meters(1, 0), meters(2, 0)],
  );
});
