import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { inHall } from '../support/scene.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

const skip = (await whyNo('mosquitto')) ?? false;
const [FIRST, SECOND] = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const;

const healthOf = async (hub: TestHub) => (await hub.get('/health/mqtt')).body;
const trackable = (id: string, path: string) => ({
  ...{ id, type: 'omlox', location_providers: [`tag-${id}`] },
  properties: { 'com.flowcate.uns': path },
});
const locate = async (hub: TestHub, id: string, longitude = 9): Promise<void> => {
  const location = { ...inHall(`tag-${id}`, longitude, 50), crs: 'EPSG:4326', source: 'gps' };
  assert.equal((await hub.put(`/providers/tag-${id}/location`, location)).status, 204);
};

async function openBroker(t: TestContext): Promise<Broker> {
  const broker = await Broker.start('mosquitto');
  t.after(() => broker.close());
  return broker;
}

async function openHub(broker: Broker, settings: TestSettings = {}, folder?: string): Promise<TestHub> {
  const shared = { mqtt_address: '127.0.0.1', mqtt_port: broker.port, uns_root: 'plant' };
  const hub = await openTestHub({ ...shared, ...settings }, folder === undefined ? {} : { folder });
  await connected(hub);
  return hub;
}

describe('The unified namespace on mosquitto', { skip }, () => {
  test('a path of 300 levels is rejected by the hub, which stays connected', async (t) => {
    const broker = await openBroker(t);
    const hub = await openHub(broker);
    t.after(() => hub.close());
    const display = await TestMqttClient.open(broker.port);
    t.after(() => display.close());
    await display.subscribe('plant/#');
    for (const [id, path] of [
      [FIRST, 'a/'.repeat(300)],
      [SECOND, 'hall/second'],
    ] as const) {
      assert.equal((await hub.post('/trackables', trackable(id, path))).status, 201);
      await locate(hub, id);
    }
    await display.on('plant/hall/second/sensor/wgs84');
    const { connected, connections, uns } = await healthOf(hub);
    assert.deepEqual([connected, connections, uns.topics, uns.refused], [true, 1, 1, 1]);
    const [{ id, problem }] = uns.problems;
    assert.deepEqual([id, /must have at most 32 levels, found 300/.test(problem)], [FIRST, true]);
    const metrics = (await hub.get(`${hub.origin}/metrics`)).text;
    assert.match(metrics, /hub_mqtt_uns_refused\{reason="levels"\} 1/);
    assert.ok(hub.logged.some(({ message }) => message === 'A trackable has no topic in the unified namespace'));
  });

  test('a message that closes the connection is dropped the second time, and all others are published', async (t) => {
    const broker = await openBroker(t);
    const hub = await openHub(broker, { uns_max_levels: 200 });
    t.after(() => hub.close());
    const display = await TestMqttClient.open(broker.port);
    t.after(() => display.close());
    await display.subscribe('plant/#');
    // Mosquitto closes the connection over a topic of more than 200 levels.
    assert.equal((await hub.post('/trackables', trackable(FIRST, 'a/'.repeat(200)))).status, 201);
    assert.equal((await hub.post('/trackables', trackable(SECOND, 'hall/second'))).status, 201);
    await locate(hub, FIRST);
    await until(async () => (await healthOf(hub)).refused === 1, 60_000);
    await locate(hub, SECOND);
    await connected(hub, 60_000);
    await display.on('plant/hall/second/sensor/wgs84');
    const { connections } = await healthOf(hub);
    assert.ok(connections >= 3 && connections <= 4, `${connections} connections`);
    await locate(hub, FIRST, 9.001);
    await until(async () => (await healthOf(hub)).refused === 2);
    const after = await healthOf(hub);
    assert.deepEqual([after.connected, after.connections], [true, connections]);
  });

  test('the topic of a trackable is neither taken over nor deleted by another one, also after a restart', async (t) => {
    const folder = temporaryFolder();
    const broker = await openBroker(t);
    const display = await TestMqttClient.open(broker.port);
    t.after(() => display.close());
    await display.subscribe('plant/hall/#');
    const longitudes = () => display.received.map(({ payload }) => payload?.longitude);
    const first = await openHub(broker, {}, folder);
    // The last claimant of the topic was created first.
    assert.equal((await first.post('/trackables', trackable(SECOND, 'elsewhere'))).status, 201);
    assert.equal((await first.post('/trackables', trackable(FIRST, 'hall/a'))).status, 201);
    await locate(first, FIRST, 9);
    await display.next(({ payload }) => payload?.longitude === 9);
    assert.equal((await first.put(`/trackables/${SECOND}`, trackable(SECOND, 'hall/a'))).status, 200);
    await locate(first, SECOND, 10);
    await first.close();
    const hub = await openHub(broker, {}, folder);
    t.after(() => hub.close());
    await locate(hub, SECOND, 11);
    assert.equal((await hub.delete(`/trackables/${SECOND}`)).status, 204);
    await locate(hub, FIRST, 12);
    await display.next(({ payload }) => payload?.longitude === 12);
    assert.deepEqual(longitudes(), [9, 12]);
  });
});
