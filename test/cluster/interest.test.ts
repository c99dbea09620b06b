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
      const hub = { id: 1, protocolErrors: 0, bus, received: Promise.resolve(), published: Promise.resolve([7, 8]) };
      const interest = new Interest({
        bus,
        name: 'hub',
        incarnation: name,
        wanted: () => [{ ...VARIANT, id: hub.id }],
        wants: (member, variants) => received.push(`${name}: ${member} wants ${variants.map(({ id }) => id).join()}`),
        sentTo: () => ({ number: 3, lastOf: [1, 2, 3] }),
        published: () => hub.published,
        async acknowledgedBy(member, answer) {
          const sent = { number: 3, lastOf: [1, 2, 3] };
          assert.deepEqual([member !== name, answer], [true, { sent, unpublished: [7, 8] }]);
          await hub.received;
          return interest.has(member);
        },
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

test('Interest knows the last number that a member has acknowledged', async (context) => {
  const { hubs, clock, cluster } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  a.interest.joined('b');
  assert.equal(a.interest.acknowledgedBy('b'), -1, 'not acknowledged');
  b.interest.joined('a');
  await a.interest.acknowledged();
  assert.equal(a.interest.acknowledgedBy('b'), 1);
  cluster.mishaps.dropped = 1000;
  a.interest.changed();
  await clock.wait(100);
  assert.deepEqual([a.interest.number, a.interest.acknowledgedBy('b')], [2, 1]);
  cluster.mishaps.dropped = 0;
  await a.interest.acknowledged();
  assert.equal(a.interest.acknowledgedBy('b'), 2);
  a.interest.gone('b');
  assert.equal(a.interest.acknowledgedBy('b'), -1);
});

test('Interest counts a later member as one that has acknowledged the first message', async (context) => {
  const { hubs, cluster, clock } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  cluster.mishaps.unanswered = 1000;
  cluster.mishaps.dropped = 1000;
  a.interest.joined('a');
  a.interest.joined('b');
  await clock.wait(100);
  assert.equal(a.interest.acknowledgedBy('b'), 1, 'it owns nothing before it has the interest');
  a.interest.changed();
  await clock.wait(1000);
  assert.equal(a.interest.acknowledgedBy('b'), 1, 'it may have either message');
});

test('Interest is acknowledged when the shards of the other hub have published all steps that may not know it', async (context) => {
  const { hubs, clock, received } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  const published = Promise.withResolvers<number[]>();
  b.published = published.promise;
  b.interest.joined('a');
  a.interest.joined('b');
  await clock.wait(1500);
  assert.deepEqual(
    received.filter((line) => line.startsWith('b')),
    ['b: a wants 1'],
    'requests are repeated',
  );
  assert.ok(a.interest.acknowledged());
  published.resolve([7, 8]);
  await a.interest.acknowledged();
});

test('An acknowledgement counts when all that was sent before has been received', async (context) => {
  const { hubs, clock } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  const missing = Promise.withResolvers<void>();
  a.received = missing.promise;
  a.interest.joined('b');
  b.interest.joined('a');
  await clock.wait(200);
  assert.ok(a.interest.acknowledged());
  assert.equal(a.interest.acknowledgedBy('b'), -1);
  missing.resolve();
  await a.interest.acknowledged();
  assert.equal(a.interest.acknowledgedBy('b'), 1);
});

test('Interest is sent again to a hub whose shards could not publish', async (context) => {
  const { hubs, clock } = await hubsOf(context, ['a', 'b']);
  const [a, b] = hubs;
  assert.ok(a && b);
  b.published = Promise.reject(new Error('its worker has failed'));
  b.published.catch(() => undefined);
  a.interest.joined('b');
  b.interest.joined('a');
  await clock.wait(200);
  assert.ok(a.interest.acknowledged());
  b.published = Promise.resolve([7, 8]);
  await a.interest.acknowledged();
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
