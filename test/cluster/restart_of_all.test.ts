import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thisMachine } from '../../src/hub/machine.ts';
import { openTestCluster } from '../support/running_cluster.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { empty } from '../support/shared_hubs.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { NatsProxy } from './nats_proxy.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
/** Enough that both hubs have some, with a partition that differs from that of their trackable. */
const TAGS = Array.from({ length: 20 }, (_, i) => `tag-${i}`);
const cart = (i: number): string => `5e0f0000-0000-4000-8000-0000000000${i + 10}`;

async function locateAll(hub: TestHub): Promise<void> {
  for (const [i, tag] of TAGS.entries()) {
    const made = await hub.post('/trackables', { id: cart(i), type: 'omlox', location_providers: [tag] });
    assert.equal(made.status, 201, made.text);
    const position = { type: 'Point', coordinates: [9, 50] };
    const sent = { position, provider_type: 'uwb', source: 'x', crs: 'EPSG:4326' };
    assert.equal((await hub.put(`/providers/${tag}/location`, sent)).status, 204);
  }
  await hub.settle();
}

test('Objects that were deleted and located again survive a restart of all hubs', { skip: nats.skip }, async (t) => {
  const folder = temporaryFolder();
  const open = () => {
    const { addresses: servers } = nats.servers;
    return openTestCluster({ servers, folder, open: (own) => openTestHub(own, { folder, isAlone: true }) });
  };
  let hub = await open();
  t.after(() => hub.close());
  const restart = async (): Promise<void> => {
    await hub.close();
    hub = await open();
  };
  const located = async (): Promise<readonly string[]> => {
    const { body } = await hub.get('/providers/locations');
    return (body as readonly { provider_id: string }[]).map(({ provider_id: id }) => id).sort();
  };
  await locateAll(hub);
  // Providers migrate to the hubs of their own partitions, are deleted there, and come back without a migration.
  await empty(hub);
  await locateAll(hub);
  await restart();
  // While partitions migrate to the hub that has joined last.
  await empty(hub);
  await locateAll(hub);
  await restart();
  assert.deepEqual(await located(), TAGS.toSorted());
  assert.equal((await hub.get('/trackables/motions')).body.length, TAGS.length);
});

test('A hub starts its shards while it waits for NATS', { skip: nats.skip }, async (t) => {
  const proxy = await NatsProxy.open(nats.servers.servers[0]?.port ?? 0);
  let hub: TestHub | undefined;
  t.after(async () => {
    await hub?.close();
    proxy.close();
  });
  proxy.cut();
  const machine = thisMachine();
  const openThread: typeof machine.openThread = (file, options = {}) => {
    proxy.restore();
    return machine.openThread(file, { ...options, workerData: { ...options.workerData, isCold: true } });
  };
  const cluster = { cluster_servers: proxy.address, cluster_replicas: 1, cluster_name: `starts-${process.pid}` };
  const settings = { ...cluster, cluster_hub_name: 'a', cluster_journal_max_size: 64 };
  // The hub would give up after 10 s without NATS.
  hub = await openTestHub(settings, { isAlone: true, machine: { ...machine, openThread } });
  assert.equal((await hub.get('/providers')).status, 200);
});
