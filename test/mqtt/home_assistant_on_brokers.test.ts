import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, LIFT, send } from '../support/scene.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { checkDocument, rendered } from './home_assistant_schema.ts';
import { type ReceivedMessage, TestMqttClient } from './mqtt_client.ts';

const skip = (await whyNo('mosquitto')) ?? false;
const ON: TestSettings = { mqtt_home_assistant: true };
const FILTERS = ['homeassistant/#', 'omlox/home_assistant/#'];

async function openBroker(t: TestContext): Promise<Broker> {
  const broker = await Broker.start('mosquitto');
  t.after(() => broker.close());
  return broker;
}

async function openHub(broker: Broker, settings: TestSettings, folder?: string): Promise<TestHub> {
  const at = { mqtt_address: '127.0.0.1', mqtt_port: broker.port };
  const hub = await openTestHub({ ...at, ...settings }, folder === undefined ? {} : { folder });
  await connected(hub);
  return hub;
}

/** A client like Home Assistant: subscribed to discovery and to all states. */
async function openAssistant(t: TestContext, broker: Broker): Promise<TestMqttClient> {
  const client = await TestMqttClient.open(broker.port);
  t.after(() => client.close());
  await client.subscribe(...FILTERS, '/omlox/json/hub/+/status');
  return client;
}

const isDocumentOf = (id: string) => (message: ReceivedMessage) => message.topic.endsWith(`_${id}/config`);

/** Returns the components of a device, with the status topic of its availability. */
async function deviceOf(client: TestMqttClient, id: string) {
  const { topic, payload } = await client.next(isDocumentOf(id));
  return { topic, payload, components: checkDocument(topic, payload) };
}

