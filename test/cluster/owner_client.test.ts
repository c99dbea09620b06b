import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { HubError } from '../../src/errors.ts';
import { diceOf } from '../support/dice.ts';
import { locationOf, T0, TestHub } from './owner_server_world.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const HOLD_MS = 6000;
const HUBS = ['a', 'b', 'c'];

function simulated(context: TestContext, seed = 1) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  return { clock, cluster: new SimulatedCluster({ clock, seed }) };
}

/** Hubs that have received heartbeats of each other. The first one owns everything. */
async function hubs(context: TestContext, seed = 1, more: Partial<ConstructorParameters<typeof TestHub>[0]> = {}) {
  const { clock, cluster } = simulated(context, seed);
  const [a, b, c] = HUBS.map((hub) => new TestHub({ cluster, hub, ...more })) as [TestHub, TestHub, TestHub];
  await Promise.all([a, b, c].map(({ door }) => door.ready));
  for (const hub of [a, b, c]) hub.apply(1, 'a');
  return { clock, cluster, a, b, c };
}

/** A sent location and its outcome. */
interface Sent {
  readonly door: string;
  readonly provider: string;
  readonly text: string;
  readonly atMs: number;
  end: { readonly at: 'done' } | { readonly at: 'failed'; readonly error: unknown } | undefined;
  endedMs: number;
}

/** Ingress hubs under load while messages are lost, their owner is busy, fails or is cut off, and another takes over. */
async function play(context: TestContext, seed: number) {
  const dice = diceOf(seed);
  const slow = dice(3) === 0;
  const stepMs = () => (slow && dice(4) === 0 ? dice(1500) : dice(20));
  const { clock, cluster, a, b, c } = await hubs(context, seed, { stepMs });
  const all: TestHub[] = [a, b, c];
  cluster.mishaps.dropped = dice(3) * 40;
  const sent: Sent[] = [];
  const next = { value: 0 };
  let takeovers = 0;
  const send = (hub: TestHub): void => {
    if (!hub.router.hasCapacity(1)) return;
    const [provider, text] = [`${hub.hub} ${dice(5)}`, `${next.value++}`];
    const entry: Sent = { door: hub.hub, provider, text, atMs: clock.nowMs, end: undefined, endedMs: 0 };
    sent.push(entry);
    hub.send(provider, text).then(
      () => Object.assign(entry, { end: { at: 'done' }, endedMs: clock.nowMs }),
      (error) => Object.assign(entry, { end: { at: 'failed', error }, endedMs: clock.nowMs }),
    );
  };
  /** Removes `a` as an owner in some way; `b` takes over, and each hub applies that at its own time. */
  const takeOver = (): void => {
    takeovers++;
    const way = dice(4);
    if (way === 0) cluster.kill('a');
    if (way === 1) cluster.isolate('a');
    if (way === 2) cluster.stop('a');
    clock.schedule(dice(3000), () => {
      a.isSealed = true;
      const sequence = 2;
      for (const hub of all) cluster.schedule(hub.hub, dice(800), () => hub.apply(sequence, 'b'));
      clock.schedule(dice(3000), () => (way === 1 ? cluster.restore('a') : cluster.resume('a')));
    });
  };
  const faults: (() => void)[] = [
    takeOver,
    takeOver,
    takeOver,
    () => undefined,
    () => {
      a.isFull = true;
      clock.schedule(dice(9000), () => Object.assign(a, { isFull: false }));
    },
    () => {
      cluster.stop('a');
      clock.schedule(dice(3000), () => cluster.resume('a'));
    },
    () => {
      cluster.isolate('b');
      clock.schedule(dice(9000), () => cluster.restore('b'));
    },
  ];
  const fault = faults[dice(faults.length)] as () => void;
  const faultAt = dice(120);
  for (let turn = 0; turn < 160; turn++) {
    if (turn === faultAt) fault();
    // A stopped or failed hub sends nothing.
    const from = dice(2) === 0 ? b : c;
    for (let many = dice(4); many > 0; many--) send(from);
    await clock.wait(dice(30));
  }
  await clock.wait(HOLD_MS + 10_000);
  cluster.mishaps.dropped = 0;
  await clock.wait(3000);
  send(b);
  send(c);
  await clock.wait(3000);
  return { all, sent, takeovers, hubs: { a, b, c } };
}

