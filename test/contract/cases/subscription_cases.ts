import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { HALL, square } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import { CART, createScene, inHall, send } from '../../support/scene.ts';
import type { Event } from '../../support/socket_client.ts';
import { publicForm } from '../../support/time_sent.ts';
import type { ContractCase } from './contract_case.ts';

const IDLE_SECONDS = 8;
const ROUNDS = 20;
const TAGS = 500;

/** Topics with the REST path that returns the same objects. */
const SHOWN = {
  location_updates: '/providers/cart-tag/location',
  trackable_motions: `/trackables/${CART.id}/motion`,
};

/** Subscriptions as the specification defines them. */
export const SUBSCRIPTION_CASES: readonly ContractCase[] = [
  {
    by: 'WebSocket API sentence 3',
    name: 'crs and geojson of params are those of the query parameters of REST',
    async run({ hub }) {
      await createScene(hub);
      const views: readonly Readonly<Record<string, string | boolean>>[] = [
        { crs: 'EPSG:32632' },
        { crs: 'local' },
        { crs: 'local', zone_id: 'hall', geojson: true },
        { geojson: 'true' },
        { geojson: false },
      ];
      const subscriptions = [];
      for (const [topic, path] of Object.entries(SHOWN)) {
        for (const view of views) subscriptions.push({ path, view, events: await hub.subscribe(topic, view) });
      }
      await send(hub, inHall('cart-tag', 5, 5));
      await hub.settle();
      for (const { path, view, events } of subscriptions) {
        const query = new URLSearchParams(view as Record<string, string>);
        const { status, body } = await hub.get(`${path}?${query}`);
        assert.equal(status, 200);
        const event = publicForm(events.events[0]);
        assert.deepEqual(event.type === 'FeatureCollection' ? event.features[0] : event, body, `${path}?${query}`);
        assert.equal('features' in event, String(view['geojson']) === 'true');
      }
      const socket = await hub.socket();
      for (const params of [{ crs: 'EPSG:3857' }, { geojson: 'perhaps' }]) {
        const [name = ''] = Object.keys(params);
        assert.equal((await hub.get(`/trackables/motions?${new URLSearchParams(params)}`)).status, 400);
        const [answer] = await socket.ask({ event: 'subscribe', topic: 'trackable_motions', params });
        assert.equal(answer?.code, 10002);
        assert.ok(answer?.description?.includes(name), answer?.description);
      }
    },
  },
  {
    by: 'WebSocket API sentence 5',
    name: 'an idle session ends after the idle timeout, and an active one continues',
    settings: { websocket_idle_timeout: IDLE_SECONDS },
    async run({ hub }) {
      const url = `${hub.base.replace('http', 'ws')}/ws/socket`;
      const alive = await hub.subscribe('location_updates');
      const silent = new WebSocket(url, { autoPong: false });
      await once(silent, 'open');
      const fromMs = Date.now();
      await once(silent, 'close');
      const tookMs = Date.now() - fromMs;
      assert.ok(tookMs > IDLE_SECONDS * 500, `closed after ${tookMs} ms`);
      await hub.post('/zones', HALL);
      await send(hub, inHall('tag', 1, 1));
      assert.equal((await alive.next()).provider_id, 'tag');
    },
  },
  {
    by: 'WebSocket API sentence 8',
    name: 'the removal of a trackable publishes its exits, the end of its collision, and a change',
    async run({ hub }) {
      await createScene(hub);
      const exits = await hub.subscribe('fence_events', { event_type: 'region_exit' });
      const collisions = await hub.subscribe('collision_events');
      const changes = await hub.subscribe('trackable_changes', { event_type: 'delete' });
      let seen = 0;
      const isNew = (event: Event): boolean => collisions.events.indexOf(event) >= seen;
      for (const remove of [`/trackables/${CART.id}`, '/trackables']) {
        await send(hub, inHall('cart-tag', 5, 5), inHall('lift-tag', 6, 5));
        await collisions.next((event) => isNew(event) && event.collision_type === 'collision_start');
        assert.equal((await hub.delete(remove)).status, 204);
        await collisions.next((event) => isNew(event) && event.collision_type === 'collision_end');
        await hub.settle();
        seen = collisions.events.length;
        assert.ok(exits.take().some(({ trackable_id: id }) => id === CART.id));
        assert.ok(changes.take().some(({ id }) => id === CART.id));
        if (remove.includes(CART.id)) assert.equal((await hub.post('/trackables', CART)).status, 201);
      }
    },
  },
  {
    by: 'WebSocket API sentence 9',
    name: 'under load every subscriber receives every event once and in order, even one that reads late',
    async run({ hub }) {
      await hub.post('/zones', HALL);
      await hub.post('/fences', square());
      const prompt = await hub.subscribe('location_updates');
      const late = await hub.subscribe('location_updates');
      const crossings = await hub.subscribe('fence_events');
      late.client.socket.pause();
      await Promise.all([0, 1, 2, 3].map((sender) => sendRounds(hub, sender)));
      late.client.socket.resume();
      await hub.settle();
      for (const { events } of [prompt, late]) {
        assertAllInOrder(
          events,
          ({ properties }) => properties.round,
          Array.from({ length: ROUNDS }, (_, i) => i),
        );
      }
      const inTurn = Array.from({ length: ROUNDS }, (_, i) => (i % 2 === 0 ? 'region_entry' : 'region_exit'));
      assertAllInOrder(crossings.events, ({ event_type: type }) => type, inTurn);
    },
  },
];

/** Every tag of a sender is alternately inside and outside the fence. */
async function sendRounds(hub: TestHub, sender: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const x = round % 2 === 0 ? 5 : 50;
    const tags = Array.from({ length: TAGS }, (_, tag) =>
      inHall(`tag-${sender}-${tag}`, x, 5, { properties: { round } }),
    );
    await send(hub, ...tags);
  }
}

function assertAllInOrder(
  events: readonly Event[],
  read: (event: Event) => unknown,
  expected: readonly unknown[],
): void {
  const byTag = Map.groupBy(events, ({ provider_id: id }) => id);
  assert.equal(byTag.size, 4 * TAGS);
  for (const [tag, own] of byTag) assert.deepEqual(own.map(read), expected, String(tag));
}