describe('Home Assistant at mosquitto', { skip }, () => {
  test('discovers nothing while mqtt_home_assistant is off', async (t) => {
    const broker = await openBroker(t);
    const assistant = await openAssistant(t, broker);
    const hub = await openHub(broker, {});
    t.after(() => hub.close());
    await createScene(hub);
    await send(hub, inHall('cart-tag', 5, 5));
    await assistant.publish('homeassistant/status', 'online');
    // The status that the hub publishes at its end comes after everything else.
    await hub.close();
    await assistant.next(({ payload }) => payload?.status === 'offline');
    const topics = assistant.received.map(({ topic }) => topic).filter((topic) => !topic.endsWith('/status'));
    assert.deepEqual(topics, []);
  });

  test('discovers trackables and fences by documents with documented options only, and their states', async (t) => {
    const broker = await openBroker(t);
    const assistant = await openAssistant(t, broker);
    const hub = await openHub(broker, ON);
    t.after(() => hub.close());
    await createScene(hub);
    const cart = await deviceOf(assistant, CART.id);
    const dock = await deviceOf(assistant, FENCE.id);
    assert.equal(cart.payload?.device.name, 'Cart');
    const { position, room } = cart.components;
    await send(hub, inHall('cart-tag', 50, 50, { accuracy: 0.5 }));
    const attributes = (await assistant.on(String(position?.['json_attributes_topic']))).payload;
    assert.ok(Math.abs(attributes?.latitude - 50.00045) < 1e-4 && Math.abs(attributes?.longitude - 9.0007) < 1e-4);
    assert.equal(attributes?.gps_accuracy, 0.5);

    const rooms = () =>
      assistant.received
        .filter(({ topic }) => topic === room?.['state_topic'])
        .map(({ payload }) => rendered(room?.['value_template'], payload));
    const { occupancy, trackables } = dock.components;
    const inside = (count: number) => (message: ReceivedMessage) =>
      message.topic === occupancy?.['state_topic'] &&
      rendered(trackables?.['value_template'], message.payload) === count;
    const isOccupied = async (count: number) =>
      rendered(occupancy?.['value_template'], (await assistant.next(inside(count))).payload);
    assert.equal(await isOccupied(0), 'OFF');
    await send(hub, inHall('cart-tag', 5, 5));
    assert.equal(await isOccupied(1), 'ON');
    await assistant.next(({ topic, payload }) => topic === room?.['state_topic'] && payload?.room === 'Dock');
    await send(hub, inHall('lift-tag', 6, 6));
    assert.equal(await isOccupied(2), 'ON');
    await send(hub, inHall('cart-tag', 50, 50));
    await assistant.next(() => rooms().at(-1) === 'outside' && rooms().length >= 3);
    assert.deepEqual(rooms(), ['outside', 'Dock', 'outside']);

    const [availability] = cart.payload?.availability ?? [];
    const status = await assistant.on(availability.topic);
    assert.equal(rendered(availability.value_template, status.payload), 'online');
    await hub.close();
    const offline = await assistant.next(({ topic, payload }) => {
      return topic === availability.topic && rendered(availability.value_template, payload) === 'offline';
    });
    assert.equal(offline.topic, availability.topic);
  });

  test('gets the retained documents and states later as well, and none of a deleted trackable or fence', async (t) => {
    const broker = await openBroker(t);
    const hub = await openHub(broker, ON);
    t.after(() => hub.close());
    const early = await openAssistant(t, broker);
    await createScene(hub);
    await send(hub, inHall('cart-tag', 5, 5), inHall('lift-tag', 6, 6));
    await early.next(({ topic, payload }) => topic.endsWith('/occupancy') && payload?.trackables === 2);
    const lift = await deviceOf(early, LIFT.id);
    await early.on(String(lift.components['position']?.['json_attributes_topic']));
    early.received.length = 0;
    assert.equal((await hub.delete(`/trackables/${LIFT.id}`)).status, 204);
    await early.next((message) => isDocumentOf(LIFT.id)(message) && message.payload === undefined);
    await early.next(({ topic, payload }) => topic.endsWith('/occupancy') && payload?.trackables === 1);

    const late = await openAssistant(t, broker);
    await deviceOf(late, CART.id);
    await deviceOf(late, FENCE.id);
    await late.next(({ topic, payload }) => topic.endsWith('/room') && payload?.room === 'Dock');
    await late.next(({ topic }) => topic.endsWith('/position'));
    assert.ok(late.received.every(({ topic, isRetained }) => isRetained && !topic.includes(LIFT.id)));

    assert.equal((await hub.delete(`/fences/${FENCE.id}`)).status, 204);
    await late.next((message) => isDocumentOf(FENCE.id)(message) && message.payload === undefined);
    await late.next(({ topic, payload }) => topic.includes(CART.id) && payload?.room === 'outside');
  });

  test('gets the documents again after its birth message, and a changed name at once', async (t) => {
    const broker = await openBroker(t);
    const hub = await openHub(broker, { ...ON, mqtt_home_assistant_prefix: 'ha/discovery' });
    t.after(() => hub.close());
    const assistant = await TestMqttClient.open(broker.port);
    t.after(() => assistant.close());
    await assistant.subscribe('ha/discovery/device/#');
    await createScene(hub);
    await assistant.next(isDocumentOf(CART.id));
    assert.equal((await hub.put(`/trackables/${CART.id}`, { ...CART, name: 'Cart 2' })).status, 200);
    await assistant.next(({ payload }) => payload?.device?.name === 'Cart 2');
    await assistant.next(isDocumentOf(LIFT.id));
    assistant.received.length = 0;
    await assistant.publish('ha/discovery/status', 'online');
    await assistant.next(isDocumentOf(LIFT.id));
    await assistant.next(isDocumentOf(FENCE.id));
    assert.equal((await assistant.next(isDocumentOf(CART.id))).payload?.device.name, 'Cart 2');
    const { rejected } = (await hub.get('/health/mqtt')).body;
    assert.equal(rejected, 0);
  });

  test('loses the device of a trackable that was deleted while the broker was not reachable', async (t) => {
    const folder = temporaryFolder();
    const broker = await openBroker(t);
    const assistant = await openAssistant(t, broker);
    const first = await openHub(broker, ON, folder);
    await createScene(first);
    const { topic } = await deviceOf(assistant, CART.id);
    await first.close();
    const without = await openTestHub({}, { folder });
    assert.equal((await without.delete(`/trackables/${CART.id}`)).status, 204);
    await without.close();
    const hub = await openHub(broker, ON, folder);
    t.after(() => hub.close());
    await assistant.next((message) => message.topic === topic && message.payload === undefined);
    const late = await openAssistant(t, broker);
    await deviceOf(late, LIFT.id);
    assert.deepEqual(
      late.received.filter((message) => message.topic.includes(CART.id)),
      [],
    );
  });
});
