import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Topic } from '../../src/model/topics.ts';
import { check, FanOutWorld, Listener, OBJECTS, type TestHub } from './fanout_world.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const SEEDS = 8;

async function worldOf(context: TestContext, seed: number, hubs: number): Promise<FanOutWorld> {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const world = new FanOutWorld(new SimulatedCluster({ clock, seed }), seed);
  await world.start();
  for (let i = 0; i < hubs; i++) await world.join();
  const [first] = world.hubs;
  if (first !== undefined) await world.own(first);
  await clock.wait(500);
  return world;
}

/** Events, proximities and subscriptions at random places, for a while. */
async function live(world: FanOutWorld, ms: number): Promise<void> {
  const { clock } = world.cluster;
  const { dice } = world;
  for (const endMs = clock.nowMs + ms; clock.nowMs < endMs; ) {
    world.step(OBJECTS.filter(() => dice(3) === 0));
    const hub = world.living[dice(world.living.length)];
    if (hub !== undefined && dice(8) === 0) world.cluster.schedule(hub.name, 0, () => hub.announce());
    if (hub !== undefined && dice(20) === 0 && hub.listeners.length < 12) {
      for (let more = 1 + dice(3); more > 0; more--) {
        world.cluster.schedule(hub.name, dice(15), () => hub.isOver || hub.listen(dice));
      }
    }
    await clock.wait(1 + dice(12));
  }
}

/** A fault of one hub, and its end. */
async function fault(world: FanOutWorld): Promise<void> {
  const { cluster, dice, living } = world;
  const hub = living[dice(living.length)];
  if (hub === undefined || living.length < 2) return;
  const { name } = hub;
  const kind = dice(7);
  const durationMs = dice(2500);
  const isExpelled = dice(2) === 0;
  if (kind === 0) {
    hub.end();
    await live(world, 800);
    await world.join();
    await world.expel(hub);
    return;
  }
  if (kind === 1) cluster.isolate(name);
  if (kind === 2) cluster.deafen(name);
  if (kind === 3) cluster.stop(name);
  if (kind === 4) cluster.mishaps.dropped = 1 + dice(30);
  if (kind === 5) await world.expel(hub);
  if (kind === 6) await world.leave();
  await live(world, durationMs);
  if (isExpelled && kind < 4) await world.expel(hub);
  cluster.restore(name);
  cluster.resume(name);
  cluster.mishaps.dropped = 0;
  await live(world, 300);
  if (isExpelled || kind > 4) await world.join();
}

test('ClusterFanout gives every subscriber of every hub every event, in order and once', async (context) => {
  const world = await worldOf(context, 1, 3);
  await live(world, 5000);
  await world.cluster.clock.wait(3000);
  const { open, closed, refused } = check(world);
  assert.deepEqual([open >= 20, closed, refused], [true, 0, 0]);
  const waits = world.hubs.flatMap(({ listeners }) => listeners.map(({ waitedMs }) => waitedMs));
  assert.ok(Math.max(...waits) < 60, `one has waited ${Math.max(...waits)} ms`);
  assert.ok(world.hubs.some(({ listeners }) => listeners.some(({ got }) => (got.get('a') ?? []).length > 50)));
});

test('ClusterFanout continues for the subscribers of the other hubs when an owner leaves', async (context) => {
  const world = await worldOf(context, 3, 3);
  for (let i = 0; i < 6; i++) {
    await live(world, 600);
    await world.leave();
    await live(world, 200);
    await world.join();
  }
  await world.cluster.clock.wait(3000);
  const { open, closed, refused } = check(world);
  assert.deepEqual([open >= 10, closed, refused], [true, 0, 0]);
});

test('ClusterFanout gives the events of an object in order, whichever hubs own it one after the other', async (context) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = await worldOf(context, seed, 4);
    await world.share();
    world.cluster.mishaps.dropped = seed % 2 === 0 ? 60 : 0;
    for (let i = 0; i < 100; i++) {
      const to = world.living[world.dice(4)];
      if (to !== undefined) world.move(OBJECTS[world.dice(OBJECTS.length)] ?? 'a', to);
      await live(world, 10);
    }
    world.cluster.mishaps.dropped = 0;
    await world.cluster.clock.wait(3000);
    const { open, closed } = check(world);
    assert.deepEqual([open >= 5, closed], [true, 0], `seed ${seed}`);
  }
});

/** Kills one owner after another, some in the middle of a step. Returns counts of listeners by topic and state. */
async function killOwners(context: TestContext, seed: number) {
  const world = await worldOf(context, seed, 4);
  for (let i = 0; i < 6; i++) {
    await live(world, 700);
    const owner = world.hubs.find(({ name }) => name === world.owner);
    if (i % 2 === 0 || owner === undefined) await world.dieInStep(OBJECTS);
    else {
      owner.end();
      await world.cluster.clock.wait(world.dice(100));
      await world.expel(owner);
    }
    await live(world, 50);
    await world.join();
  }
  await world.cluster.clock.wait(3000);
  check(world);
  const all = world.hubs.flatMap(({ listeners, isOver }) => (isOver ? [] : listeners));
  return {
    of: (topic: Topic, state: string) => all.filter((each) => each.topic === topic && each.state === state).length,
  };
}

