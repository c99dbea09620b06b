import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Bus, StreamSettings } from '../../src/cluster/nats/bus.ts';
import { look } from '../../src/model/borrowed.ts';
import { readAll, textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const STREAM: StreamSettings = { name: 'hub_S', subjects: ['hub.s'], replicas: 3, storage: 'file' };
const APPEND = { stream: 'hub_S', subject: 'hub.s', timeoutMs: 700 };

function simulated(context: TestContext, seed = 1): SimulatedCluster {
  const clock = new SimulatedClock();
  context.after(clock.run());
  return new SimulatedCluster({ clock, seed });
}

/** Appends numbers one after another, repeating unanswered ones, until that many are stored. */
async function appendUntil(cluster: SimulatedCluster, bus: Bus, count: number): Promise<number[]> {
  const committedAtMs: number[] = [];
  for (let last = 0; last < count; ) {
    const text = String(last + 1);
    const appended = await bus.append({ ...APPEND, bytes: utf8(text), expects: { lastOfSubject: last } });
    if (appended.at === 'refused') {
      const found = await bus.last('hub_S', 'hub.s').catch(() => undefined);
      if (found === undefined) continue;
      assert.equal(textOf(found.bytes), text);
      last = found.sequence;
    } else if (appended.at === 'committed') last = appended.sequence;
    else continue;
    committedAtMs.push(cluster.clock.nowMs);
  }
  return committedAtMs;
}

/** Messages that a subscriber receives from two publishers, one of which is stopped for a while and cut off for another. */
async function trace(context: TestContext, seed: number): Promise<string[]> {
  const cluster = simulated(context, seed);
  cluster.mishaps.dropped = 100;
  const [a, b, c] = [cluster.bus('a'), cluster.bus('b'), cluster.bus('c')];
  const received: string[] = [];
  const take = (name: string) => c.subscribe(name, ({ bytes }) => received.push(textOf(look(bytes))));
  await Promise.all([take('from.*').ready, up(a), up(b)]);
  for (let i = 0; i < 200; i++) {
    if (i === 50) cluster.stop('c');
    if (i === 80) cluster.resume('c');
    if (i === 120) cluster.isolate('b');
    if (i === 140) cluster.restore('b');
    a.publish('from.a', utf8(`a${i}`));
    b.publish('from.b', utf8(`b${i}`));
    await cluster.clock.wait(1);
  }
  await cluster.clock.wait(1000);
  return received;
}

test('SimulatedBus delays, drops, and mixes publishers, and keeps the order of each', async (context) => {
  const received = await trace(context, 7);
  const of = (name: string) => received.filter((text) => text.startsWith(name)).map((text) => Number(text.slice(1)));
  for (const numbers of [of('a'), of('b')])
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
  assert.ok(of('a').length > 150 && of('a').length < 200, `${of('a').length} of 200`);
  assert.ok(!of('b').includes(130), 'received through a cut link');
  const sent = received.map((text) => Number(text.slice(1)));
  assert.ok(sent.some((number, index) => number < (sent[index - 1] ?? 0)));
});

test('SimulatedBus does the same with the same seed, and something else with another', async (context) => {
  const first = await trace(context, 3);
  assert.deepEqual(await trace(context, 3), first);
  assert.notDeepEqual(await trace(context, 4), first);
});

test('SimulatedBus elects a new leader within seconds, and loses nothing', async (context) => {
  const cluster = simulated(context);
  const a = cluster.bus('a');
  await a.makeStream(STREAM);
  const leader = cluster.leaderOf('hub_S');
  cluster.clock.schedule(50, () => cluster.kill(leader));
  const committedAtMs = await appendUntil(cluster, a, 100);
  const longestMs = Math.max(...committedAtMs.map((atMs, index) => atMs - (committedAtMs[index - 1] ?? atMs)));
  assert.ok(longestMs > 4000 && longestMs < 10_500, `${longestMs} ms`);
  assert.notEqual(cluster.leaderOf('hub_S'), leader);
  cluster.resume(leader);
  const found = (await readAll(a, STREAM, 1)).map(({ bytes }) => Number(textOf(bytes)));
  assert.deepEqual(
    found,
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
});

test('SimulatedBus stores appends that it does not answer, and then no others', async (context) => {
  const cluster = simulated(context);
  const a = cluster.bus('a');
  await a.makeStream(STREAM);
  cluster.mishaps.unanswered = 300;
  await appendUntil(cluster, a, 50);
  cluster.mishaps.unanswered = 0;
  assert.equal((await readAll(a, STREAM, 1)).length, 50);
});

test('SimulatedBus keeps no append of a member that is cut off from the majority', async (context) => {
  const cluster = simulated(context);
  const a = cluster.bus('a');
  const b = cluster.bus('b');
  await a.makeStream(STREAM);
  for (const server of ['n2', 'n3']) {
    cluster.cut('n1', server);
    cluster.cut('a', server);
  }
  cluster.cut('b', 'n1');
  await cluster.clock.wait(12_000);
  assert.deepEqual(await a.append({ ...APPEND, bytes: utf8('minority') }), { at: 'unknown' });
  assert.deepEqual(await b.append({ ...APPEND, bytes: utf8('majority') }), { at: 'committed', sequence: 1 });
});

test('SimulatedBus delivers messages to a stopped member once it is resumed', async (context) => {
  const cluster = simulated(context);
  const [a, b] = [cluster.bus('a'), cluster.bus('b')];
  await a.makeStream(STREAM);
  const found: number[] = [];
  await b.follow('hub_S', { subjects: ['hub.s'], fromSequence: 1 }, ({ sequence }) => found.push(sequence)).ready;
  let ticks = 0;
  cluster.schedule('b', 10, () => ticks++);
  cluster.stop('b');
  await appendUntil(cluster, a, 5);
  await cluster.clock.wait(1000);
  assert.deepEqual([found, ticks], [[], 0]);
  cluster.resume('b');
  await cluster.clock.wait(1000);
  assert.deepEqual([found, ticks], [[1, 2, 3, 4, 5], 1]);
});

test('SimulatedBus removes a killed member, and starts over with the next of its name', async (context) => {
  const cluster = simulated(context);
  const a = cluster.bus('a');
  await a.makeStream(STREAM);
  const appended = a.append({ ...APPEND, bytes: utf8('dying') });
  cluster.kill('a');
  assert.deepEqual(await appended, { at: 'unknown' });
  const again = cluster.bus('a');
  assert.deepEqual(await again.append({ ...APPEND, bytes: utf8('again'), timeoutMs: 5000 }), {
    at: 'committed',
    sequence: 1,
  });
});

test('SimulatedBus overwrites bytes after it has lent them', async (context) => {
  const cluster = simulated(context);
  const [a, b] = [cluster.bus('a'), cluster.bus('b')];
  const committed: Uint8Array[] = [];
  await Promise.all([b.subscribe('m', ({ bytes }) => committed.push(look(bytes))).ready, up(a)]);
  a.publish('m', utf8('lent'));
  await cluster.clock.wait(100);
  assert.notEqual(textOf(committed[0]), 'lent');
});
