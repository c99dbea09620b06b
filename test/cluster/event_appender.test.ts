import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { COLLISIONS, EventAppender, type EventAppenderOptions } from '../../src/cluster/events/event_appender.ts';
import { EventStreamReader } from '../../src/cluster/events/log_reader.ts';
import { eventStream, eventStreamSettings } from '../../src/cluster/events/log_stream.ts';
import type { Appended, Bus } from '../../src/cluster/nats/bus.ts';
import { BusBusyError, BusError } from '../../src/cluster/nats/bus.ts';
import { encoded, eventsIn, textEvent } from '../../src/events/event_bytes.ts';
import { up } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const HOUR_MS = 3_600_000;

/** Outcome of an append: whether it is stored, and the result that its author gets. */
type Fate = { readonly isStored: boolean; readonly result: Appended['at'] | 'busy' | 'failure' };

async function world(context: TestContext, bounds = { retentionMs: HOUR_MS, bytesMax: 1 << 20 }) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const reading = cluster.bus('reader');
  await up(reading);
  await reading.makeStream(eventStreamSettings({ name: 'hub', replicas: 3, storage: 'memory' }, bounds));
  const reader = new EventStreamReader({ bus: reading, name: 'hub', schedule: clock.schedule, notice: assert.fail });
  const notices: string[] = [];
  /** Opens an appender whose next appends have these fates; all later ones are stored. */
  const open = async (incarnation: string, fates: Fate[] = [], more: Partial<EventAppenderOptions> = {}) => {
    const bus = cluster.bus(incarnation);
    await up(bus);
    const append = bus.append.bind(bus);
    bus.append = async (message) => {
      const fate = fates.shift();
      if (fate === undefined) return append(message);
      if (fate.isStored) await append(message);
      if (fate.result === 'busy') throw new BusBusyError('busy');
      if (fate.result === 'failure') throw new BusError('not allowed');
      return { at: fate.result } as Appended;
    };
    const schedule = (delayMs: number, callback: () => void) => cluster.schedule(incarnation, delayMs, callback);
    const notice = (text: string): void => void notices.push(text);
    const common = { bus: bus as Bus, name: 'hub', incarnation, notice, now: () => clock.nowMs, schedule };
    return new EventAppender({ ...common, journaledFrom: () => 7, ...more });
  };
  const logged = async (): Promise<string[]> => {
    const found: string[] = [];
    for (let after = (await reader.extent())?.trimmed ?? 0; ; ) {
      const { blocks } = await reader.read(after, 1);
      const [block] = blocks;
      if (block === undefined) return found;
      for (const event of eventsIn(block, 0)) found.push(event.json());
      after = block.first + block.count - 1;
    }
  };
  return { clock, cluster, reader, notices, open, logged };
}

/** Event `step` of a shard of a member. */
function event(of: string, step: number, index = 0) {
  const json = JSON.stringify(`${of} ${step} ${index}`);
  return { of, events: encoded(textEvent('fence_events', [], json)), position: { shard: 0, step, index } };
}

function named(...events: readonly string[]): string[] {
  return events.map((each) => JSON.stringify(each));
}

const FATES: readonly (readonly [what: string, fate: Fate])[] = [
  ['its append is stored', { isStored: true, result: 'unknown' }],
  ['its append is not stored', { isStored: false, result: 'unknown' }],
  ['a repeated append is refused', { isStored: true, result: 'refused' }],
  ['the stream is full for a moment', { isStored: false, result: 'full' }],
  ['the bus is busy', { isStored: false, result: 'busy' }],
];

for (const [what, fate] of FATES) {
  test(`Each event is appended once, in order, when ${what} and the answer is ${fate.result}`, async (context) => {
    const { open, logged } = await world(context);
    const own = await open('a', [fate, fate]);
    for (const step of [1, 2, 3]) own.add(event('a', step));
    assert.equal(own.pendingFrom, 7);
    await own.settled();
    own.add(event('a', 4));
    await own.settled();
    assert.deepEqual(await logged(), named('a 1 0', 'a 2 0', 'a 3 0', 'a 4 0'));
    assert.deepEqual([own.pendingFrom, own.heldBytes], [Infinity, 0]);
  });
}

test('Successors of a removed member append the rest of its events, each once, and the member appends no more', async (context) => {
  const { open, logged } = await world(context);
  const [a, b, c] = [await open('a'), await open('b'), await open('c')];
  a.add(event('a', 1));
  a.add(event('a', 2, 0));
  await a.settled();
  for (const each of [event('a', 1), event('a', 2, 0), event('a', 2, 1)]) b.add(each);
  b.add(event('b', 1));
  await b.settled();
  for (const each of [event('a', 2, 1), event('a', 3), event('a', 2, 0)]) c.add(each);
  await c.settled();
  assert.deepEqual(await logged(), named('a 1 0', 'a 2 0', 'a 2 1', 'b 1 0', 'a 3 0'));
  a.add(event('a', 3));
  await assert.rejects(a.settled(), /which was removed/);
  assert.equal((await logged()).length, 5);
});