test('ClusterFanout delivers each fence event once to all connected subscribers, through failures of owners', async (context) => {
  let open = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { of } = await killOwners(context, seed);
    open += of('fence_events', 'open');
    assert.equal(of('fence_events', 'closed'), 0, `seed ${seed}`);
    assert.ok(of('location_updates', 'closed') > 0);
  }
  assert.ok(open > 4 * SEEDS, `${open}`);
});

test('A subscription receives no redelivered event from before it, even if no other followed until its owner failed', async (context) => {
  const world = await worldOf(context, 9, 3);
  const { clock } = world.cluster;
  for (let i = 0; i < 2; i++) world.step(['a', 'b']);
  await clock.wait(500);
  const [first] = world.living.filter(({ isOwner }) => !isOwner);
  const listener = new Listener(first as TestHub, { topic: 'fence_events', crs: 'local', object: undefined });
  await clock.wait(500);
  assert.equal(listener.state, 'open');
  await world.dieInStep(['c']);
  await clock.wait(3000);
  assert.deepEqual([listener.state, [...listener.got]], ['open', [['c', [1]]]]);
});

test('An event that is lost before an acknowledgement of interest, and whose hub fails, is redelivered', async (context) => {
  const world = await worldOf(context, 9, 3);
  const { cluster } = world;
  const owner = world.living.find(({ isOwner }) => isOwner) as TestHub;
  const other = world.living.find(({ isOwner }) => !isOwner) as TestHub;
  const listener = new Listener(other, { topic: 'fence_events', crs: 'local', object: undefined });
  await cluster.clock.wait(500);
  assert.equal(listener.state, 'open');
  cluster.mishaps.dropped = 1000;
  world.step(['a']);
  await cluster.clock.wait(5);
  cluster.mishaps.dropped = 0;
  // It acknowledges one more subscription, and then hears nothing any more, such as a request for the missing message.
  const publish = owner.bus.publish.bind(owner.bus);
  owner.bus.publish = (subject, bytes) => {
    if (!subject.startsWith('hub.')) cluster.deafen(owner.name);
    return publish(subject, bytes);
  };
  const next = new Listener(other, { topic: 'fence_events', crs: 'EPSG:4326', object: undefined });
  await cluster.clock.wait(500);
  assert.equal(next.state, 'asked');
  await world.expel(owner);
  await cluster.clock.wait(3000);
  assert.deepEqual([listener.state, [...listener.got], next.state], ['open', [['a', [1]]], 'open']);
});

const TOPICS = ['location_updates', 'proximity_updates'] as const;

/** An owner and two more hubs, which both have listeners to events of an owner and of an ingress hub. */
async function listening(context: TestContext, seed: number) {
  const world = await worldOf(context, seed, 3);
  const [, one, other] = world.hubs;
  assert.ok(one && other);
  const listen = (hub: TestHub, topic: Topic) => new Listener(hub, { topic, crs: 'local', object: undefined });
  const listeners = [one, other].flatMap((hub) => TOPICS.map((topic) => listen(hub, topic)));
  await world.cluster.clock.wait(200);
  world.step(['a']);
  other.announce();
  await world.cluster.clock.wait(200);
  const states = (): string => listeners.map(({ state }) => state).join(' ');
  assert.equal(states(), 'open open open open');
  return { world, one, other, states };
}

test('ClusterFanout retransmits lost messages', async (context) => {
  const { world, one, other, states } = await listening(context, 2);
  const { clock } = world.cluster;
  world.cluster.isolate(one.name);
  await clock.wait(500);
  assert.ok(one.shared.acknowledged(), 'who subscribes now waits');
  world.step(['a', 'b']);
  other.announce();
  world.cluster.restore(one.name);
  await clock.wait(3000);
  world.cluster.deafen(one.name);
  for (let i = 0; i < 20; i++) {
    world.step(['a']);
    other.announce();
    await clock.wait(50);
  }
  world.cluster.restore(one.name);
  await clock.wait(3000);
  assert.equal(states(), 'open open open open');
  assert.deepEqual([one.shared.losses, one.channel.repairs >= 4], [0, true]);
  check(world);
});

test('ClusterFanout closes subscriptions that have missed the last event for too long, and no others', async (context) => {
  const { world, one, other, states } = await listening(context, 2);
  const { clock } = world.cluster;
  for (const topic of TOPICS) {
    world.cluster.deafen(one.name);
    if (topic === 'location_updates') world.step(['a']);
    else other.announce();
    await clock.wait(3500);
    world.cluster.restore(one.name);
    await clock.wait(3000);
    const expected = topic === 'location_updates' ? 'closed open open open' : 'closed closed open open';
    assert.equal(states(), expected, topic);
  }
  check(world);
});

test(`ClusterFanout delivers all events or closes, with faults of hubs and connections of ${SEEDS} seeds`, async (context) => {
  const sum = { open: 0, closed: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = await worldOf(context, seed, 3);
    await live(world, 500);
    for (let i = 0; i < 4; i++) {
      await fault(world);
      await live(world, 200);
    }
    await world.cluster.clock.wait(8000);
    const { open, closed } = check(world);
    sum.open += open;
    sum.closed += closed;
    for (const hub of world.hubs) assert.deepEqual(hub.notices, []);
  }
  assert.ok(sum.open > SEEDS && sum.closed > SEEDS, JSON.stringify(sum));
});
