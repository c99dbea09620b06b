import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checker } from '../../src/model/check.ts';
import { ChangeEvent, CollisionEvent, FenceEvent, TrackableMotion } from '../../src/model/events.ts';
import { Location } from '../../src/model/location.ts';
import type { TopicStyle } from '../../src/model/mqtt.ts';
import { topicsIn } from '../contract/async_api.ts';
import { DocumentSchemas, pointer } from '../contract/json_schema.ts';
import { READER } from '../scenarios/bad_locations.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall } from '../support/scene.ts';
import { BROKERS, Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

/** Prefix of `omlox/json` in a style. */
const SLASH: Readonly<Record<Exclude<TopicStyle, 'both'>, string>> = { slash: '/', plain: '' };
const CHECKS = {
  location: checker(Location),
  motion: checker(TrackableMotion),
  fence: checker(FenceEvent),
  collision: checker(CollisionEvent),
  change: checker(ChangeEvent),
};

for (const name of BROKERS) {
  const skip = (await whyNo(name)) ?? false;
  for (const style of ['slash', 'plain'] as const) {
    describe(`on ${name}, in the style ${style},`, { skip }, () => {
      let broker: Broker;
      let hub: TestHub;
      let client: TestMqttClient;
      const omlox = `${SLASH[style]}omlox/json`;
      /** In the other style: the hub subscribes to both. */
      const source = `${SLASH[style === 'slash' ? 'plain' : 'slash']}omlox/json`;
      const publish = (id: string, x: number, y: number): Promise<void> =>
        client.publish(`${source}/location_updates/pub/${id}`, inHall(id, x, y));

      before(async () => {
        broker = await Broker.start(name);
        client = await TestMqttClient.open(broker.port);
        await client.subscribe('#');
        hub = await openTestHub({
          mqtt_address: '127.0.0.1',
          mqtt_port: broker.port,
          mqtt_topic_style: style,
          uns_root: 'plant',
        });
        await connected(hub);
        await createScene(hub);
        await hub.post('/zones', READER);
        await publish('lift-tag', 8, 8);
        await publish('cart-tag', 8.2, 8);
        await publish('cart-tag', 20, 8);
      });
      after(async () => {
        await client.close();
        await hub.close();
        await broker.close();
      });

      const expectFitting = async (topic: string, kind: keyof typeof CHECKS) => {
        const { payload, isRetained } = await client.on(topic);
        assert.equal(CHECKS[kind].explain(payload, 'payload'), undefined, JSON.stringify(payload));
        assert.equal(isRetained, false);
        return payload;
      };

      test('a location is published in EPSG:4326, and in meters of its zone', async () => {
        const earth = await expectFitting(`${omlox}/location_updates/epsg4326/cart-tag`, 'location');
        assert.equal(earth.crs, 'EPSG:4326');
        const local = await expectFitting(`${omlox}/location_updates/local/cart-tag`, 'location');
        assert.deepEqual([local.crs, local.source, local.position.coordinates], ['local', HALL.id, [8.2, 8]]);
      });

      test('a motion is published in both, with the trackable', async () => {
        for (const crs of ['epsg4326', 'local']) {
          const motion = await expectFitting(`${omlox}/trackable_motions/${crs}/${CART.id}`, 'motion');
          assert.equal(motion.id, CART.id);
        }
      });

      test('a fence event is published under its fence and its trackable', async () => {
        const entry = await expectFitting(`${omlox}/fence_events/trackables/${CART.id}`, 'fence');
        assert.deepEqual([entry.fence_id, entry.event_type], [FENCE.id, 'region_entry']);
        const isSame = ({ topic, payload }: { topic: string; payload: { id?: string } }): boolean =>
          topic === `${omlox}/fence_events/${FENCE.id}` && payload.id === entry.id;
        await client.next(isSame);
      });

      test('a fence event of a provider without trackables is published under its fence and the provider', async () => {
        await publish('loner', 8, 8);
        const entry = await expectFitting(`${omlox}/fence_events/providers/loner`, 'fence');
        assert.deepEqual([entry.provider_id, entry.event_type], ['loner', 'region_entry']);
      });

      test('a collision is published', async () => {
        const under = style === 'slash' ? '' : `/${CART.id}`;
        const collision = await expectFitting(`${omlox}/collision_events/epsg4326${under}`, 'collision');
        assert.equal(collision.collision_type, 'collision_start');
      });

      test('changes of entities are published under the kind of change', async () => {
        for (const [kind, id] of [
          ['zone', HALL.id],
          ['fence', FENCE.id],
          ['trackable', CART.id],
          ['provider', 'cart-tag'],
        ]) {
          const change = await expectFitting(`flowcate/json/${kind}_changes/create/${id}`, 'change');
          assert.deepEqual([change.event_type, change.object.id], ['create', id]);
        }
        await hub.put(`/fences/${FENCE.id}`, { ...FENCE, name: 'Ramp' });
        await expectFitting(`flowcate/json/fence_changes/update/${FENCE.id}`, 'change');
        const spare = { ...FENCE, id: '33333333-0000-4000-8000-000000000003', foreign_id: 'spare' };
        await hub.post('/fences', spare);
        await hub.delete(`/fences/${spare.id}`);
        await expectFitting(`flowcate/json/fence_changes/delete/${spare.id}`, 'change');
        await hub.post('/anchors', { id: 'a/1', zone_id: HALL.id, position: { type: 'Point', coordinates: [1, 2] } });
        await expectFitting('flowcate/json/anchor_changes/create/a%2F1', 'change');
      });

      test('a proximity becomes the location of its zone', async () => {
        await client.publish(`${source}/proximity_updates/${READER.id}/card`, { provider_type: 'rfid' });
        const located = await expectFitting(`${omlox}/location_updates/epsg4326/card`, 'location');
        assert.equal(located.source, READER.id);
      });

      test('an id that is not a valid topic level is percent-encoded', async () => {
        await client.publish(`${source}/location_updates/pub/a%2Fb%23`, inHall('a/b#', 3, 3));
        const { provider_id: id } = await expectFitting(`${omlox}/location_updates/epsg4326/a%2Fb%23`, 'location');
        assert.equal(id, 'a/b#');
      });

      test('a location gets missing members from its topic, and a list may name its providers', async () => {
        const { provider_id: _left, ...nameless } = inHall('x', 4, 4);
        await client.publish(`${source}/location_updates/pub/nameless`, nameless);
        await expectFitting(`${omlox}/location_updates/epsg4326/nameless`, 'location');
        await client.publish(`${source}/location_updates/pub`, [inHall('one', 4, 4), inHall('two', 5, 4)]);
        for (const id of ['one', 'two']) await expectFitting(`${omlox}/location_updates/epsg4326/${id}`, 'location');
        await client.publish(`${source}/location_updates/pub/three`, [nameless, inHall('three', 5, 4)]);
        await expectFitting(`${omlox}/location_updates/epsg4326/three`, 'location');
      });

      test('the position of a trackable is in the unified namespace until it is deleted', async () => {
        const shelf = { id: '44444444-0000-4000-8000-000000000004', type: 'omlox', location_providers: ['shelf-tag'] };
        await hub.post('/trackables', { ...shelf, properties: { 'com.flowcate.uns': 'hall/shelf' } });
        await publish('shelf-tag', 3, 4);
        const topic = 'plant/hall/shelf/sensor/wgs84';
        const { payload } = await client.on(topic);
        assert.deepEqual(Object.keys(payload), ['longitude', 'latitude', 'floor', 'timestamp']);
        const late = await TestMqttClient.open(broker.port);
        await late.subscribe(topic);
        assert.equal((await late.on(topic)).isRetained, true);
        await late.close();
        await hub.delete(`/trackables/${shelf.id}`);
        await client.next((received) => received.topic === topic && received.payload === undefined);
      });

      test('invalid messages are counted by reason, and the connection stays open', async () => {
        const pub = `${source}/location_updates/pub`;
        const at = (await hub.get('/health/mqtt')).body.rejected;
        await client.publish(`${pub}/one`, inHall('other', 1, 1));
        await client.publish(`${pub}/one`, 'no JSON');
        await client.publish(`${pub}/%FF`, inHall('one', 1, 1));
        await client.publish(`${pub}/one`, { ...inHall('one', 1, 1), floor: 'top' });
        await client.publish(`${source}/proximity_updates/${READER.id}/card`, [{ provider_type: 'rfid' }]);
        // More than may wait for a thread, so it could never be accepted at once.
        await client.publish(pub, `[${'0,'.repeat(120_000)}0]`);
        await until(async () => (await hub.get('/health/mqtt')).body.rejected === at + 6);
        const { text } = await hub.get(`${hub.origin}/metrics`);
        for (const [reason, count] of [
          ['id', 1],
          ['json', 1],
          ['topic', 1],
          ['invalid', 3],
        ]) {
          assert.match(text, new RegExp(`hub_mqtt_rejected_total\\{reason="${reason}"\\} ${count}`));
        }
        await publish('after', 1, 1);
        await expectFitting(`${omlox}/location_updates/epsg4326/after`, 'location');
        assert.equal((await hub.get('/health/mqtt')).body.connections, 1);
      });

      test('the AsyncAPI document has every received topic, with the published messages', async () => {
        const { body } = await hub.get('/asyncapi.json');
        const topics = topicsIn(body);
        const schemas = new DocumentSchemas(body, '2020');
        const published = new Set<string>();
        for (const { topic, payload } of client.received) {
          const found = topics.filter(({ fits }) => fits(topic));
          assert.equal(found.length, 1, topic);
          const [{ key, actions } = assert.fail()] = found;
          if (!actions.has('send') || payload === undefined) continue;
          published.add(key);
          const problem = schemas.at(pointer('channels', key, 'messages', 'message', 'payload'))(payload);
          assert.equal(problem, undefined, `${topic}: ${JSON.stringify(payload)}`);
        }
        assert.ok(published.size >= 14, [...published].join());
      });

      test('the hub publishes its online and offline status', async () => {
        const topic = `${omlox}/hub/`;
        const isStatus = (status: string) => (received: { topic: string; payload: { status?: string } | undefined }) =>
          received.topic.startsWith(topic) && received.payload?.status === status;
        await client.next(isStatus('online'));
        await hub.close();
        await client.next(isStatus('offline'));
      });
    });
  }
}