test('An append of a removed member that arrives late is refused, or precedes those of its successor', async (context) => {
  for (const isStored of [true, false]) {
    const { open, logged } = await world(context);
    const late: Fate = { isStored, result: 'unknown' };
    const [a, b] = [await open('a', [late]), await open('b')];
    a.add(event('a', 1));
    b.add(event('a', 1));
    b.add(event('b', 1));
    await b.settled();
    await a.settled().catch(() => undefined);
    const all = await logged();
    assert.deepEqual(all.toSorted(), named('a 1 0', 'b 1 0'));
    assert.equal(all[0], '"a 1 0"');
  }
});

test('Collisions are identified by their ids, which are forgotten once no stage repeats them', async (context) => {
  const { open, logged } = await world(context);
  const [a, b] = [await open('a'), await open('b')];
  const collision = (id: string, step: number) => ({
    ...{ of: COLLISIONS, events: encoded(textEvent('collision_events', [], `"${id}"`)), key: id },
    position: { shard: 0, step, index: 0 },
  });
  const ongoing = { of: COLLISIONS, events: encoded(textEvent('collision_events', [], '"goes on"')) };
  a.add(collision('one', 1));
  a.add(ongoing);
  await a.settled();
  a.forget(COLLISIONS, 1);
  a.add(collision('two', 2));
  await a.settled();
  // The successor publishes the stored events of step 2 again, as part of its first step.
  b.add(collision('two', 3));
  b.add(collision('three', 3));
  await b.settled();
  assert.deepEqual(await logged(), named('one', 'goes on', 'two', 'three'));
});

test('A suspended owner of the collision stage appends nothing that its successor has published and forgotten', async (context) => {
  for (const isStored of [true, false]) {
    const { open, logged } = await world(context);
    const late: Fate = { isStored, result: 'unknown' };
    const [a, b] = [await open('a', [late]), await open('b')];
    const collision = (id: string, step: number) => ({
      ...{ of: COLLISIONS, events: encoded(textEvent('collision_events', [], `"${id}"`)), key: id },
      position: { shard: 0, step, index: 0 },
    });
    a.add(collision('one', 1));
    b.add(collision('one', 2));
    await b.settled();
    b.forget(COLLISIONS, 2);
    b.add(collision('two', 3));
    await b.settled();
    b.forget(COLLISIONS, 3);
    b.add(collision('three', 4));
    await b.settled();
    await a.settled();
    assert.deepEqual(await logged(), named('one', 'two', 'three'));
  }
});

test('Events beyond the bound, and those that cannot be appended, are a gap for readers', async (context) => {
  const { open, reader, notices } = await world(context);
  const own = await open('a', [{ isStored: false, result: 'failure' }], { heldMax: 100 });
  own.add(event('a', 1));
  await own.settled();
  own.add(event('a', 2));
  await own.settled();
  for (let step = 3; step < 20; step++) own.add(event('a', step));
  await own.settled();
  own.add(event('a', 20));
  await own.settled();
  assert.equal(notices.filter((text) => text.startsWith('Events are missing')).length, 2, notices.join('\n'));
  const found: string[] = [];
  for (let after = (await reader.extent())?.trimmed ?? 0; ; ) {
    const { blocks, trimmed } = await reader.read(after, 1);
    const [block] = blocks;
    if (trimmed > after) found.push('gap');
    else if (block === undefined) break;
    else for (const each of eventsIn(block, after)) found.push(each.json());
    after = trimmed > after || block === undefined ? trimmed : block.first + block.count - 1;
  }
  const [first, second, ...rest] = found;
  assert.deepEqual([first, second, ...rest.slice(-2)], ['gap', ...named('a 2 0'), 'gap', ...named('a 20 0')]);
  assert.equal(rest.filter((each) => each === 'gap').length, 1);
});

test('A reader of removed messages learns where the log begins, and finds events by their time', async (context) => {
  const { open, reader, clock } = await world(context, { retentionMs: 10_000, bytesMax: 1 << 20 });
  const own = await open('a');
  const times: number[] = [];
  for (let step = 0; step < 20; step++) {
    own.add(event('a', step));
    await own.settled();
    times.push(clock.nowMs);
    await clock.wait(1000);
  }
  const extent = await reader.extent();
  assert.ok(extent !== undefined && extent.trimmed > 0);
  const { blocks, trimmed } = await reader.read(0, 1 << 20);
  assert.deepEqual([blocks, trimmed], [[], extent.trimmed]);
  const at = await reader.positionAt((times[14] as number) + 500);
  const [block] = (await reader.read(at, 1)).blocks;
  assert.deepEqual(block && [...eventsIn(block, at)].map((each) => each.json()), named('a 15 0'));
  await clock.wait(20_000);
  const gone = await reader.read(0, 1);
  assert.deepEqual([gone.blocks, gone.trimmed], [[], extent.newest]);
  assert.equal(await reader.positionAt(0), extent.newest);
  const stream = eventStream('hub');
  assert.equal(stream, 'hub_EVENTS');
});
