import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type MotionHub, MotionWorld } from './motion_world.ts';
import { SimulatedClock } from './simulated_clock.ts';

type Hubs = readonly [MotionHub, MotionHub, MotionHub];

/** Three hubs: `x` owns the stage, `y` and `z` a trackable each, `b` and `c`, that do not touch. */
async function opened(context: TestContext, { seed = 1, shards = 1 } = {}) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const world = new MotionWorld(clock, seed);
  const [x, y, z] = (await world.start(['x', 'y', 'z'], { shards })) as unknown as Hubs;
  y.has('b');
  z.has('c');
  y.moves('b', 0);
  z.moves('c', 50);
  await clock.wait(300);
  const published = (): string[][] => [...world.hubs.values()].map((hub) => hub.published.splice(0));
  return { clock, world, x, y, z, published };
}

/** All hubs publish each start and each end alike. */
function checkTexts(hubs: readonly MotionHub[]): void {
  const texts = new Map<string, string>();
  for (const { name, all } of hubs) {
    for (const { id, what, text } of all) {
      if (what.startsWith('colliding')) continue;
      assert.equal(text, texts.get(id) ?? text, `${what} at ${name}`);
      texts.set(id, text);
    }
  }
}

function everywhere(events: readonly string[], hubs = 3): string[][] {
  return Array.from({ length: hubs }, () => [...events]);
}

test('Trackables of two hubs collide, and subscribers of all hubs are notified once', async (context) => {
  const { clock, y, z, published, world } = await opened(context);
  z.moves('c', 1);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['start b c']));
  assert.deepEqual(world.pairs, ['b c']);
  y.moves('b', 0.5);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['colliding b c']));
  y.moves('b', 50);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['end b c']));
  assert.deepEqual(world.pairs, []);
});

test('Motions of several hubs are taken in the order in which they were received', async (context) => {
  const { clock, x, y, z, published } = await opened(context);
  x.has('a');
  x.moves('a', -50);
  await clock.wait(300);
  // b goes to the position of c, and c leaves: then a comes, which c has never met.
  for (const [hub, id, east] of [
    [y, 'b', 50],
    [z, 'c', 100],
    [x, 'a', 50],
    [y, 'b', 0],
    [z, 'c', 50],
    [x, 'a', -50],
  ] as const) {
    hub.moves(id, east);
    await clock.wait(2);
  }
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['start b c', 'end b c', 'start a b', 'end a b', 'start a c', 'end a c']));
});

test('A hub with several shards, and clocks that differ by a little, change nothing', async (context) => {
  const { clock, y, z, published } = await opened(context, { shards: 2, seed: 7 });
  z.aheadMs = 15;
  y.has('d');
  y.moves('d', 0);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['start b d']));
  z.moves('c', 1);
  await clock.wait(300);
  assert.deepEqual(
    published().map((events) => events.toSorted()),
    everywhere(['start b c', 'start c d']),
  );
});

test('The owner of the stage fails: no collision starts again, and each end is published once', async (context) => {
  const { clock, world, x, y, z, published } = await opened(context);
  z.moves('c', 1);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['start b c']));
  // Both are far from their contact.
  for (let east = 0.5; east < 50; east += 0.5) {
    y.moves('b', east);
    z.moves('c', east + 1);
    await clock.wait(5);
  }
  await clock.wait(300);
  assert.deepEqual([...new Set(published().flat())], ['colliding b c']);
  world.kill(x.name);
  y.moves('b', 51);
  await clock.wait(200);
  world.own('y', ['x']);
  y.moves('b', 51.5);
  await clock.wait(20);
  z.moves('c', 52);
  await clock.wait(1500);
  const after = published();
  assert.deepEqual([...new Set(after.flat())], ['colliding b c']);
  assert.equal(after.length, 2);
  z.moves('c', 0);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['end b c'], 2));
  assert.deepEqual(world.pairs, []);
});

