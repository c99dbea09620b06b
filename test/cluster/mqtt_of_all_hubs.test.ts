import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { Broker, whyNo } from '../mqtt/brokers.ts';
import { TestMqttClient, until } from '../mqtt/mqtt_client.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const skip = nats.skip || ((await whyNo('mosquitto')) ?? false);
const PUB = '/omlox/json/location_updates/pub';
const EARTH = '/omlox/json/location_updates/epsg4326';
const BEGIN_MS = Date.parse('2026-11-20T09:00:00Z');
/** Interval of locations of a source with 20 Hz. */
const INTERVAL_MS = 50;
/** Timeout for the replacement of a crashed hub. */
const PATIENCE_MS = 60_000;

/** The location of a provider at the `n`-th tick of its source. */
function locationAt(id: string, n: number) {
  return {
    ...{ provider_id: id, provider_type: 'uwb', source: 'yard', crs: 'EPSG:4326' },
    position: { type: 'Point', coordinates: [9 + n / 1e6, 50] },
    timestamp_generated: new Date(BEGIN_MS + n * INTERVAL_MS).toISOString(),
  };
}

/** The tick at which a location was made. */
function tickOf({ timestamp_generated: time }: Event): number {
  return tickAt(time);
}

/** The tick of the location that crossed the border of a fence. */
function crossedAt({ entry_time: entered, exit_time: left }: Event): number {
  return tickAt(left ?? entered);
}

function tickAt(time: string): number {
  return (Date.parse(time) - BEGIN_MS) / INTERVAL_MS;
}

function ticks(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function settingsOf(name: string, broker: Broker, more: TestSettings = {}): TestSettings {
  return {
    ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_journal_max_size: 16 },
    ...{ cluster_name: 'mqtt', cluster_hub_name: name, mqtt_address: '127.0.0.1', mqtt_port: broker.port },
    ...more,
  };
}

describe('MQTT in a cluster of three hubs', { skip }, () => {
  const HUBS = ['a', 'b', 'c'];
  let broker: Broker;
  let source: TestMqttClient;
  let hubs: readonly TestHub[];

  before(async () => {
    broker = await Broker.start('mosquitto');
    source = await TestMqttClient.open(broker.port);
    const opened: TestHub[] = [];
    // All share this process: if it is slow, no hub must be suspected.
    const more = { cluster_suspect: 60_000 };
    for (const name of HUBS) opened.push(await openTestHub(settingsOf(name, broker, more), { isAlone: true }));
    hubs = opened;
    await until(async () => (await Promise.all(hubs.map(healthOf))).every(({ connected }) => connected));
    await until(async () => (await subscribedHubs()).length === 1);
  });
  after(async () => {
    await Promise.all(hubs.map((each) => each.close()));
    await source.close();
    await broker.close();
  });

  const hub = (index: number): TestHub => hubs[index] as TestHub;
  const healthOf = async (each: TestHub): Promise<Event> => (await each.get('/health/mqtt')).body;
  /** Hubs that are subscribed to the topics of sources. */
  const subscribedHubs = async (): Promise<readonly TestHub[]> => {
    const health = await Promise.all(hubs.map(healthOf));
    return hubs.filter((_, index) => health[index].subscriptions?.some(({ connected }: Event) => connected) === true);
  };

  test('every location of a provider with 20 Hz is processed, in order, and published once', async () => {
    const updates = await hub(1).subscribe('location_updates', { provider_id: 'tag' });
    const display = await TestMqttClient.open(broker.port);
    await display.subscribe(`${EARTH}/tag`);
    for (const n of ticks(100)) await source.publish(`${PUB}/tag`, locationAt('tag', n));
    await updates.next((each) => tickOf(each) === 99);
    assert.deepEqual(updates.events.map(tickOf), ticks(100));
    await display.next(({ payload }) => tickOf(payload) === 99);
    const published = display.received.map(({ payload }) => tickOf(payload));
    // With QoS 0 a newer location replaces one that waits.
    assert.deepEqual(published, [...new Set(published)]);
    await display.close();
  });

  test('a burst of 400 locations of a provider is processed, in order', async () => {
    const updates = await hub(2).subscribe('location_updates', { provider_id: 'burst' });
    await Promise.all(ticks(400).map((n) => source.publish(`${PUB}/burst`, locationAt('burst', n))));
    await updates.next((each) => tickOf(each) === 399);
    assert.deepEqual(updates.events.map(tickOf), ticks(400));
  });

  test('each hub publishes its own events in its own session', async () => {
    const health = await Promise.all(hubs.map(healthOf));
    assert.equal(new Set(health.map(({ client_id: id }) => id)).size, HUBS.length);
    const sessions = health.map(({ subscriptions }) => subscriptions.map(({ client_id: id }: Event) => id));
    assert.deepEqual(sessions, [sessions[0], sessions[0], sessions[0]]);
  });
});

