import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { sealLane } from '../../src/cluster/journal_lane.ts';
import { journalStreams, lanePlaces } from '../../src/cluster/lane_places.ts';
import { Lanes } from '../../src/cluster/lanes.ts';
import { Pulse } from '../../src/cluster/pulse.ts';
import { readLanes } from '../../src/cluster/take_over.ts';
import { lend } from '../../src/model/borrowed.ts';
import { packStep } from '../../src/wire/lane_record.ts';
import type { ShardReply } from '../../src/wire/messages.ts';
import { textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** Messages that a lane with nothing to keep may have. */
const FEW = 70;

/** The lanes of a hub, as its cluster has them, and another hub that can seal and read them. */
async function world(context: TestContext) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const [bus, other] = [cluster.bus('owner'), cluster.bus('other')];
  await Promise.all([up(bus), up(other)]);
  for (const stream of journalStreams('hub', 'i')) await bus.makeStream({ ...stream, replicas: 3, storage: 'memory' });
  const ended: Error[] = [];
  const lanes = new Lanes({
    ...{ bus, name: 'hub', incarnation: 'i', shards: 1, elapsed: clock.elapsed },
    schedule: (ms, callback) => cluster.schedule('owner', ms, callback),
    writeState: async () => undefined,
    widen: async () => undefined,
    ended: (error) => ended.push(error),
  });
  const seal = () => {
    const places = lanePlaces('hub', 'i', 0);
    return sealLane({ bus: other, places, schedule: clock.schedule, by: 'other', isOff: () => false });
  };
  const pulse = new Pulse({
    ...{ elapsed: clock.elapsed, schedule: clock.schedule },
    barrier: () => lanes.barrier(),
    kept: () => void lanes.trimIdle(),
  });
  return {
    ...{ clock, cluster, lanes, pulse, ended, seal },
    async messages() {
      return (await other.streams('hub_J_')).reduce((sum, { messages }) => sum + messages, 0);
    },
    /** The steps that are found when the lanes are sealed now. */
    async left() {
      await seal();
      const [steps = []] = await readLanes({ bus: other, name: 'hub', incarnation: 'i', shards: 1 });
      return steps.map(({ step }) => textOf(step.batch));
    },
  };
}

function step(order: number): ShardReply {
  const text = `step ${order}`;
  const record = packStep({ order, nowMs: 0, batch: lend(utf8(text)), effects: lend(new Uint8Array()) });
  return { record: lend(zstdCompressSync(record)) } as unknown as ShardReply;
}

test('A pulse of a lane with nothing to keep leaves few messages, and steps that come later are found', async (context) => {
  const { clock, lanes, pulse, messages, left } = await world(context);
  pulse.start();
  await clock.wait(300_000);
  assert.ok(lanes.appends.count > 280, `${lanes.appends.count} appends`);
  assert.ok((await messages()) < FEW, `${await messages()} messages`);
  await lanes.keep(0, step(1));
  await clock.wait(300_000);
  pulse.stop();
  assert.deepEqual(await left(), ['step 1']);
});

test('A pulse behind steps that are in the state leaves few messages, and none of the steps', async (context) => {
  const { clock, lanes, pulse, messages, left } = await world(context);
  pulse.start();
  await lanes.keep(0, step(1));
  await clock.wait(3000);
  const begunAt = lanes.roundBegun(0);
  await clock.wait(10_000);
  await lanes.roundOver(0, begunAt);
  await clock.wait(300_000);
  assert.ok((await messages()) < FEW, `${await messages()} messages`);
  await lanes.keep(0, step(2));
  await clock.wait(300_000);
  pulse.stop();
  assert.deepEqual(await left(), ['step 2']);
});

test('A pulse is late two seconds after the last append, and no more when one is kept', async (context) => {
  const { clock, cluster, pulse } = await world(context);
  assert.equal(pulse.lateMs, undefined);
  pulse.start();
  await clock.wait(10_000);
  assert.equal(pulse.lateMs, undefined);
  cluster.isolate('owner');
  await clock.wait(900);
  assert.equal(pulse.lateMs, undefined);
  await clock.wait(2200);
  assert.ok((pulse.lateMs ?? 0) > 2000, `${pulse.lateMs} ms`);
  cluster.restore('owner');
  await clock.wait(3000);
  assert.equal(pulse.lateMs, undefined);
  pulse.stop();
});

test('A hub that owns nothing learns by its pulse that others have sealed its lanes', async (context) => {
  const { clock, pulse, ended, seal } = await world(context);
  pulse.start();
  await clock.wait(5000);
  await seal();
  await clock.wait(2000);
  assert.match(ended[0]?.message ?? '', /was sealed by "other"/);
});
