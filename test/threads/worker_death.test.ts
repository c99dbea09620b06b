import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fenceAround, meters, provider, RunningShards, type Reported, trackable } from './running_shards.ts';

const INSIDE = meters(0, 0);
const OUTSIDE = meters(100, 0);

function coordinatesOf(location: unknown): unknown {
  return (location as { position: { coordinates: unknown } } | undefined)?.position.coordinates;
}

/** Entries and exits must alternate for each fence and object, starting with an entry. */
function assertAlternate(crossings: readonly string[]): void {
  const inside = new Set<string>();
  for (const crossing of crossings) {
    const [kind, ...where] = crossing.split(' ');
    assert.equal(inside.has(where.join(' ')), kind === 'exit', `${crossing}, after ${crossings.join(', ')}`);
    if (kind === 'exit') inside.delete(where.join(' '));
    else inside.add(where.join(' '));
  }
}

test('A worker killed under load loses no location, repeats no event and keeps the counters balanced', async () => {
  const step = fc.record({
    tag: fc.integer({ min: 0, max: 7 }),
    isInside: fc.boolean(),
    /** Tags with a location in the same body as this one. */
    others: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([0, 1, 2, 3, 4, 5, 6, 7])),
    after: fc.oneof(
      { weight: 20, arbitrary: fc.constant('go on' as const) },
      { weight: 4, arbitrary: fc.constantFrom('yield' as const, 'flush' as const) },
      { weight: 1, arbitrary: fc.constantFrom('kill' as const, 'kill twice' as const) },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 80, maxLength: 80 }), async (steps) => {
      const running = new RunningShards({ shards: 2, batchMax: 20 });
      const last = new Map<string, readonly number[]>();
      running.tell(fenceAround('fence', [0, 0], 20));
      for (let tag = 0; tag < 8; tag++) running.tell(provider(`tag ${tag}`));
      for (let tag = 0; tag < 4; tag++) running.tell(trackable(`cart ${tag}`, [`tag ${tag}`]));
      for (const [index, { tag, isInside, others, after }] of steps.entries()) {
        running.second++;
        const place = isInside ? meters(0, index / 100) : meters(100, index / 100);
        const names = [tag, ...others].map((number) => `tag ${number}`);
        if (others.length === 0) running.location(`tag ${tag}`, place);
        else running.body(...names.map((name) => [name, place] as const));
        for (const name of names) last.set(name, place);
        const lane = running.shards.lanes[index % 2];
        if (after === 'flush') lane?.flush();
        if (after !== 'go on') await new Promise((resolve) => setImmediate(resolve));
        if (after === 'kill' || after === 'kill twice') await lane?.kill();
        if (after === 'kill twice') {
          await new Promise((resolve) => setImmediate(resolve));
          await lane?.kill();
        }
      }
      await running.settle();
      const found = await Promise.all([...last.keys()].map((id) => running.read({ ask: 'provider_location', id })));
      const carts = [...last.keys()].filter((id) => id < 'tag 4');
      const motions = await Promise.all(
        carts.map((id) => running.read({ ask: 'trackable_motion', id: id.replace('tag', 'cart') })),
      );
      await running.close();
      assert.deepEqual(
        found.map((locations) => coordinatesOf(locations?.[0])),
        [...last.values()],
      );
      assert.deepEqual(
        motions.map((of) => coordinatesOf((of?.[0] as { location: unknown } | undefined)?.location)),
        carts.map((id) => last.get(id)),
      );
      assertAlternate(running.crossings());
      const { processed, outdated, rejected } = running.counts;
      assert.deepEqual([processed, outdated, rejected], [running.sent, 0, 0]);
      assert.deepEqual(running.lost, []);
    }),
    { numRuns: 2, seed: 7, endOnFailure: true },
  );
});

test('A single location survives repeated kills of its worker', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  await running.settle();
  let kills = 3;
  running.onClock = () => {
    if (kills-- > 0) void running.shards.lanes[0]?.kill();
  };
  running.location('tag', INSIDE);
  await running.shards.settled();
  assert.deepEqual([running.lost, running.counts.processed, running.counts.workerRestarts], [[], 1, 3]);
});

test('A new worker knows entities, memberships, fence timeouts and all motions since the last flush', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  const [shard] = running.shards.lanes;
  running.tell(fenceAround('fence', [0, 0], 20, { timeout: 30_000 }), trackable('cart', ['tag']));
  running.location('tag', INSIDE);
  await running.settle();
  running.second = 20;
  running.location('tag', meters(1, 0));
  await running.settle();
  await shard?.kill();
  running.second = 40;
  await running.settle();
  assert.deepEqual(coordinatesOf((await running.read({ ask: 'provider_location', id: 'tag' }))?.[0]), meters(1, 0));
  const fences = await running.read({ ask: 'trackable_fences', id: 'cart', spatial: false });
  assert.deepEqual(fences, ['fence'], 'its timeout counts from the last location');
  assert.equal(running.crossings().length, 2);
  running.second = 60;
  await running.settle();
  assert.deepEqual(running.crossings().slice(2).sort(), ['exit provider tag fence', 'exit trackable cart fence']);
  const exits = running.events.filter(({ event_type: type }) => type === 'region_exit');
  assert.deepEqual(
    exits.map((exit) => exit['exit_time']),
    Array(2).fill('2026-03-01T12:00:50.000Z'),
  );
  assert.equal(running.counts.workerRestarts, 1);
});