test('A start that only subscribers of the failed owner have received is published alike by its successor', async (context) => {
  const { clock, world, x, y, z, published } = await opened(context);
  z.moves('c', 1);
  while (x.all.length === 0) await clock.wait(1);
  world.kill(x.name);
  assert.deepEqual([y.all, z.all], [[], []]);
  // Both have moved on, and still touch.
  y.moves('b', 2);
  z.moves('c', 3);
  await clock.wait(1000);
  world.own('y', ['x']);
  await clock.wait(3000);
  for (const events of published().slice(0, 2)) assert.equal(events[0], 'start b c');
  checkTexts([x, y, z]);
  assert.equal(y.all[0]?.id, x.all[0]?.id);
});

test('The next owner of the stage evaluates no motion again whose starts and ends are stored', async (context) => {
  const { clock, world, x, y, z } = await opened(context);
  z.moves('c', 1);
  z.moves('c', 30);
  while (x.stages.collisions.waitingBytes === 0) await clock.wait(0.1);
  // No report of the owner arrives, so both motions are repeated.
  world.network.mishaps.dropped = 1000;
  while (x.all.length < 2) await clock.wait(1);
  world.kill(x.name);
  world.network.mishaps.dropped = 0;
  await clock.wait(1000);
  world.own('y', ['x']);
  await clock.wait(3000);
  for (const { all } of [y, z]) {
    const whats = all.map(({ what }) => what);
    // The owner had published the start, or had not.
    if (whats.length > 1) assert.equal(whats.shift(), 'start b c');
    assert.deepEqual(whats, ['end b c']);
  }
  checkTexts([x, y, z]);
  assert.deepEqual(world.pairs, []);
});

test('A stage that is stopped leaves later motions to the next owner', async (context) => {
  const { clock, world, x, z, published } = await opened(context);
  await x.stages.collisions.stop();
  z.moves('c', 1);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere([]));
  world.kill(x.name);
  world.own('y', ['x']);
  await clock.wait(3000);
  assert.deepEqual(published(), everywhere(['start b c'], 2));
});

test('A restored pair gets the current positions of both, which are requested first, not those of its start', async (context) => {
  const { clock, world, x, y, z, published } = await opened(context);
  world.delayMs = 0;
  z.moves('c', 1);
  await clock.wait(300);
  for (let east = 0.5; east < 20; east += 0.5) {
    y.moves('b', east);
    z.moves('c', east + 1);
    await clock.wait(5);
  }
  await clock.wait(300);
  published();
  world.kill(x.name);
  world.network.stop('z');
  world.own('y', ['x']);
  await clock.wait(20);
  y.moves('b', 20);
  await clock.wait(380);
  world.network.resume('z');
  await clock.wait(1000);
  assert.deepEqual(published(), everywhere(['colliding b c'], 2));
});

test('A collision that ended while the stage was unowned ends once, without another event', async (context) => {
  const { clock, world, x, y, z, published } = await opened(context);
  z.moves('c', 1);
  await clock.wait(300);
  published();
  world.kill(x.name);
  z.moves('c', 30);
  await clock.wait(200);
  world.own('y', ['x']);
  await clock.wait(3000);
  assert.deepEqual(published(), everywhere(['end b c'], 2));
  assert.deepEqual(y.notices, []);
});

test('A pair that meets while no hub runs the stage starts to collide when another hub does', async (context) => {
  const { clock, world, x, z, published } = await opened(context);
  world.kill(x.name);
  z.moves('c', 1);
  await clock.wait(200);
  world.own('y', ['x']);
  await clock.wait(3000);
  assert.deepEqual(published(), everywhere(['start b c'], 2));
  z.moves('c', 50);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['end b c'], 2));
});

