import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { createScene, inHall } from '../support/scene.ts';
import { Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

const skip = (await whyNo('mosquitto')) ?? false;
const PUB = '/omlox/json/location_updates/pub';
const EARTH = '/omlox/json/location_updates/epsg4326';

describe('Messages by MQTT', { skip }, () => {
  test('count in health, metrics and usage like those of REST and WebSocket', async (t) => {
    const broker = await Broker.start();
    t.after(() => broker.close());
    const hub = await openTestHub({
      mqtt_address: '127.0.0.1',
      mqtt_port: broker.port,
      mqtt_publish: 'location_updates/epsg4326,trackable_motions/local,fence_events',
    });
    t.after(hub.close);
    await connected(hub);
    await createScene(hub);
    await hub.subscribe('location_updates');
    const client = await TestMqttClient.open(broker.port);
    t.after(() => client.close());
    await client.subscribe('/omlox/json/#');
    // Alternately inside and outside the fence: a queued position would be replaced by the next.
    for (const [x, send] of [
      [20, (location: object) => hub.put('/providers/cart-tag/location', location)],
      [8, (location: object) => client.publish(`${PUB}/cart-tag`, location)],
      [20, (location: object) => client.publish(`${PUB}/cart-tag`, location)],
    ] as const) {
      const earlier = client.received.length;
      await send(inHall('cart-tag', x, 8));
      await client.next(
        (received) => received.topic === `${EARTH}/cart-tag` && client.received.indexOf(received) >= earlier,
      );
    }
    await client.publish(`${PUB}/cart-tag`, 'no JSON');
    const usage = async () => (await hub.get('/stats/consumption/current')).body.statistics;
    const expected = {
      // Three for the subscriber of the WebSocket, three for the broker.
      locationupdates_sent: 6,
      trackablemotions_sent: 3,
      // Events of the provider and of the trackable, each under the fence and under its own topic.
      fenceevents_entry_sent: 4,
      fenceevents_exit_sent: 4,
    };
    const sent = async () => {
      return Object.entries(await usage()).filter(([name, value]) => name.endsWith('_sent') && value !== 0);
    };
    const sum = (counts: readonly (readonly [string, unknown])[]) => counts.reduce((all, [, n]) => all + Number(n), 0);
    await until(async () => sum(await sent()) >= sum(Object.entries(expected)));
    assert.deepEqual(Object.fromEntries(await sent()), expected);
    await until(async () => (await hub.get('/health/mqtt')).body.rejected === 1);
    assert.equal((await usage()).locationupdates_processed, 3);
    const { received, locations } = (await hub.get('/health/mqtt')).body;
    assert.deepEqual([received, locations], [3, 2]);
    const { text } = await hub.get(`${hub.origin}/metrics`);
    for (const line of ['{via="mqtt"} 2', '{via="rest"} 1', '{via="ws"} 0']) {
      assert.ok(text.includes(`\nhub_locations_accepted_total${line}\n`), line);
    }
    assert.equal((await hub.get('/health/sources/summary')).body[0].last_update_type, 'mqtt');
  });
});
