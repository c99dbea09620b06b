import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import type { Query } from '../../src/core/item.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import { readStoredRecord } from '../../src/wire/journal_record.ts';
import { fenceAround, type LocationOptions, meters, provider, RunningShards, trackable } from './running_shards.ts';

const running = new RunningShards({ shards: 1 });
after(() => running.close());

/** An invalid zone: any conversion with it throws. */
const ZONE = {
  kind: 'zone',
  id: 'bad zone',
  entity: { id: 'bad zone', type: 'uwb', ground_control_points: [null, null, null, null] },
} as never;
const POISON = { source: 'bad zone', crs: 'local' } as unknown as LocationOptions;

test('A location that makes its worker throw is given up alone, is counted, and fails its caller', async () => {
  running.tell(ZONE, fenceAround('fence', [0, 0], 20), provider('tag 1'), trackable('cart', ['tag 1']));
  for (let index = 0; index < 6; index++) {
    running.second++;
    if (index === 3) running.location('bad', meters(0, 0), POISON);
    running.location('tag 1', meters(index % 2 === 0 ? 0 : 100, index));
    running.location('tag 2', meters(0, index));
  }
  await assert.rejects(running.shards.settled(), { code: 'HUB_INTERNAL' });
  assert.deepEqual(
    running.lost.map((item) => item.kind === 'locations' && item.newProviders[0]),
    ['bad'],
  );
  const { processed, rejected } = running.counts;
  assert.deepEqual([processed, rejected], [12, 1]);
  assert.equal(processed + rejected, running.sent);
  const crossings = running.crossings().filter((crossing) => crossing.includes('cart'));
  assert.deepEqual(
    crossings,
    Array.from({ length: 6 }, (_, index) => `${index % 2 === 0 ? 'entry' : 'exit'} trackable cart fence`),
  );
});

test('A change that makes its worker throw is given up, and not sent to the next worker', async () => {
  const restarts = running.counts.workerRestarts;
  const region = { type: 'Polygon', coordinates: 'nowhere' };
  running.tell({ kind: 'fence', id: 'bad', entity: { id: 'bad', region } } as never);
  running.location('tag 1', meters(0, 50));
  await running.shards.settled().catch(() => undefined);
  assert.deepEqual(
    running.lost.slice(1).map((item) => item.kind),
    ['fence'],
  );
  const restartsOfPoison = running.counts.workerRestarts - restarts;
  for (const shard of running.shards.lanes) await shard.kill();
  running.location('tag 1', meters(0, 60));
  running.location('tag 2', meters(0, 60));
  await running.settle();
  assert.equal(running.lost.length, 2);
  assert.equal(running.counts.workerRestarts, restarts + restartsOfPoison + 1);
});

test('A read that makes its worker throw returns an error, and other reads are answered', async () => {
  const bad = running.shards.ask({ ask: 'provider_location', id: 'tag 1' } as Query);
  const good = running.read({ ask: 'provider_location', id: 'tag 2' });
  await assert.rejects(bad, { code: 'HUB_INTERNAL', reason: 'worker_failed' });
  assert.equal((await good)?.length, 1);
});

test('Motions that the collision worker cannot parse are dropped, and the next worker recovers the state', async (t) => {
  const alone = new RunningShards({ shards: 1 });
  t.after(() => alone.close());
  alone.tell(trackable('cart', ['a'], { radius: 2 }), trackable('lift', ['b'], { radius: 2 }));
  await alone.settle();
  alone.collisions.addShardMotions({ packed: lend(new Uint8Array([0xc1])), lastSeq: 1 });
  await assert.rejects(alone.collisions.settled());
  alone.location('a', meters(0, 0));
  alone.location('b', meters(1, 0));
  await alone.settle();
  assert.deepEqual(
    alone.events.filter(({ topic }) => topic === 'collision_events').map((event) => event['collision_type']),
    ['collision_start'],
  );
});

test('A shard continues without its rows when the store cannot read them', async (t) => {
  const rows = () => Promise.reject(new Error('the disk is unavailable'));
  const alone = new RunningShards({ shards: 1, rows });
  t.after(() => alone.close());
  alone.tell(provider('tag'));
  alone.location('tag', meters(1, 1));
  await alone.settle();
  await alone.shards.lanes[0]?.kill();
  const [location] = (await alone.read({ ask: 'provider_location', id: 'tag' })) ?? [];
  assert.deepEqual((location as { position: { coordinates: unknown } }).position.coordinates, meters(1, 1));
});

test('A closed shard lane rejects its current run and starts no worker', async () => {
  const alone = new RunningShards({ shards: 1 });
  alone.location('tag', meters(0, 0));
  const settled = alone.shards.settled();
  await Promise.all([assert.rejects(settled), alone.close()]);
  assert.deepEqual([alone.counts.workerRestarts, alone.lost], [0, []]);
});

test('A location that makes its worker throw is in no record, but its neighbors are', async () => {
  const records: string[] = [];
  const recorded = new RunningShards({
    shards: 1,
    async commitSteps(_, { record }) {
      if (record === undefined) return;
      const read = readStoredRecord(look(record), zstdDecompressSync);
      if (read.kind === 'step') records.push(Buffer.from(read.step.batch).toString('latin1'));
    },
  });
  try {
    recorded.tell(ZONE, provider('tag 1'), trackable('cart', ['tag 1']));
    recorded.location('tag 1', meters(0, 0));
    recorded.location('bad', meters(0, 0), POISON);
    recorded.location('tag 2', meters(0, 1));
    await assert.rejects(recorded.shards.settled(), { code: 'HUB_INTERNAL' });
    const all = records.join();
    assert.deepEqual(
      [all.includes('tag 1'), all.includes('tag 2'), all.includes('"provider_id":"bad"')],
      [true, true, false],
    );
  } finally {
    await recorded.close();
  }
});