test('A pair that meets and parts while no hub runs the stage starts and ends once', async (context) => {
  const { clock, world, x, z, published } = await opened(context);
  world.kill(x.name);
  z.moves('c', 1);
  await clock.wait(50);
  z.moves('c', 50);
  await clock.wait(200);
  world.own('y', ['x']);
  await clock.wait(3000);
  assert.deepEqual(published(), everywhere(['start b c', 'end b c'], 2));
});

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`None of 100 pairs misses a start or an end when the owner of the stage fails: seed ${seed}`, async (context) => {
    const { clock, world, x, y, z } = await opened(context, { seed });
    const dice = (max: number): number => world.network.dice(max);
    const pairs = Array.from({ length: 100 }, (_, n) => ({
      one: `m${n}`,
      other: `n${n}`,
      at: 100 + 10 * n,
      parts: false,
    }));
    for (const { one, other, at } of pairs) {
      y.has(one);
      z.has(other);
      y.moves(one, at);
      z.moves(other, at + 5);
    }
    await clock.wait(500);
    // Each meets within 400 ms, and half of them part again. The owner of the stage is killed in the middle of that.
    for (const pair of pairs) {
      world.clock.schedule(dice(400), () => z.moves(pair.other, pair.at + 1));
      pair.parts = dice(2) === 0;
      if (pair.parts) world.clock.schedule(400 + dice(400), () => z.moves(pair.other, pair.at + 5));
    }
    await clock.wait(50 + dice(350));
    world.kill(x.name);
    await clock.wait(1000);
    world.own('y', ['x']);
    await clock.wait(4000);
    checkTexts([x, y, z]);
    const ids = new Map<string, string>();
    for (const hub of [y, z]) {
      for (const { one, other, parts } of pairs) {
        const published = hub.all.filter(
          ({ what }) => what === `start ${one} ${other}` || what === `end ${one} ${other}`,
        );
        // A client drops events with known ids.
        const own = new Map(published.map(({ id, what }) => [id, what]));
        const wanted = parts ? [`start ${one} ${other}`, `end ${one} ${other}`] : [`start ${one} ${other}`];
        assert.deepEqual([...own.values()], wanted, `hub ${hub.name}`);
        for (const [id, what] of own) {
          assert.equal(ids.get(what) ?? id, id, `${what} has one id`);
          ids.set(what, id);
        }
      }
    }
  });
}

for (const [what, lostMs, gaps] of [
  ['A lost message is sent again', 20, 0],
  ['When messages are lost for long, the sender resends the positions of all its trackables', 5000, 1],
] as const) {
  test(what, async (context) => {
    const { clock, world, x, y, z, published } = await opened(context);
    z.moves('c', 1);
    await clock.wait(300);
    published();
    world.network.mishaps.dropped = 1000;
    z.moves('c', 30);
    await clock.wait(lostMs);
    world.network.mishaps.dropped = 0;
    await clock.wait(1000);
    assert.deepEqual([Math.min(1, x.motions.gaps), x.channel.repairs > 0], [gaps, gaps === 0]);
    assert.deepEqual(published(), everywhere(['end b c']));
    y.moves('b', 30);
    await clock.wait(300);
    assert.deepEqual(published(), everywhere(['start b c']));
  });
}

test('That a trackable is deleted, and this is lost on the way, is noticed as well', async (context) => {
  const { clock, world, y, z, published } = await opened(context);
  z.moves('c', 1);
  await clock.wait(300);
  published();
  world.network.mishaps.dropped = 1000;
  y.stages.shards.entities([{ kind: 'trackable', id: 'b', entity: undefined }]);
  await clock.wait(20);
  world.network.mishaps.dropped = 0;
  await clock.wait(1000);
  assert.deepEqual(published(), everywhere(['end b c']));
});

test('Late motions of a trackable that has moved to another hub are ignored', async (context) => {
  const { clock, world, x, y, z, published } = await opened(context);
  y.moves('b', 50);
  world.network.stop('y');
  z.has('b');
  await clock.wait(20);
  z.moves('b', 100);
  await clock.wait(1500);
  world.network.resume('y');
  await clock.wait(500);
  assert.deepEqual(published(), everywhere([]));
  z.moves('b', 50);
  await clock.wait(300);
  assert.deepEqual(x.published, ['start b c']);
});