test('A new worker continues all timers, of entries and of exits', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  const [shard] = running.shards.lanes;
  running.tell(
    fenceAround('slow door', [0, 0], 20, { entry_delay: 30_000 }),
    fenceAround('long goodbye', [0, 0], 20, { exit_delay: 40_000 }),
    fenceAround('wide edge', [0, 0], 20, { exit_tolerance: 200, tolerance_timeout: 50_000 }),
  );
  const die = async (second: number): Promise<void> => {
    running.second = second;
    await shard?.kill();
    await running.settle();
  };
  running.location('tag', INSIDE);
  await running.settle();
  await die(3);
  running.second = 10;
  running.location('leaver', INSIDE);
  running.second = 11;
  running.location('leaver', OUTSIDE);
  await running.settle();
  // First with rows that are not yet emitted, then with rows that are emitted and dropped.
  await die(12);
  shard?.flush();
  await running.settle();
  await die(13);
  running.second = 100;
  await running.settle();
  const timeOf = ({ event_type: type, exit_time: exit, entry_time: entry }: Reported): unknown =>
    (type === 'region_exit' ? exit : entry)?.toString().slice(14, 19);
  assert.deepEqual(
    running.events
      .filter(({ topic }) => topic === 'fence_events')
      .map((event) => `${event['provider_id']} ${event['event_type']} ${event['fence_id']} ${timeOf(event)}`)
      .sort(),
    [
      'leaver region_entry long goodbye 00:10',
      'leaver region_entry wide edge 00:10',
      'leaver region_exit long goodbye 00:51',
      'leaver region_exit wide edge 01:01',
      'tag region_entry long goodbye 00:00',
      'tag region_entry slow door 00:00',
      'tag region_entry wide edge 00:00',
    ],
  );
  assert.equal(running.counts.workerRestarts, 3);
});

test('A new worker applies deletions, and has no migrated objects', async (t) => {
  const running = new RunningShards({ shards: 2 });
  t.after(() => running.close());
  running.tell(fenceAround('old', [0, 0], 20), fenceAround('new', [0, 0], 20), provider('gone'), trackable('bin', []));
  for (const id of ['gone', 'forgotten', 'a', 'b', 'c']) running.location(id, INSIDE);
  running.tell({ kind: 'fence', id: 'old', entity: undefined }, { kind: 'provider', id: 'gone', entity: undefined });
  running.tell({ kind: 'trackable', id: 'bin', entity: undefined });
  running.shards.forget('forgotten');
  // One trackable links these tags, so at least two of them migrate.
  running.tell(trackable('cart', ['a', 'b', 'c']));
  await running.settle();
  const before = running.events.length;
  for (const shard of running.shards.lanes) await shard.kill();
  await running.settle();
  const [locations, motions] = await Promise.all([
    running.read({ ask: 'provider_locations' }),
    running.read({ ask: 'fence_providers', id: 'new', spatial: false }),
  ]);
  assert.deepEqual(locations?.map((location) => (location as { provider_id: string }).provider_id).sort(), [...'abc']);
  assert.deepEqual(motions?.toSorted(), [...'abc']);
  assert.equal(running.events.length, before, 'no event is published');
  running.second = 1;
  running.location('b', OUTSIDE);
  await running.settle();
  const exits = running.crossings().filter((crossing) => crossing.startsWith('exit provider b'));
  assert.deepEqual(exits, ['exit provider b old', 'exit provider b new'].slice(1));
});

test('Objects that have migrated to another shard survive the death of both workers at once', async (t) => {
  const running = new RunningShards({ shards: 2 });
  t.after(() => running.close());
  const ids = Array.from({ length: 6 }, (_, index) => `tag ${index}`);
  running.tell(fenceAround('fence', [0, 0], 20));
  for (const id of ids) running.location(id, INSIDE);
  await running.settle();
  running.second = 1;
  // After the rows of their entries were written.
  for (const [index, id] of ids.entries()) running.location(id, meters(1, index));
  await running.settle();
  for (const id of ids) running.tell(trackable(`carrier of ${id}`, [id]));
  await running.settle();
  await Promise.all(running.shards.lanes.map((shard) => shard.kill()));
  for (const [index, id] of ids.entries()) {
    const found = await running.read({ ask: 'provider_location', id });
    assert.deepEqual(coordinatesOf(found?.[0]), meters(1, index));
  }
  for (const id of ids) running.location(id, meters(2, 0));
  for (const id of ids) running.location(id, OUTSIDE);
  await running.settle();
  assertAlternate(running.crossings());
  assert.equal(running.crossings().length, 4 * ids.length);
});

test('A worker that journals its steps and has adopted nothing recovers its flushed state', async (t) => {
  const running = new RunningShards({ shards: 1, commitSteps: async () => undefined });
  t.after(() => running.close());
  running.tell(fenceAround('fence', [0, 0], 20), provider('tag'));
  running.location('tag', INSIDE);
  await running.shards.settled();
  await running.shards.committed();
  await running.shards.lanes[0]?.kill();
  running.second++;
  running.location('tag', OUTSIDE);
  await running.settle();
  assert.deepEqual(running.crossings(), ['entry provider tag fence', 'exit provider tag fence']);
});
