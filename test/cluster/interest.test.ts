import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Interest } from '../../src/cluster/fanout/interest.ts';
import type { Variant } from '../../src/model/topics.ts';
import { up } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const VARIANT: Variant = { id: 4, topic: 'fence_events', crs: 'local', zoneId: 'z', geojson: true, unfiltered: false };

/** Hubs that want one variant each, by their own numbers, and the interest that they have received. */
async function hubsOf(context: TestContext, names: readonly string[]) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const received: string[] = [];
  const hubs = await Promise.all(
    names.map(async (name) => {
      const bus = cluster.bus(name);
      const hub = { id: 1, protocolErrors: 0, bus };
      const interest = new Interest({
        bus,
        name: 'hub',
        incarnation: name,
        wanted: () => [{ ...VARIANT, id: hub.id }],
        wants: (member, variants) => received.push(`${name}: ${member} wants ${variants.map(({ id }) => id).join()}`),
        sentTo: () => ({ number: 3, lastOf: [1, 2, 3] }),
        acknowledgedBy: (member, sent) =>
          assert.deepEqual([member !== name, sent], [true, { number: 3, lastOf: [1, 2, 3] }]),
        malformed: () => {
          hub.protocolErrors++;
        },
        schedule: (delayMs, callback) => cluster.schedule(name, delayMs, callback),
      });
      await Promise.all([interest.ready, up(bus)]);
      return Object.assign(hub, { interest });
    }),
  );
  return { clock, cluster, received, hubs };
}

test('Interest is sent to every member, and acknowledged() waits for all of them', async (context) => {
  const { hubs, received, clock } = await hubsOf(context, ['a', 'b', 'c']);
  const [a, b, c] = hubs;
  assert.ok(a && b && c);
  assert.equal(a.interest.acknowledged(), undefined, 'alone');
  for (const hub of hubs)
    for (const name of ['a', 'b', 'c']) if (hub.bus !== hubs['abc'.indexOf(name)]?.bus) hub.interest.joined(name);
  await a.interest.acknowledged();
  assert.deepEqual(received.filter((line) => line.includes('a wants')).sort(), ['b: a wants 1', 'c: a wants 1']);
  await Promise.all([b.interest.allInterestReceived(), clock.wait(100)]);
  assert.equal(a.interest.acknowledged(), undefined);
  a.id = 2;
  a.interest.changed();
  await a.interest.acknowledged();
  assert.deepEqual(received.filter((line) => line.includes('a wants 2')).sort(), ['b: a wants 2', 'c: a wants 2']);
});

test('Interest knows the variants that a member has known since it acknowledged them', async (context) => {
  const { hubs, clock, cluster } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  assert.deepEqual([...a.interest.knownTo('b')], [], 'not acknowledged');
  b.interest.joined('a');
  await a.interest.acknowledged();
  assert.deepEqual([...a.interest.knownTo('b')], [1]);
  // It may receive that it no longer needs the variant, although no answer arrives.
  cluster.mishaps.dropped = 1000;
  a.id = 2;
  a.interest.changed();
  await clock.wait(100);
  assert.deepEqual([...a.interest.knownTo('b')], []);
  cluster.mishaps.dropped = 0;
  await a.interest.acknowledged();
  assert.deepEqual([...a.interest.knownTo('b')], [2]);
  a.interest.gone('b');
  assert.deepEqual([...a.interest.knownTo('b')], []);
});

test('Interest counts a later member as one that knows the variants of the first message', async (context) => {
  const { hubs, cluster, clock } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  cluster.mishaps.unanswered = 1000;
  cluster.mishaps.dropped = 1000;
  a.interest.joined('a');
  a.interest.joined('b');
  await clock.wait(100);
  assert.deepEqual([...a.interest.knownTo('b')], [1], 'it owns nothing before it has the interest');
  a.id = 2;
  a.interest.changed();
  await clock.wait(1000);
  assert.deepEqual([...a.interest.knownTo('b')], [], 'it may have either message');
});

test('Interest combines many changes in one message, and includes the last one', async (context) => {
  const { hubs, received, clock } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  b.interest.joined('a');
  await a.interest.acknowledged();
  for (let i = 0; i < 100; i++) {
    a.id++;
    a.interest.changed();
    await clock.wait(1);
  }
  await a.interest.acknowledged();
  const acknowledged = received.filter((line) => line.startsWith('b'));
  assert.equal(acknowledged.at(-1), 'b: a wants 101');
  assert.ok(acknowledged.length <= 8, `${acknowledged.length} messages in 100 ms`);
});

test('Interest waits for no removed member, nor forever for a silent one', async (context) => {
  const { hubs, cluster, clock, received } = await hubsOf(context, ['a', 'b', 'c']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  b.interest.joined('a');
  await b.interest.allInterestReceived();
  cluster.deafen('b');
  a.interest.changed();
  const acknowledged = a.interest.acknowledged();
  await clock.wait(5000);
  a.interest.gone('b');
  await acknowledged;
  assert.equal(received.at(-1), 'a: b wants ');
  a.interest.joined('c');
  const startMs = clock.nowMs;
  await assert.rejects(
    async () => a.interest.acknowledged(),
    /Cannot subscribe: not all hubs have acknowledged it in 6,000 ms/,
  );
  assert.ok(clock.nowMs - startMs > 5999);
  const receivedByAll = a.interest.allInterestReceived();
  a.interest.close();
  await assert.rejects(receivedByAll, /this hub is no member of the cluster/);
  await assert.rejects(a.interest.allInterestReceived(), /this hub is no member of the cluster/);
});

test('Interest reaches a hub that finds out later that the other is a member', async (context) => {
  const { hubs, clock, received } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  const acknowledged = a.interest.acknowledged();
  const startMs = clock.nowMs;
  await clock.wait(300);
  assert.deepEqual(received, []);
  b.interest.joined('a');
  await acknowledged;
  assert.ok(clock.nowMs - startMs < 400);
});

test('Interest resends all variants after the connection was lost', async (context) => {
  const { hubs, cluster, clock, received } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  b.interest.joined('a');
  await a.interest.acknowledged();
  cluster.isolate('a');
  await clock.wait(10);
  a.interest.down();
  const acknowledged = a.interest.acknowledged();
  assert.ok(acknowledged);
  cluster.restore('a');
  await acknowledged;
  assert.equal(received.filter((line) => line.startsWith('b')).length, 1, 'what is known changes nothing');
});
