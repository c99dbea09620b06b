import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { Channel } from '../../src/cluster/channel/channel.ts';
import { readMessage } from '../../src/cluster/channel/channel_message.ts';
import { ClusterFanout } from '../../src/cluster/fanout/cluster_fanout.ts';
import { ProtocolErrors } from '../../src/cluster/messages/protocol_errors.ts';
import type { EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { lend } from '../../src/model/borrowed.ts';
import type { Variant } from '../../src/model/topics.ts';
import { schedule } from '../../src/time/clock.ts';
import { diceOf } from '../support/dice.ts';
import { batchesOf } from '../support/event_batches.ts';
import { up } from './contract.ts';
import { openTestBus, testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;

const EVENTS = 20_000;
const STEP = 500;
/** Most losses of the same frame: a receiver requests it at least four times, however slow the answers are. */
const LOSSES_MAX = 3;

function hubOn(context: TestContext, bus: Bus, incarnation: string) {
  const hub = { variants: [] as readonly Variant[], proximities: [] as string[] };
  const fanout: Fanout = new Fanout({
    variantsChanged: (variants) => {
      hub.variants = variants;
    },
    interestChanged: () => shared.interestChanged(),
    forward: (events, to) => shared.forward(events, to),
  });
  const common = { bus, name: 'fan', incarnation, schedule };
  const channel = new Channel({ ...common, malformed: new ProtocolErrors('events', assert.fail) });
  const shared = new ClusterFanout({
    ...{ ...common, channel, fanout },
    published: async () => [],
    announce: {
      proximity: (text) => hub.proximities.push(text),
      fenceEvent: () => undefined,
      fenceEventAgain: () => undefined,
    },
    notice: assert.fail,
  });
  context.after(() => {
    channel.close();
    shared.close();
  });
  return Object.assign(hub, { fanout, channel, shared });
}

/** A bus that loses some of the frames it is to send, none so often that it has to be given up. */
function lossy(bus: Bus): Bus {
  const dice = diceOf(4);
  const losses = new Map<number, number>();
  const publish = (subject: string, bytes: Uint8Array): boolean => {
    if (!subject.startsWith('fan.e.')) return bus.publish(subject, bytes);
    const { number } = readMessage(lend(bytes));
    const lost = losses.get(number) ?? 0;
    if (lost === LOSSES_MAX || dice(4) !== 0) return bus.publish(subject, bytes);
    losses.set(number, lost + 1);
    return true;
  };
  return new Proxy(bus, {
    get(target, key) {
      if (key === 'publish') return publish;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('ClusterFanout retransmits lost messages over NATS', { skip }, async (context) => {
  const buses = [await openTestBus(context, nats, { name: 'fan' }), await openTestBus(context, nats, { name: 'fan' })];
  const [owner, other] = buses.map(({ bus }, i) => hubOn(context, i === 0 ? lossy(bus) : bus, `h${i}`));
  assert.ok(owner && other);
  await Promise.all(buses.map(({ bus }) => up(bus)));
  await Promise.all([owner.shared.ready(), other.shared.ready()]);
  owner.shared.joined('h1');
  other.shared.joined('h0');
  const got: string[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const subscriber: EventSubscriber = {
    deliver(_id, { strings }) {
      got.push(...strings);
      if (got.length === 500) resolve();
    },
    missed: (_id, why) => assert.fail(why),
  };
  other.fanout.subscribe(subscriber, { topic: 'location_updates', view: { crs: 'EPSG:4326' } });
  await other.shared.acknowledged();
  const strings = Array.from({ length: 500 }, (_, n) => `{"n":${n},"more":"${'x'.repeat(2000)}"}`);
  for (const text of strings) {
    owner.fanout.publish(batchesOf([{ variant: owner.variants[0]?.id ?? 0, fields: [], text }]));
    await turn();
  }
  await done;
  assert.deepEqual(got, strings);
  assert.deepEqual([other.shared.losses, other.channel.repairs > 0], [0, true]);
});

test('ClusterFanout carries 20,000 events over NATS to the subscribers of another hub', { skip }, async (context) => {
  const buses = [await openTestBus(context, nats, { name: 'fan' }), await openTestBus(context, nats, { name: 'fan' })];
  const [owner, other] = buses.map(({ bus }, i) => hubOn(context, bus, `h${i}`));
  assert.ok(owner && other);
  await Promise.all(buses.map(({ bus }) => up(bus)));
  await Promise.all([owner.shared.ready(), other.shared.ready()]);
  owner.shared.joined('h1');
  other.shared.joined('h0');
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const [all, some]: [string[], string[]] = [[], []];
  const into = (got: string[]): EventSubscriber => ({
    deliver(_id, { strings }) {
      got.push(...strings);
      if (all.length === EVENTS) resolve();
    },
    missed: (_id, why) => assert.fail(why),
  });
  const topic = 'location_updates';
  other.fanout.subscribe(into(all), { topic, view: { crs: 'EPSG:4326' } });
  const filter = compileFilter(topic, { provider_id: 'p3' });
  other.fanout.subscribe(into(some), { topic, view: { crs: 'EPSG:4326' }, filter });
  await other.shared.acknowledged();
  const [variant] = owner.variants;
  assert.ok(variant?.unfiltered === false);
  const strings = Array.from(
    { length: EVENTS },
    (_, i) => `{"provider_id":"p${i % 10}","n":${i},"é":"${'x'.repeat(200)}"}`,
  );
  for (let from = 0; from < EVENTS; from += STEP) {
    const step = strings
      .slice(from, from + STEP)
      .map((text, i) => ({ variant: variant.id, fields: [`p${i % 10}`], text }));
    owner.fanout.publish(batchesOf(step));
    await turn();
  }
  owner.shared.announce('proximity', '{"provider_id":"p"}');
  await done;
  assert.deepEqual(all, strings);
  assert.deepEqual(
    some,
    strings.filter((_, i) => i % 10 === 3),
  );
  await other.shared.acknowledged();
  while (other.proximities.length === 0) await turn();
  assert.deepEqual([other.proximities, owner.proximities, other.shared.losses], [['{"provider_id":"p"}'], [], 0]);
});
