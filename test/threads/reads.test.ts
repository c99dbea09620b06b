import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fenceAround, meters, provider, RunningShards, trackable } from './running_shards.ts';

const running = new RunningShards({ shards: 3, batchMax: 7 });
after(() => running.close());

test('A read sees every earlier location and change, and none that came later', async () => {
  running.tell(fenceAround('fence', [0, 0], 20));
  const reads: Promise<unknown>[] = [];
  const expected: unknown[] = [];
  for (let round = 0; round < 30; round++) {
    running.second++;
    for (let index = 0; index < 5; index++) {
      const east = (round + index) % 3 === 0 ? 0 : 100 + round;
      running.location(`tag ${index}`, meters(east, 0));
      reads.push(
        running.read({ ask: 'provider_location', id: `tag ${index}` }).then((found) => coordinatesOf(found?.[0])),
        running.read({ ask: 'provider_fences', id: `tag ${index}`, spatial: false }),
      );
      expected.push(meters(east, 0), east === 0 ? ['fence'] : []);
    }
  }
  assert.deepEqual(await Promise.all(reads), expected);
});

test('A read sees earlier locations while objects migrate between shards', async () => {
  for (let round = 0; round < 12; round++) {
    running.second++;
    running.location('tag', meters(round, 0));
    // Each name has another partition key, so most trackables live in another shard than their predecessor.
    running.tell(trackable(`trackable ${round}`, ['tag']));
    if (round > 0) running.tell({ kind: 'trackable', id: `trackable ${round - 1}`, entity: undefined });
    running.location('tag', meters(round, 50));
    const [location, motion, gone] = await Promise.all([
      running.read({ ask: 'provider_location', id: 'tag' }),
      running.read({ ask: 'trackable_motion', id: `trackable ${round}` }),
      running.read({ ask: 'trackable_motion', id: `trackable ${round - 1}` }),
    ]);
    assert.deepEqual(coordinatesOf(location?.[0]), meters(round, 50));
    assert.deepEqual(coordinatesOf((motion?.[0] as { location: unknown } | undefined)?.location), meters(round, 50));
    assert.equal(gone, undefined);
  }
});

test('A provider retains its event time, memberships and timers when it migrates to another shard', async () => {
  const start = running.second;
  const ids = ['a', 'b', 'c', 'd', 'e'];
  running.tell(fenceAround('slow', [1000, 0], 20, { exit_delay: 60_000 }));
  running.second = start + 10;
  for (const id of ids) running.location(id, meters(1000, 0));
  running.second = start + 20;
  for (const id of ids) {
    running.location(id, meters(1100, 0));
    running.tell(provider(id), trackable(`carrier of ${id}`, [id]));
    running.location(id, meters(1000, 0), { generated: start + 15 });
  }
  await running.settle();
  assert.equal(running.counts.outdated, 5);
  const members = await running.read({ ask: 'fence_providers', id: 'slow', spatial: false });
  assert.deepEqual(members?.toSorted(), ids);
  running.second = start + 80;
  await running.settle();
  assert.deepEqual(await running.read({ ask: 'fence_providers', id: 'slow', spatial: false }), []);
  const exits = running.events.filter((event) => event['fence_id'] === 'slow' && event['event_type'] === 'region_exit');
  assert.equal(exits.length, 5);
  assert.ok(exits.every(({ exit_time: time }) => time === exits[0]?.['exit_time']));
});

test('settled waits for locations queued behind a migration', async () => {
  const before = running.counts.processed;
  for (let index = 0; index < 20; index++) {
    running.location(`lamp ${index}`, meters(index, 0));
    running.tell(trackable(`post ${index}`, [`lamp ${index}`]));
    running.location(`lamp ${index}`, meters(index, 10));
  }
  await running.shards.settled();
  assert.equal(running.counts.processed - before, 40);
});

function coordinatesOf(location: unknown): unknown {
  return (location as { position: { coordinates: unknown } } | undefined)?.position.coordinates;
}
