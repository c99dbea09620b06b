import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ClusterRpc } from '../../src/cluster/rpc/cluster_rpc.ts';
import { begin, client, openRpc } from '../rpc/world.ts';
import { down, up } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** Hubs of a cluster on simulated time. */
async function hubsOf(context: TestContext, names: readonly string[]) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const open = async (incarnation: string, hubId = incarnation) => {
    const bus = cluster.bus(incarnation);
    const notices: string[] = [];
    const schedule = (delayMs: number, callback: () => void) => cluster.schedule(incarnation, delayMs, callback);
    const { rpc } = openRpc({ hubId, elapsed: clock.elapsed, schedule });
    const notice = (text: string): void => void notices.push(text);
    const carrier = new ClusterRpc({ bus, name: 'hub', incarnation, rpc, notice, schedule });
    await Promise.all([carrier.ready(), up(bus)]);
    await clock.wait(100);
    const known = (method: string): readonly string[] => rpc.available()[method]?.handler_id ?? [];
    return { bus, rpc, carrier, notices, known };
  };
  const hubs = [];
  for (const name of names) hubs.push(await open(name));
  return { clock, cluster, open, hubs: hubs as [(typeof hubs)[0], (typeof hubs)[0], (typeof hubs)[0]] };
}

test('Hubs know the handlers of each other, those that were there before them as well', async (t) => {
  const { clock, hubs, open } = await hubsOf(t, ['a', 'b']);
  const [a, b] = hubs;
  const led = client(a.rpc, 'm');
  await clock.wait(100);
  const c = await open('c');
  for (const { known } of [b, c]) assert.deepEqual(known('m'), ['a:1']);
  assert.deepEqual(a.known('com.omlox.ping').toSorted(), ['a', 'b', 'c']);
  led.port.close();
  await clock.wait(100);
  for (const { known } of [a, b, c]) assert.deepEqual(known('m'), []);
  await clock.wait(600_000);
  assert.equal(a.known('com.omlox.ping').length, 3);
});

test('A call reaches the handler of another hub, and its answer the caller', async (t) => {
  const { clock, hubs } = await hubsOf(t, ['a', 'b', 'c']);
  const [a, b, c] = hubs;
  const [far, other] = [client(a.rpc, 'm'), client(c.rpc, 'm')];
  await clock.wait(100);
  const call = begin(b.rpc, { method: 'm', params: { x: 1 }, aggregate: true });
  await clock.wait(100);
  for (const { frames } of [far, other])
    assert.deepEqual(
      frames.map(({ params }) => params),
      [{ x: 1 }],
    );
  far.answer({ result: 1 });
  other.answer({ error: { code: 3, message: 'busy' } });
  await clock.wait(100);
  assert.ok(call.isOver);
  assert.match(JSON.stringify(call.reported), /"handler_id":"a:1","result":1/);
  begin(b.rpc, { method: 'm', id: undefined });
  await clock.wait(100);
  assert.deepEqual(far.frames.at(-1), { jsonrpc: '2.0', method: 'm', params: {} });
});

test('Handlers of a removed member are removed, and their pending calls are answered', async (t) => {
  const { clock, hubs } = await hubsOf(t, ['a', 'b']);
  const [a, b] = hubs;
  client(a.rpc, 'm');
  await clock.wait(100);
  const call = begin(b.rpc, { method: 'm', timeout: 60_000 });
  await clock.wait(100);
  b.carrier.gone('a');
  assert.match(JSON.stringify(call.reported), /"code":-32000/);
  assert.deepEqual([b.known('m'), b.known('com.omlox.ping')], [[], ['b']]);
});

test('A member that was killed is found out by the first call, and one that is back has its handlers', async (t) => {
  const { clock, cluster, hubs, open } = await hubsOf(t, ['a', 'b']);
  const [a, b] = hubs;
  client(a.rpc, 'm');
  await clock.wait(100);
  cluster.kill('a');
  const call = begin(b.rpc, { method: 'm', timeout: 60_000 });
  await clock.wait(1000);
  assert.match(JSON.stringify(call.reported), /"code":-32000/);
  assert.deepEqual(b.known('m'), []);
  await open('a2', 'a');
  b.carrier.gone('a');
  assert.deepEqual(b.known('com.omlox.ping').toSorted(), ['a', 'b']);
  assert.equal(begin(b.rpc, { method: 'com.omlox.ping', params: { _handler_id: 'b' } }).isOver, true);
});

test('Without the bus calls fail at once, and changed handlers are published when it is back', async (t) => {
  const { clock, cluster, hubs } = await hubsOf(t, ['a', 'b']);
  const [a, b] = hubs;
  const led = client(a.rpc, 'm');
  await clock.wait(100);
  cluster.isolate('b');
  await down(b.bus);
  const call = begin(b.rpc, { method: 'm', timeout: 60_000 });
  assert.match(JSON.stringify(call.reported), /"code":-32000,.*cannot be reached/);
  client(a.rpc, 'n');
  client(b.rpc, 'k');
  led.port.close();
  cluster.restore('b');
  await up(b.bus);
  await clock.wait(1000);
  assert.deepEqual([b.known('n'), a.known('k')], [['a:2'], ['b:1']]);
  // The removal was not published: the hub of the handler reports it.
  const late = begin(b.rpc, { method: 'm', timeout: 60_000 });
  await clock.wait(100);
  assert.match(JSON.stringify(late.reported), /"code":-32000/);
});

test('More handlers than fit into one message are published', async (t) => {
  const { clock, hubs, open } = await hubsOf(t, ['a']);
  const [a] = hubs;
  for (let n = 0; n < 25; n++) client(a.rpc, ...Array.from({ length: 100 }, (_, m) => `${n} ${m}`));
  const b = await open('b');
  await clock.wait(1000);
  assert.equal(Object.keys(b.rpc.available()).length, 2502);
});

test('Malformed messages are counted, and logged once', async (t) => {
  const { clock, hubs } = await hubsOf(t, ['a', 'b']);
  const [a, b] = hubs;
  for (const bytes of [Buffer.from('x'), Buffer.from([0x92, 1, 5])]) a.bus.publish('hub.rpc', bytes);
  await clock.wait(100);
  assert.equal(b.carrier.malformed.count, 2);
  assert.match(b.notices.join('\n'), /^Skipped a malformed message about remote procedure calls: [^\n]*$/);
});
