import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { RemoteShards } from '../../src/cluster/routing/remote_shards.ts';
import type { OwnerClient } from '../../src/cluster/rpc/owner_client.ts';
import { accept } from '../../src/core/location/accepted.ts';
import type { PackedStep } from '../../src/wire/journal_record.ts';
import type { ShardReply } from '../../src/wire/messages.ts';
import type { CountedRun } from '../../src/wire/received_run.ts';
import { T0 } from '../support/shard_harness.ts';
import { fenceAround, meters, provider, releasedSteps, RunningShards, trackable } from './running_shards.ts';

const PROVIDERS = Array.from({ length: 12 }, (_, i) => `tag ${i}`);

interface Place {
  readonly id: string;
  readonly at: readonly [lon: number, lat: number];
  readonly second: number;
}

/** Shards with a site, whose objects migrate when `assign` is called. */
function site(context: TestContext): { running: RunningShards; assign: () => void } {
  const running = new RunningShards({ shards: 3 });
  context.after(() => running.close());
  running.tell(fenceAround('fence', [0, 0], 20), ...PROVIDERS.map((id) => provider(id)));
  return { running, assign: () => running.tell(...PROVIDERS.map((id) => trackable('cart', PROVIDERS, { name: id }))) };
}

/** Returns locations in the form in which another hub forwards them. */
function runsOf(places: readonly Place[]): CountedRun[] {
  const runs: CountedRun[] = [];
  const run = (some: CountedRun): void => void runs.push({ ...some, bytes: Uint8Array.from(some.bytes) });
  const front = new RemoteShards({ run } as unknown as OwnerClient);
  for (const { id, at, second } of places) {
    const generatedMs = T0 + second * 1000;
    const value = {
      position: { type: 'Point' as const, coordinates: [...at] },
      provider_type: 'uwb' as const,
      timestamp_generated: new Date(generatedMs).toISOString(),
    };
    const location = accept(value, { providerId: id, source: id, crs: 'EPSG:4326', generatedMs });
    // The clock of the other hub differs.
    front.location(location, { generatedMs, receivedMs: generatedMs - 5000 });
  }
  return runs;
}

test('Locations forwarded by another hub are processed like local ones, even while objects migrate between shards', async (context) => {
  const [here, there] = [site(context), site(context)];
  for (let second = 0; second < 4; second++) {
    const places = PROVIDERS.map((id, i): Place => ({ id, at: meters((second * 7 + i) % 25, 0), second }));
    for (const { running, assign } of [here, there]) {
      running.second = second;
      if (second === 2) assign();
    }
    assert.equal(there.running.shards.isMoving, second === 2);
    for (const { id, at } of places) here.running.location(id, at);
    const receiving = { receivedMs: T0 + second * 1000, eventTime: (ms: number) => ms };
    for (const run of runsOf(places)) there.running.shards.received(run, receiving);
    await Promise.all([here.running.settle(), there.running.settle()]);
  }
  const read = ({ running }: typeof here) =>
    Promise.all(PROVIDERS.map((id) => running.read({ ask: 'provider_location', id })));
  assert.deepEqual(await read(there), await read(here));
  const crossings = here.running.crossings();
  assert.ok(crossings.length > 20, `${crossings.length}`);
  assert.deepEqual(there.running.crossings().sort(), crossings.sort());
});

test('A provider that was located before it was created is released with all others', async (context) => {
  const steps: PackedStep[] = [];
  const commitSteps = async (_shard: number, reply: ShardReply) => void steps.push(...releasedSteps(reply));
  const hubs = [1, 2].map(() => new RunningShards({ shards: 2, sequence: () => 1, commitSteps }));
  for (const hub of hubs) context.after(() => hub.close());
  const [from, to] = hubs as [RunningShards, RunningShards];
  const nothing = { rows: [], steps: [], config: 1, objects: { providers: [], trackables: [] } };
  for (const { shards } of hubs) await shards.adopt(nothing, 0);
  from.tell(provider('known'));
  const ids = ['known', 'not created yet'];
  for (const run of runsOf(ids.map((id) => ({ id, at: meters(1, 0), second: 0 })))) {
    from.shards.received(run, { receivedMs: T0, eventTime: (ms) => ms });
  }
  const objects = from.shards.objects();
  assert.deepEqual(objects, { providers: ids, trackables: [] });
  await from.shards.release(objects, 7);
  await to.shards.adopt({ rows: [], steps, config: 1, objects }, 0);
  for (const id of ids) {
    const found = await to.read({ ask: 'provider_location', id });
    assert.equal(found?.length, 1, `${id}: ${JSON.stringify(found)}`);
  }
  // Once it is created, it is no longer unconfigured, and it is listed once.
  from.tell(provider('not created yet'));
  assert.deepEqual(from.shards.objects().providers, ids);
});

for (const shards of [1, 3]) {
  test(`With ${shards} shards, locations of a body that belong to other hubs are left out`, async (context) => {
    const running = new RunningShards({ shards });
    context.after(() => running.close());
    running.tell(...PROVIDERS.map((id) => provider(id)));
    running.elsewhere = new Set(PROVIDERS.filter((_, index) => index % 3 === 1));
    running.body(...PROVIDERS.map((id, index) => [id, meters(index, 0)] as const));
    await running.settle();
    const known = await Promise.all(PROVIDERS.map((id) => running.read({ ask: 'provider_location', id })));
    assert.deepEqual(
      known.map((places) => places === undefined),
      PROVIDERS.map((id) => running.elsewhere.has(id)),
    );
    const wanted = PROVIDERS.length - running.elsewhere.size;
    assert.deepEqual([running.counts.processed, running.sent], [wanted, wanted]);
  });
}
