import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { inHall } from '../support/scene.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { BROKERS, Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

const PUB = 'omlox/json/location_updates/pub';
const EARTH = '/omlox/json/location_updates/epsg4326';
const skip = (await whyNo('mosquitto')) ?? false;
const onEarth = (id: string) => ({ ...inHall(id, 9, 50), crs: 'EPSG:4326', source: 'gps' });

const healthOf = async (hub: TestHub) => (await hub.get('/health/mqtt')).body;
const located = (hub: TestHub, id: string) =>
  until(async () => (await hub.get(`/providers/${id}/location`)).status === 200);

async function openBroker(t: TestContext, lines?: readonly string[]): Promise<Broker> {
  const broker = await Broker.start('mosquitto', lines && { lines });
  t.after(() => broker.close());
  return broker;
}

async function openHub(t: TestContext, settings: TestSettings, folder?: string): Promise<TestHub> {
  const hub = await openTestHub({ mqtt_address: '127.0.0.1', ...settings }, folder === undefined ? {} : { folder });
  t.after(() => hub.close());
  return hub;
}

async function openClient(t: TestContext, port: number, options = {}): Promise<TestMqttClient> {
  const client = await TestMqttClient.open(port, options);
  t.after(() => client.close());
  return client;
}

describe('A hub with a broker', { skip }, () => {
  test('starts without it, and connects when it is available, also after it was killed', async (t) => {
    const broker = await openBroker(t);
    await broker.kill();
    const hub = await openHub(t, { mqtt_port: broker.port });
    await until(async () => /ECONNREFUSED/.test((await healthOf(hub)).problem ?? ''));
    assert.equal((await hub.put('/providers/rest/location', onEarth('rest'))).status, 204);
    for (const connections of [1, 2]) {
      await broker.start();
      await until(async () => (await healthOf(hub)).connections === connections);
      const client = await TestMqttClient.open(broker.port);
      await client.subscribe(`${EARTH}/#`);
      await client.publish(`${PUB}/tag-${connections}`, onEarth(`tag-${connections}`));
      await client.on(`${EARTH}/tag-${connections}`);
      await client.close();
      await broker.kill();
      await until(async () => (await healthOf(hub)).connected === false);
    }
    const warnings = hub.logged.filter(({ message }) => message === 'The MQTT broker cannot be reached');
    assert.ok(warnings.length >= 1 && warnings.length <= 6, JSON.stringify(warnings));
  });

  test('receives messages of QoS 1 that were sent while it was disconnected, but no earlier retained ones', async (t) => {
    const folder = temporaryFolder();
    const broker = await openBroker(t);
    const client = await openClient(t, broker.port);
    await client.publish(`${PUB}/stale`, onEarth('stale'), { retain: true });
    const first = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: broker.port }, { folder });
    await connected(first);
    await client.publish(`${PUB}/before`, onEarth('before'));
    await located(first, 'before');
    await first.close();
    for (let n = 0; n < 50; n++) await client.publish(`${PUB}/away-${n}`, onEarth(`away-${n}`));
    const hub = await openHub(t, { mqtt_port: broker.port }, folder);
    await located(hub, 'away-49');
    const ids = (await hub.get('/providers/locations')).body.map((each: { provider_id: string }) => each.provider_id);
    assert.equal(ids.filter((id: string) => id.startsWith('away-')).length, 50);
    assert.equal(ids.includes('stale'), false);
  });

  test('acknowledges only stored messages if required', async (t) => {
    const broker = await openBroker(t);
    const client = await openClient(t, broker.port);
    const hub = await openHub(t, { mqtt_port: broker.port, db_fast_writes: false });
    await connected(hub);
    await client.publish(`${PUB}/kept`, onEarth('kept'));
    await located(hub, 'kept');
  });

  test('reports why it is rejected', async (t) => {
    const folder = temporaryFolder();
    const passwords = join(folder, 'passwords');
    assert.equal(spawnSync('mosquitto_passwd', ['-c', '-b', passwords, 'hub', 'secret']).status, 0);
    const broker = await openBroker(t, ['allow_anonymous false', `password_file ${passwords}`]);
    const settings = { mqtt_port: broker.port, mqtt_user: 'hub' };
    const stranger = await openHub(t, { ...settings, mqtt_password: 'wrong' });
    await until(async () => (await healthOf(stranger)).problem !== undefined);
    assert.match(
      (await healthOf(stranger)).problem,
      /^the broker (refuses mqtt_user or mqtt_password|does not authorize this hub)$/,
    );
    const hub = await openHub(t, { ...settings, mqtt_password: 'secret' });
    await connected(hub);
  });

  test('uses MQTT over WebSocket', async (t) => {
    const broker = await openBroker(t);
    const client = await openClient(t, broker.port);
    const hub = await openHub(t, { mqtt_port: broker.webSocketPort, mqtt_protocol: 'ws' });
    await connected(hub);
    await client.subscribe(`${EARTH}/#`);
    await client.publish(`${PUB}/tag`, onEarth('tag'));
    await client.on(`${EARTH}/tag`);
  });

  test('delivers each location to one of several hubs with a shared subscription', async (t) => {
    const broker = await openBroker(t);
    const client = await openClient(t, broker.port);
    const settings = { mqtt_port: broker.port, mqtt_share: 'site' };
    const hubs = [await openHub(t, settings), await openHub(t, settings)];
    for (const hub of hubs) await connected(hub);
    for (let n = 0; n < 20; n++) await client.publish(`${PUB}/tag-${n}`, onEarth(`tag-${n}`));
    const counts = async () => await Promise.all(hubs.map(async (hub) => (await hub.get('/providers')).body.length));
    await until(async () => (await counts()).reduce((sum, count) => sum + count, 0) >= 20);
    assert.equal(
      (await counts()).reduce((sum, count) => sum + count, 0),
      20,
    );
  });

  test('queues at most mqtt_max_queue for a stalled broker, and counts dropped messages', async (t) => {
    const broker = await openBroker(t);
    const publish = { mqtt_publish: 'location_updates/epsg4326', mqtt_max_queue: 1 };
    const hub = await openHub(t, { mqtt_port: broker.port, ...publish });
    await connected(hub);
    // Its status, and its own methods.
    await until(async () => (await healthOf(hub)).published === 3);
    broker.pause();
    after(() => broker.resume());
    const text = 'x'.repeat(3000);
    let sent = 0;
    const send = async (count: number) => {
      const more = Array.from({ length: count }, () => ({ ...onEarth(`tag-${sent++}`), properties: { text } }));
      assert.equal((await hub.put('/providers/locations', more)).status, 204);
    };
    // Socket buffers of both sides hold some.
    for (let n = 0; n < 12; n++) await send(300);
    await until(async () => (await healthOf(hub)).dropped > 100);
    const { waiting, waiting_bytes: bytes, dropped, published } = await healthOf(hub);
    assert.ok(bytes <= 2 ** 20 && waiting > 0, `${waiting} messages, ${bytes} bytes`);
    assert.ok(published + waiting + dropped <= sent + 3, `${published} and ${waiting} and ${dropped} of ${sent}`);
    broker.resume();
    const client = await openClient(t, broker.port);
    await client.subscribe(`${EARTH}/#`);
    await until(async () => (await healthOf(hub)).waiting === 0);
    // Few enough for the queue, also when the thread takes them late.
    await send(10);
    await client.on(`${EARTH}/tag-${sent - 1}`);
    // Each of them is counted once.
    await until(async () => {
      const health = await healthOf(hub);
      return health.published + health.dropped === sent + 3;
    });
  });
});

