import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '../mqtt/mqtt_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
/** Timeout for the replacement of a hub that has left. */
const PATIENCE_MS = 60_000;

test('One of two hubs connects to a tcp source, and the other one after it has left', {
  skip: nats.skip,
}, async (t) => {
  const sockets = new Set<Socket>();
  const device = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }).listen(0, '127.0.0.1');
  await once(device, 'listening');
  t.after(() => device.close());
  const { port } = device.address() as AddressInfo;

  const settings = (name: string) => ({
    ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_journal_max_size: 16 },
    // Both share this process: if it is slow, no hub must be suspected.
    ...{ cluster_name: 'sources', cluster_hub_name: name, cluster_suspect: 60_000 },
    source_allowed_hosts: '["*", "127.0.0.1"]',
  });
  const hubs: TestHub[] = [];
  for (const name of ['a', 'b']) {
    const hub = await openTestHub(settings(name), { isAlone: true });
    hubs.push(hub);
    t.after(() => hub.close());
  }
  const [first] = hubs as [TestHub, TestHub];
  const map = { provider_id: '/id', provider_type: { value: 'gps' }, x: '/x', y: '/y', crs: { value: 'EPSG:4326' } };
  const source = { name: 'Device', kind: 'tcp', url: `tcp://127.0.0.1:${port}`, format: 'json', map };
  const created = await first.post('/sources', source);
  assert.equal(created.status, 201, created.text);
  const statusAt = async (hub: TestHub) => (await hub.get(`/sources/${created.body.id}/status`)).body;
  const statesOf = (all: readonly TestHub[]) =>
    Promise.all(all.map(async (hub) => ((await statusAt(hub)) as { readonly state: string }).state));
  const longitudeAt = async (hub: TestHub) => (await hub.get('/providers/tag/location')).body?.position?.coordinates[0];
  const send = (x: number): void => {
    for (const socket of sockets) socket.write(`${JSON.stringify({ id: 'tag', x, y: 50 })}\n`);
  };

  await until(async () => (await statesOf(hubs)).toSorted().join() === 'elsewhere,receiving', PATIENCE_MS);
  assert.equal(sockets.size, 1);
  send(8);
  await until(async () => (await Promise.all(hubs.map(longitudeAt))).every((each) => each === 8));
  const mapped = await Promise.all(hubs.map(async (hub) => (await statusAt(hub)).mapped as number));
  assert.deepEqual(mapped.toSorted(), [0, 1]);

  const states = await statesOf(hubs);
  const [elected, other] = states[0] === 'receiving' ? hubs : hubs.toReversed();
  await elected?.close();
  const remaining = other as TestHub;
  await until(async () => (await statusAt(remaining)).state === 'receiving', PATIENCE_MS);
  assert.equal(sockets.size, 1);
  send(9);
  await until(async () => (await longitudeAt(remaining)) === 9);
});