/** Hubs of the same name would have the objects of the cluster above. */
const OTHER_CLUSTER = { cluster_name: 'mqtt_loss' };
/** Halls, with a subscription each. */
const HALLS = ['hall-1', 'hall-2', 'hall-3', 'hall-4'];
const PER_HALL = HALLS.map((hall) => `location_updates/pub/${hall}/#`);
/** Each provider is inside at even ticks and outside at odd ones. So each location causes a fence event. */
const GATE = { name: 'Gate', region: { type: 'Point', coordinates: [9, 50] }, radius: 10 };
/** Providers of the halls that send with 20 Hz, and the number of their locations. */
const STEADY = HALLS.flatMap((hall) => [`${hall}/tag-1`, `${hall}/tag-2`]);
const STEADY_COUNT = 60;
const BURST_COUNT = 400;

describe('MQTT in a cluster that loses a hub', { skip }, () => {
  const ends: (() => void)[] = [];
  const atEnd = (callback: () => void): void => void ends.push(callback);
  let broker: Broker;
  let source: TestMqttClient;
  const hubs: HubProcess[] = [];

  before(async () => {
    broker = await Broker.start('mosquitto');
    source = await TestMqttClient.open(broker.port);
    for (const name of ['a', 'b']) {
      const settings = { ...settingsOf(name, broker, OTHER_CLUSTER), mqtt_subscriptions: JSON.stringify(PER_HALL) };
      hubs.push(await HubProcess.start(temporaryFolder(), { ...settings, port: await freePort() }, atEnd));
    }
    await until(async () => isShared((await hubs[0]?.get('/health/system'))?.body.cluster, 2));
  });
  after(async () => {
    for (const end of ends) end();
    await source.close();
    await broker.close();
  });

  /** The hub that has the subscription of each hall. */
  const subscribers = async (): Promise<readonly (HubProcess | undefined)[]> => {
    const health = await Promise.all(hubs.map(async (hub) => (await hub.get('/health/mqtt'))?.body));
    return HALLS.map((hall) => {
      return hubs.find((_, index) =>
        health[index]?.subscriptions?.some(({ connected, topics }: Event) => {
          return connected && topics.some((topic: string) => topic.includes(`/${hall}/`));
        }),
      );
    });
  };

  test('subscriptions by topic have one subscriber each, and no location is lost or out of order when a hub fails', async () => {
    await until(async () => (await subscribers()).every((hub) => hub !== undefined));
    const before = await subscribers();
    const victim = before[0] as HubProcess;
    const other = hubs.find((hub) => hub !== victim) as HubProcess;
    assert.ok(before.includes(other), 'each hub has some of the subscriptions');
    await other.post('/fences', GATE);
    const client = await SocketClient.open(`${other.base.replace('http', 'ws')}/ws/socket`);
    const crossings = await client.subscribe('fence_events');
    const bursting = HALLS.map((hall) => `${hall}/burst`);
    const publish = (id: string, n: number): Promise<void> => {
      const position = { type: 'Point', coordinates: [n % 2 === 0 ? 9 : 9.001, 50] };
      return source.publish(`${PUB}/${id}`, { ...locationAt(id, n), position });
    };
    const steady = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) await Promise.all(STEADY.map((id) => publish(id, n)));
    };

    await steady(0, STEADY_COUNT / 2);
    const burst = Promise.all(bursting.flatMap((id) => ticks(BURST_COUNT).map((n) => publish(id, n))));
    await victim.crash();
    await Promise.all([burst, steady(STEADY_COUNT / 2, STEADY_COUNT)]);

    for (const [id, count] of [
      ...bursting.map((id) => [id, BURST_COUNT] as const),
      ...STEADY.map((id) => [id, STEADY_COUNT] as const),
    ]) {
      await crossings.next((each) => each.provider_id === id && crossedAt(each) === count - 1, PATIENCE_MS);
      const seen = crossings.events.filter(({ provider_id: of }) => of === id).map(crossedAt);
      assert.deepEqual(seen, ticks(count), id);
    }
    assert.deepEqual(
      await subscribers(),
      HALLS.map(() => other),
    );
    await client.close();
  });
});
