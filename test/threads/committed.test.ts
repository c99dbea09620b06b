import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredRow } from '../../src/core/item.ts';
import type { Topic } from '../../src/model/topics.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { T0 } from '../support/shard_harness.ts';
import { fenceAround, meters, RunningShards, type Reported, trackable } from './running_shards.ts';

test('Shards.committed resolves when the rows of all earlier items are stored, however many batches that takes', async (t) => {
  const stored = new Map<string, StoredRow>();
  const running = new RunningShards({
    shards: 2,
    batchMax: 3,
    beforeStore: (rows) => {
      for (const row of rows) stored.set(row.id, row);
      return undefined;
    },
  });
  t.after(() => running.close());
  for (let round = 0; round < 5; round++) {
    for (let index = 0; index < 30; index++) running.location(`tag ${index}`, meters(round, index));
    const done = running.shards.committed();
    // These may or may not be stored when `committed` resolves.
    for (let index = 0; index < 30; index++) running.location(`later ${index}`, meters(round, index));
    await done;
    for (let index = 0; index < 30; index++) {
      const row = stored.get(`tag ${index}`);
      assert.ok(row?.kind === 'provider' && row.gone !== true);
      assert.deepEqual(coordinatesOf(row.location), meters(round, index));
    }
  }
});

test('Shards.committed rejects when rows cannot be stored', async (t) => {
  const running = new RunningShards({ shards: 1, beforeStore: () => Promise.reject(new Error('the disk is full')) });
  t.after(() => running.close());
  running.location('tag', meters(0, 0));
  await assert.rejects(running.shards.committed(), { message: 'the disk is full' });
});

test('A shard without changes emits no rows', async (t) => {
  let commits = 0;
  const running = new RunningShards({
    shards: 1,
    beforeStore: () => {
      commits++;
      return undefined;
    },
  });
  t.after(() => running.close());
  running.location('tag', meters(0, 0));
  await running.shards.committed();
  assert.equal(commits, 1);
  await running.shards.committed();
  assert.equal(commits, 1);
});

test("A new shard publishes nothing for an object until the old shard's outcome is committed", async (t) => {
  const commits: (() => void)[] = [];
  let isSlow = true;
  const beforeStore = () => (isSlow ? new Promise<void>((resolve) => commits.push(resolve)) : undefined);
  const running = new RunningShards({ shards: 2, beforeStore });
  t.after(() => running.close());
  running.tell(fenceAround('fence', [0, 0], 20));
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const id of ids) running.location(id, meters(0, 0));
  for (const id of ids) {
    running.tell(trackable(`carrier of ${id}`, [id]));
    running.second++;
    running.location(id, meters(1, 0));
  }
  const of = (topic: Topic): readonly Reported[] => running.events.filter((event) => event.topic === topic);
  const settled = running.settle();
  await Promise.race([settled, until(() => commits.length >= 2)]);
  assert.deepEqual(of('fence_events'), [], 'both shards wait for their first commit');
  isSlow = false;
  for (const commit of commits) commit();
  await settled;
  for (const id of ids) {
    const isOwn = (event: Reported): boolean => event['provider_id'] === id && event['trackable_id'] == null;
    const places = of('location_updates').filter(isOwn);
    assert.deepEqual(
      places.map(({ position }) => (position as { coordinates: unknown }).coordinates),
      [meters(0, 0), meters(1, 0)],
    );
    assert.equal(of('fence_events').filter(isOwn).length, 1);
  }
});

test('Overdue exits after a restart wait for their event time even if a worker dies', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  const [lon, lat] = meters(0, 0);
  const location = { position: { type: 'Point', coordinates: [lon, lat] }, source: 'tag', provider_type: 'uwb' };
  const text = JSON.stringify({ ...location, provider_id: 'tag', crs: 'EPSG:4326' });
  const row: StoredRow = {
    kind: 'provider',
    id: 'tag',
    receivedMs: T0,
    eventTimeMs: T0,
    location: text,
    memberships: [['fence', T0]],
  };
  running.tell(fenceAround('fence', [0, 0], 20, { timeout: 5000 }));
  await running.keep([row]);
  running.second = 60;
  running.shards.restore(packedRows([row]), 2000);
  await running.settle();
  await running.shards.lanes[0]?.kill();
  running.second = 61;
  await running.settle();
  assert.deepEqual(running.crossings(), []);
  running.second = 62;
  await running.settle();
  assert.deepEqual(running.crossings(), ['exit provider tag fence']);
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

function coordinatesOf(location: string | undefined): unknown {
  return JSON.parse(location ?? 'null')?.position.coordinates;
}