test('Acknowledged locations were processed: once by an owner that stays, in the order of their ingress hub', async (context) => {
  let [done, failed, takeovers] = [0, 0, 0];
  for (let seed = 1; seed <= 120; seed++) {
    const why = `seed ${seed}`;
    const world = await play(context, seed);
    takeovers += world.takeovers;
    const byOwner = world.all.map(({ taken }) => taken.map(({ text }) => text));
    for (const texts of byOwner) assert.equal(new Set(texts).size, texts.length, `${why}: an owner took one twice`);
    for (const { provider, text, end, atMs, endedMs } of world.sent) {
      assert.ok(end !== undefined, `${why}: ${text} is never answered`);
      assert.ok(endedMs - atMs <= HOLD_MS + 1, `${why}: ${text} of ${provider} has waited for ${endedMs - atMs} ms`);
      const times = byOwner.filter((texts) => texts.includes(text)).length;
      if (end.at === 'done') assert.ok(times > 0, `${why}: ${text} is lost`);
      else assert.equal((end.error as HubError).code, 'HUB_UNAVAILABLE', why);
      if (world.takeovers === 0) assert.ok(times <= 1, why);
      if (end.at === 'done') done++;
      else failed++;
    }
    for (const { taken } of world.all) {
      const last = new Map<string, number>();
      for (const { provider, text } of taken) {
        assert.ok(Number(text) > (last.get(provider) ?? -1), `${why}: ${text} of ${provider} comes late`);
        last.set(provider, Number(text));
      }
    }
    // After the last fault everything is served.
    for (const hub of ['b', 'c']) assert.equal(world.sent.findLast(({ door }) => door === hub)?.end?.at, 'done', why);
    for (const { router, hub } of [world.hubs.b, world.hubs.c]) {
      const { waiting, waitingBytes } = router.gauges;
      assert.deepEqual([waiting, waitingBytes], [0, 0], `${why}: at ${hub}`);
    }
  }
  assert.ok(done > 20_000 && failed > 50 && takeovers > 30, `${done} done, ${failed} failed, ${takeovers} takeovers`);
});

test('Locations that arrive while a request is in flight are combined, in order', async (context) => {
  const { a, b } = await hubs(context);
  const first = b.send('p', '0');
  await Promise.resolve();
  const rest = Array.from({ length: 100 }, (_, i) => b.send('p', `${i + 1}`));
  assert.equal(b.router.gauges.waiting, 101);
  await first;
  assert.deepEqual(
    a.taken.map(({ text }) => text),
    ['0'],
  );
  await Promise.all(rest);
  assert.deepEqual(
    a.taken.map(({ text }) => Number(text)),
    Array.from({ length: 101 }, (_, i) => i),
  );
  assert.deepEqual(b.router.gauges, { waiting: 0, waitingBytes: 0, forwarded: 101, moved: 0 });
  assert.equal(b.router.committed(), undefined);
});

test('A router splits large batches into several requests, and bounds waiting ones', async (context) => {
  const { a, b } = await hubs(context, 1, { capacity: 20_000 });
  const properties = 'x'.repeat(1000);
  for (let i = 0; i < 20_000; i++) {
    assert.ok(b.shards.hasCapacity(1), `${i}`);
    b.shards.location(locationOf(`p${i}`, `${i} ${properties}`), { generatedMs: T0, receivedMs: T0 });
  }
  assert.equal(b.shards.hasCapacity(1), false);
  await b.shards.committed();
  assert.equal(a.taken.length, 20_000);
  assert.ok(a.taken.every(({ text }, i) => text === `${i} ${properties}`));
  assert.equal(b.shards.hasCapacity(20_000), true);
});

test('A router rejects locations once 64 MiB are waiting', async (context) => {
  const { a, b } = await hubs(context);
  a.isFull = true;
  const text = 'x'.repeat(1 << 20);
  let count = 0;
  const committed: Promise<void>[] = [];
  for (; b.shards.hasCapacity(1); count++) committed.push(b.send('p', text));
  assert.ok(count >= 63 && count <= 65, `${count}`);
  a.isFull = false;
  await Promise.all(committed);
  assert.equal(a.taken.length, count);
});

test('A location that is too large for a message is rejected, and later ones are processed', async (context) => {
  const { a, b } = await hubs(context);
  const tooLarge = b.send('p', 'x'.repeat(9_000_000));
  const next = b.send('p', 'next');
  await assert.rejects(tooLarge, { code: 'HUB_PAYLOAD_TOO_LARGE' });
  await next;
  assert.deepEqual(a.taken, [{ provider: 'p', text: 'next' }]);
});

test('An owner client waits for an owner, and no longer than it may hold', async (context) => {
  const { clock, a, b, c } = await hubs(context);
  b.apply(2, undefined);
  c.apply(2, undefined);
  const [early, late] = [b.send('p', 'early'), c.send('p', 'late')];
  clock.schedule(5000, () => {
    a.apply(3, 'a');
    b.apply(3, 'a');
  });
  await early;
  assert.ok(clock.nowMs > 5000 && clock.nowMs < 5100, `${clock.nowMs}`);
  await assert.rejects(late, {
    code: 'HUB_UNAVAILABLE',
    message: 'Cannot process locations: no hub has done it in time',
  });
  assert.deepEqual(
    a.taken.map(({ text }) => text),
    ['early'],
  );
});