for (const name of BROKERS) {
  test(`A hub continues while its broker is stalled, and publishes the newest messages when it resumes: ${name}`, {
    skip: (await whyNo(name)) ?? false,
  }, async (t) => {
    const broker = await Broker.start(name);
    t.after(() => broker.close());
    const hub = await openHub(t, { mqtt_port: broker.port, mqtt_publish: 'location_updates/epsg4326' });
    await connected(hub);
    const client = await openClient(t, broker.port);
    await client.subscribe(`${EARTH}/#`);
    broker.pause();
    after(() => broker.resume());
    const many = Array.from({ length: 1000 }, (_, n) => ({
      ...onEarth(`tag-${n}`),
      properties: { text: 'x'.repeat(500) },
    }));
    for (let n = 0; n < 10; n++) assert.equal((await hub.put('/providers/locations', many)).status, 204);
    await until(async () => (await healthOf(hub)).replaced > 1000);
    const { waiting, waiting_bytes: bytes } = await healthOf(hub);
    assert.ok(waiting <= 1000 && bytes < 2e6, `${waiting} messages, ${bytes} bytes`);
    broker.resume();
    await client.next(({ topic }) => topic === `${EARTH}/tag-999`);
    await until(async () => (await healthOf(hub)).waiting === 0);
  });
}
