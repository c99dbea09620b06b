import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { type Append, BusError, type BusStatus } from '../../src/cluster/nats/bus.ts';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.ts';
import { look } from '../../src/model/borrowed.ts';
import { down, readAll, textOf, up, utf8, withStream } from './contract.ts';
import { natsWorld, openTestBus, testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;

test('NatsBus replaces a failed thread, and reports that', { skip }, async (context) => {
  const { bus } = await openTestBus(context, nats, { name: 'dies' });
  const world = { ...(await natsWorld(context, nats)), name: 'dies' };
  const { settings, append } = await withStream(world, bus);
  const found: number[] = [];
  const received: string[] = [];
  const { promise: last, resolve } = Promise.withResolvers<void>();
  const following = bus.follow(settings.name, { subjects: settings.subjects, fromSequence: 1 }, ({ sequence }) => {
    found.push(sequence);
    if (sequence === 4) resolve();
  });
  const { promise: again, resolve: hearAgain } = Promise.withResolvers<void>();
  const listening = bus.subscribe('dies.m', ({ bytes }) => {
    received.push(textOf(look(bytes)));
    hearAgain();
  });
  const statuses: BusStatus[] = [];
  bus.watch((status) => statuses.push(status));
  await Promise.all([following.ready, listening.ready]);
  assert.equal((await append({})).at, 'committed');
  const underWay = append({});
  await bus.killThread();
  assert.ok(['unknown', 'committed'].includes((await underWay).at));
  assert.match(JSON.stringify(statuses), /"at":"up".*the bus thread has ended/);
  await up(bus);
  while ((await append({})).at !== 'committed' || (await bus.last(settings.name, 'dies.s'))?.sequence !== 4);
  await last;
  assert.deepEqual(found, [1, 2, 3, 4]);
  const { bus: other } = await openTestBus(context, nats, { name: 'dies' });
  await Promise.all([up(other), bus.subscribe('dies.n', () => undefined).ready]);
  other.publish('dies.m', utf8('again'));
  await again;
  assert.deepEqual(received, ['again']);
});

test('NatsBus transfers many times its memory, in order', { skip }, async (context) => {
  const [{ bus: from }, { bus: to }] = [
    await openTestBus(context, nats, { name: 'much' }),
    await openTestBus(context, nats, { name: 'much' }),
  ];
  const COUNT = 3000;
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  const listening = to.subscribe('much.m', ({ bytes }) => {
    const found = look(bytes);
    assert.equal(new DataView(found.buffer, found.byteOffset).getUint32(0), next++);
    assert.equal(found.length, 30_000 - (next % 100));
    if (next === COUNT) resolve();
  });
  await Promise.all([listening.ready, up(from)]);
  const bytes = new Uint8Array(30_000);
  for (let i = 0; i < COUNT; ) {
    new DataView(bytes.buffer).setUint32(0, i);
    if (from.publish('much.m', bytes.subarray(0, 30_000 - ((i + 1) % 100)))) i++;
    else await turn();
  }
  await promise;
});

test('NatsBus rejects more calls than it can hold, and holds them no longer than they may wait', {
  skip,
}, async (context) => {
  const { bus, proxy } = await openTestBus(context, nats, { name: 'many' });
  await up(bus);
  proxy.cut();
  await down(bus);
  const append: Append = { stream: 'many_S', subject: 'many.s', bytes: new Uint8Array(7_000_000), timeoutMs: 200 };
  const appended = await Promise.allSettled(Array.from({ length: 12 }, () => bus.append(append)));
  const refused = appended.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  const unknown = appended.filter((each) => each.status === 'fulfilled' && each.value.at === 'unknown');
  assert.ok(refused.length > 0 && refused.every(({ reason }) => reason instanceof BusError));
  assert.equal(unknown.length, 12 - refused.length);
  assert.deepEqual(await bus.append({ ...append, bytes: utf8('') }), { at: 'unknown' });
});

test('NatsBus sends from any number of shared memories, and from ones that it has forgotten', {
  skip,
}, async (context) => {
  const { bus } = await openTestBus(context, nats, { name: 'areas' });
  const { append, settings } = await withStream({ name: 'areas' }, bus);
  const areas = Array.from({ length: 150 }, (_, number) => new Uint8Array(new SharedArrayBuffer(2)).fill(number));
  for (let round = 0; round < 2; round++) await Promise.all(areas.map((bytes) => append({ bytes })));
  const found = (await readAll(bus, settings, 1)).map(({ bytes }) => bytes.join());
  assert.deepEqual(
    found,
    [...areas, ...areas].map((bytes) => bytes.join()),
  );
});

test('NatsBus skips messages above the size limit, and continues', { skip }, async (context) => {
  const notices: string[] = [];
  const [{ bus }, foreign] = [
    await openTestBus(context, nats, { name: 'large' }, (text) => notices.push(text)),
    await connect({ servers: nats.servers.addresses }),
  ];
  context.after(() => foreign.close());
  const { promise, resolve } = Promise.withResolvers<number>();
  await bus.subscribe('large.m', ({ bytes }) => resolve(look(bytes).length)).ready;
  foreign.publish('large.m', new Uint8Array(8 << 20));
  foreign.publish('large.m', new Uint8Array(5));
  assert.equal(await promise, 5);
  assert.match(notices.join(), /Cannot take a message of 8388608 bytes on "large\.m"/);
});

test('NatsBus gives up a connection that has fallen silent', { skip }, async (context) => {
  const { bus, proxy } = await openTestBus(context, nats, { name: 'silent' });
  await up(bus);
  proxy.isDeaf = true;
  await down(bus);
  proxy.restore();
  await up(bus);
});

test('NatsBus waits for its answers on a slow link', { skip }, async (context) => {
  const { bus, proxy } = await openTestBus(context, nats, { name: 'slow' });
  const world = { ...(await natsWorld(context, nats)), name: 'slow' };
  const { append, settings } = await withStream(world, bus);
  proxy.delayMs = 60;
  proxy.bytesPerSecond = 1_000_000;
  const begun = performance.now();
  assert.equal((await append({ bytes: new Uint8Array(100_000) })).at, 'committed');
  assert.ok(performance.now() - begun > 200);
  assert.equal((await append({ bytes: new Uint8Array(100_000), timeoutMs: 50 })).at, 'unknown');
  proxy.delayMs = 0;
  proxy.bytesPerSecond = Infinity;
  await append({});
  assert.equal((await readAll(bus, settings, 1)).length, 3);
});

test('NatsBus reports why it cannot connect, and rejects unanswered requests', { skip }, async (context) => {
  const bus = openNatsBus({ servers: ['nats://127.0.0.1:1'], name: 'nowhere', memberName: 'test' });
  context.after(() => bus.close());
  const { promise, resolve } = Promise.withResolvers<string>();
  bus.watch((status) => status.at === 'down' && status.why !== 'not connected yet' && resolve(status.why));
  assert.match(await promise, /refused/);
});

test('NatsBus repeats a request until it is answered, also over a new connection', { skip }, async (context) => {
  const world = { ...(await natsWorld(context, nats)), name: 'repeats' };
  const [a, b] = [world.bus('a'), world.bus('b')];
  let count = 0;
  const listening = b.subscribe('repeats.m', ({ reply }) => {
    count++;
    if (count === 1) world.cut('a');
    if (count > 2) b.publish(reply, utf8('late'));
  });
  await Promise.all([listening.ready, up(a)]);
  const read = (bytes: Parameters<typeof look>[0]): string => textOf(look(bytes));
  const asked = a.request('repeats.m', utf8('?'), { timeoutMs: 30_000, repeatMs: 20, read });
  await down(a);
  world.restore('a');
  assert.deepEqual(await asked, { at: 'answered', value: 'late' });
});