test('An owner client reports that locations may have been taken although no owner has confirmed that', async (context) => {
  const { cluster, a, b } = await hubs(context, 1, { stepMs: () => 10_000 });
  const sent = b.send('p', 'text');
  await cluster.clock.wait(100);
  assert.equal(a.taking, 1);
  await assert.rejects(sent, { message: /it may still be done, completely or in part$/ });
});

test('A router that queries a hub without partitions waits for the map of that hub', async (context) => {
  const { clock, a, b, c } = await hubs(context);
  for (const hub of [a, c]) hub.apply(2, 'c');
  clock.schedule(700, () => b.apply(2, 'c'));
  await b.send('p', 'text');
  assert.deepEqual([a.taken.length, c.taken.length, b.router.gauges.moved], [0, 1, 1]);
});

test('An owner accepts locations of its own router without a bus', async (context) => {
  const { cluster, a } = await hubs(context);
  cluster.isolate('a');
  await a.send('p', 'text');
  assert.deepEqual(a.taken, [{ provider: 'p', text: 'text' }]);
  assert.deepEqual(await a.shards.ask({ ask: 'fence_providers', id: 'f', spatial: false }), [
    { ids: ['fence_providers'] },
  ]);
});

test('A closed router rejects waiting and new locations', async (context) => {
  const { b } = await hubs(context);
  b.apply(2, undefined);
  const waiting = [b.send('p', 'text'), b.shards.ask({ ask: 'fence_providers', id: 'f', spatial: false })];
  await Promise.resolve();
  b.router.close();
  for (const each of waiting) await assert.rejects(each, { code: 'HUB_UNAVAILABLE', message: /this hub is closing$/ });
  assert.throws(() => b.send('p', 'text'), HubError);
  await assert.rejects(b.shards.settled(), HubError);
});

test('Questions are answered through lost messages and a takeover', async (context) => {
  for (let seed = 1; seed <= 30; seed++) {
    const { clock, cluster, a, b, c } = await hubs(context, seed);
    cluster.mishaps.dropped = 200;
    const dice = diceOf(seed);
    for (const hub of [a, c]) {
      const texts = Array.from({ length: 3000 }, (_, i) => `${hub.hub} ${i} ${'x'.repeat(1000)}`);
      hub.answer = async () => [{ texts }];
    }
    clock.schedule(dice(3000), () => {
      if (dice(2) === 0) cluster.kill('a');
      a.isSealed = true;
      for (const hub of [a, b, c]) cluster.schedule(hub.hub, dice(500), () => hub.apply(2, 'c'));
    });
    for (let round = 0; round < 4; round++) {
      const answers = await b.shards.ask({ ask: 'trackable_motions', view: { crs: 'EPSG:4326' } });
      const [answer] = answers;
      assert.ok(answers.length === 1 && answer !== undefined && 'texts' in answer);
      const { texts } = answer;
      const owner = texts[0]?.[0];
      assert.ok(owner === 'a' || owner === 'c');
      assert.ok(texts.length === 3000 && texts.every((text, i) => text.startsWith(`${owner} ${i} `)), `seed ${seed}`);
      await clock.wait(dice(1000));
    }
  }
});

test('A router waits for an answer longer than locations may wait, as long as the owner is alive', async (context) => {
  const { clock, a, b } = await hubs(context);
  a.answer = async () => {
    await clock.wait(20_000);
    return [{ absent: true }];
  };
  const query = { ask: 'trackable_motion', id: 't', view: { crs: 'local', zoneId: 'z' } } as const;
  assert.deepEqual(await b.shards.ask(query), [{ absent: true }]);
  assert.deepEqual(a.asked, [query], 'asked for once');
  a.answer = () => new Promise(() => undefined);
  const fromMs = clock.nowMs;
  await assert.rejects(b.shards.ask(query), { code: 'HUB_UNAVAILABLE', message: /^Cannot read: / });
  assert.ok(clock.nowMs - fromMs <= 60_001, `${clock.nowMs - fromMs} ms`);
});

test('The error of an owner is the error of the caller', async (context) => {
  const { a, b } = await hubs(context);
  a.answer = () => Promise.reject(errorWith('HUB_NOT_FOUND', 'Cannot answer: nothing there'));
  const query = { ask: 'fence_trackables', id: 'f', spatial: true } as const;
  await assert.rejects(b.shards.ask(query), { code: 'HUB_NOT_FOUND', message: 'Cannot answer: nothing there' });
});

test('Locations are deleted after those that were submitted before', async (context) => {
  const { a, b } = await hubs(context, 1, { stepMs: () => 300 });
  void b.send('p', 'text');
  const ids = Array.from({ length: 12_000 }, (_, i) => `p${i}`);
  await b.router.forget(ids);
  assert.deepEqual([a.takenBefore, a.forgotten], [1, ids]);
});

test('settled() waits until the settled state of the owner is applied here', async (context) => {
  const { clock, a, b } = await hubs(context);
  a.apply(7, 'a');
  clock.schedule(2000, () => b.apply(7, 'a'));
  await b.shards.settled();
  assert.equal(b.applied, 7);
});