test('A removed hub does not delay the others', async (context) => {
  const { clock, world, x, y } = await opened(context);
  x.has('a');
  world.kill('z');
  world.own('x', ['z']);
  await clock.wait(50);
  x.moves('a', 0.5);
  await clock.wait(100);
  assert.deepEqual(x.published.splice(0), ['start a b']);
  world.kill('y');
  world.own('x', ['y']);
  await clock.wait(50);
  x.moves('a', 50);
  await clock.wait(50);
  assert.deepEqual(x.published.splice(0), ['end a b', 'start a c']);
  assert.deepEqual(y.notices, []);
});

for (const seed of [1, 2, 3, 4]) {
  test(`Three hubs publish the same collisions in the same order as a single hub: seed ${seed}`, async (context) => {
    const { clock, world, x, y, z, published } = await opened(context, { seed, shards: 1 + (seed % 2) });
    const alone = new MotionWorld(clock, seed);
    const [one] = (await alone.start(['x'])) as [MotionHub];
    for (const [id, east] of [
      ['b', 0],
      ['c', 50],
    ] as const) {
      one.has(id);
      one.moves(id, east);
    }
    const homes = new Map<string, MotionHub>([
      ['b', y],
      ['c', z],
    ]);
    for (const [id, hub] of [
      ['a', x],
      ['d', y],
      ['e', z],
    ] as const) {
      homes.set(id, hub);
      for (const each of [hub, one]) each.has(id);
    }
    await clock.wait(300);
    const ids = [...homes.keys()];
    for (let step = 0; step < 150; step++) {
      const id = ids[world.network.dice(ids.length)] as string;
      const east = world.network.dice(5);
      for (const hub of [homes.get(id), one]) hub?.moves(id, east);
      await clock.wait(1 + world.network.dice(20));
    }
    await clock.wait(500);
    assert.ok(one.published.length > 100);
    assert.deepEqual(published(), everywhere(one.published));
  });
}

test('A hub that is silent does not hold up the others for longer than a second', async (context) => {
  const { clock, world, x, y, published } = await opened(context);
  world.network.stop('z');
  x.has('a');
  x.moves('a', 0.5);
  await clock.wait(900);
  assert.deepEqual(x.published.splice(0), []);
  await clock.wait(400);
  assert.deepEqual(x.published.splice(0), ['start a b']);
  y.moves('b', 30);
  await clock.wait(200);
  assert.deepEqual(x.published.splice(0), ['end a b']);
  world.network.resume('z');
  await clock.wait(500);
  assert.deepEqual(published()[0], []);
});

test('A replaced collision worker gets the trackables of all hubs', async (context) => {
  const { clock, x, y, z, published } = await opened(context);
  z.moves('c', 1);
  await clock.wait(300);
  // Both have left their contact.
  for (let east = 0.5; east <= 20; east += 0.5) {
    y.moves('b', east);
    z.moves('c', east + 1);
    await clock.wait(5);
  }
  await clock.wait(300);
  published();
  await x.stages.collisions.kill();
  y.moves('b', 20.5);
  await clock.wait(500);
  assert.deepEqual(published(), everywhere(['colliding b c']));
  z.moves('c', 50);
  await clock.wait(300);
  assert.deepEqual(published(), everywhere(['end b c']));
});

test('A hub whose clock is wrong by an hour still takes part', async (context) => {
  const { clock, z, published } = await opened(context);
  for (const aheadMs of [3_600_000, 0]) {
    z.aheadMs = aheadMs;
    await clock.wait(1500);
    z.moves('c', 1);
    await clock.wait(400);
    assert.deepEqual(published(), everywhere(['start b c']));
    z.moves('c', 50);
    await clock.wait(400);
    assert.deepEqual(published(), everywhere(['end b c']));
  }
});
