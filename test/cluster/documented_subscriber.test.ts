import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../bench/process/free_port.ts';
import { readDocuments } from '../documents/documents.ts';
import { fenceOf, HubProcess, locationOf } from '../durability/hub_process.ts';
import { SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Balancer } from './balancer.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const FENCE = '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de001';
const TRACKABLE = '0b680db2-b39b-45be-be77-40d7d2296cb4';
/** Timeout of events that should take seconds. */
const PATIENCE_MS = 60_000;

const { blocks = [] } = readDocuments().find(({ path }) => path === 'docs/subscribers.md') ?? {};
const EXAMPLE = blocks.find(({ text }) => text.includes('export function watchFence('))?.text ?? '';

type WatchFence = (hub: string, fence: string, tell: (inside: readonly string[]) => void) => () => void;

const nats = await testNats();
const ends: (() => void)[] = [];
const atEnd = (callback: () => void): void => void ends.push(callback);
after(() => {
  for (const end of ends) end();
});

function startHub(name: string, port: number): Promise<HubProcess> {
  const cluster = { cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_hub_name: name };
  return HubProcess.start(temporaryFolder(), { ...cluster, cluster_journal_max_size: 8, port }, atEnd);
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await delay(20)) {
    if (await isSo()) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

function becomes(hub: HubProcess, standing: string): Promise<void> {
  return until(`A hub is ${standing}`, async () => {
    return (await hub.get('/health/system'))?.body?.cluster.standing === standing;
  });
}

/** Resolves when both hubs own objects, according to one of them. */
function shared(hub: HubProcess): Promise<void> {
  return until('The objects are shared', async () => isShared((await hub.get('/health/system'))?.body?.cluster, 2));
}

/** Moves the tag until the request is answered 204. */
async function move(hub: HubProcess, east: number): Promise<void> {
  await until('The tag is moved', async () => {
    return (await hub.put('/providers/tag/location', locationOf('tag', east)))?.status === 204;
  });
}

describe('A subscriber as docs/subscribers.md has it', { skip: nats.skip }, () => {
  test('knows the objects in the fence, even if its hub or an owner is killed, stops, or hangs', async () => {
    const path = join(temporaryFolder(), 'watch_fence.mjs');
    writeFileSync(path, EXAMPLE);
    const { watchFence } = (await import(pathToFileURL(path).href)) as { readonly watchFence: WatchFence };
    const ports = [await freePort(), await freePort()] as const;
    let a = await startHub('a', ports[0]);
    await becomes(a, 'owner');
    let b = await startHub('b', ports[1]);
    await shared(a);
    const balancer = await Balancer.open({ ports });
    atEnd(() => void balancer.close());
    await a.post('/fences', fenceOf(FENCE));
    await a.post('/trackables', { id: TRACKABLE, type: 'omlox', location_providers: ['tag'] });
    const reported: string[] = [];
    const base = `http://127.0.0.1:${balancer.port}/hub/v2`;
    // One at each hub.
    const stops = [0, 1].map((index) => watchFence(base, FENCE, (inside) => (reported[index] = inside.join())));
    const bothKnow = (inside: string) =>
      until(`Both know of "${inside}"`, () => reported.every((text) => text === inside));
    await until('Both have the state', () => reported.length === 2 && reported.every((text) => text === ''));

    await move(a, 1);
    await bothKnow(TRACKABLE);
    void a.crash();
    await move(b, 1000);
    await bothKnow('');

    a = await startHub('a', ports[0]);
    await shared(a);
    const stopped = b.stop();
    await move(a, 1);
    await bothKnow(TRACKABLE);
    assert.equal((await stopped).code, 0);

    b = await startHub('b', ports[1]);
    await shared(b);
    process.kill(a.pid, 'SIGSTOP');
    await move(b, 1000);
    process.kill(a.pid, 'SIGCONT');
    await bothKnow('');
    await shared(a);

    for (const stop of stops) stop();
    const counts = reported.slice();
    await move(b, 1);
    await b.get('/zones');
    assert.deepEqual(reported, counts);
    // Subscribers to unjournaled events of an owner are notified of its failure; others are not.
    const address = `${a.base.replace('http', 'ws')}/ws/socket`;
    const open: string[] = [];
    const subscribed = async (topic: string): Promise<SocketClient> => {
      const client = await SocketClient.open(address);
      await client.subscribe(topic);
      open.push(topic);
      client.socket.once('close', () => void open.splice(open.indexOf(topic), 1));
      return client;
    };
    const { socket } = await subscribed('location_updates');
    for (const topic of ['fence_events', 'fence_changes']) await subscribed(topic);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    void b.crash();
    assert.equal(await closed, 1013);
    await until('All is taken over', async () => (await a.get('/health/system'))?.body?.cluster.owner === 'a');
    assert.deepEqual(open, ['fence_events', 'fence_changes']);
    assert.equal((await a.stop()).code, 0);
  });
});
