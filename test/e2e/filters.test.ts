import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { READER } from '../scenarios/bad_locations.ts';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, LIFT, send } from '../support/scene.ts';
import type { Event, Recorder, SocketClient } from '../support/socket_client.ts';

/** A subscription with filters, and the events of its topic that it must receive: some, but not all. */
type Row = readonly [topic: string, params: Readonly<Record<string, unknown>>, wanted: (event: Event) => boolean];

const OTHER_FENCE = { ...FENCE, id: '00000000-0000-4000-8000-000000000002', foreign_id: 'yard' };
const GATE = { ...READER, id: 'gate' };
const CART_AND_LIFT = new Set<string>([CART.id, LIFT.id]);

function collides(...ids: readonly string[]): (event: Event) => boolean {
  return ({ collisions }) => ids.every((id) => collisions.some((collision: Event) => collision.id === id));
}

/** Whether a position is within 20 m of the point that subscriptions name. */
const isNear = ({ coordinates: [lon, lat] }: { readonly coordinates: readonly [number, number] }): boolean =>
  geodesicMeters(9, 50, lon, lat) <= 20;
const HALF = {
  type: 'Polygon',
  coordinates: [
    [
      [8.9, 50.0002],
      [9.1, 50.0002],
      [9.1, 50.1],
      [8.9, 50.1],
    ],
  ],
};

const ROWS: readonly Row[] = [
  ['location_updates', { near: [9, 50], radius: 20 }, (e) => isNear(e.position)],
  ['location_updates', { region: HALF }, (e) => e.position.coordinates[1] > 50.0002],
  ['trackable_motions', { near: '9,50', radius: '20' }, (e) => isNear(e.location.position)],
  ['trackable_motions', { region: JSON.stringify(HALF) }, (e) => e.location.position.coordinates[1] > 50.0002],
  ['location_updates', { provider_id: 'cart-tag' }, (e) => e.provider_id === 'cart-tag'],
  [
    'location_updates',
    { provider_id: ['cart-tag', 'phone', 'x'] },
    (e) => ['cart-tag', 'phone'].includes(e.provider_id),
  ],
  ['location_updates', { source: HALL.id }, (e) => e.source === HALL.id],
  ['location_updates', { source: 'hall' }, (e) => e.source === 'hall'],
  ['location_updates', { provider_type: 'gps' }, (e) => e.provider_type === 'gps'],
  ['location_updates', { associated: true }, (e) => e.associated === true],
  ['location_updates', { associated: 'false' }, (e) => e.associated === false],
  ['location_updates', { accuracy: 2 }, (e) => e.accuracy <= 2],
  ['location_updates', { accuracy: '2' }, (e) => e.accuracy <= 2],
  ['location_updates', { floor: 3 }, (e) => e.floor === 3],
  ['location_updates', { floor: '0' }, (e) => e.floor === 0],
  ['location_updates', { floor: 0, accuracy: 2, token: 'x', colour: 'red' }, (e) => e.floor === 0 && e.accuracy <= 2],
  ['trackable_motions', { id: CART.id }, (e) => e.id === CART.id],
  ['trackable_motions', { id: CART.id.toUpperCase() }, (e) => e.id === CART.id],
  ['trackable_motions', { trackable_id: [LIFT.id] }, (e) => e.id === LIFT.id],
  ['trackable_motions', { provider_id: 'lift-tag' }, (e) => e.location.provider_id === 'lift-tag'],
  ['trackable_motions', { name: 'Cart' }, (e) => e.name === 'Cart'],
  ['trackable_motions', { accuracy: 1 }, (e) => e.location.accuracy <= 1],
  ['trackable_motions', { floor: 3 }, (e) => e.location.floor === 3],
  ['fence_events', { fence_id: FENCE.id }, (e) => e.fence_id === FENCE.id],
  ['fence_events', { foreign_id: 'yard' }, (e) => e.foreign_id === 'yard'],
  ['fence_events', { provider_id: 'cart-tag' }, (e) => e.provider_id === 'cart-tag' || e.trackable_id === CART.id],
  ['fence_events', { trackable_id: [CART.id] }, (e) => e.trackable_id === CART.id],
  ['fence_events', { event_type: 'region_exit' }, (e) => e.event_type === 'region_exit'],
  ['fence_events', { object_type: 'trackable' }, (e) => e.trackable_id !== null],
  ['fence_events', { object_type: 'location_provider' }, (e) => e.trackable_id === null],
  ['collision_events', { collision_type: 'collision_end' }, (e) => e.collision_type === 'collision_end'],
  ['collision_events', { collision_id_1: CART.id }, collides(CART.id)],
  ['collision_events', { object_id_2: CART.id }, collides(CART.id)],
  ['collision_events', { object_id_1: LIFT.id, collision_id_2: CART.id }, collides(CART.id, LIFT.id)],
  ['collision_events', { floor: 3 }, (e) => e.collisions.every((collision: Event) => collision.floor === 3)],
  ['proximity_updates', { provider_id: ['card'] }, (e) => e.provider_id === 'card'],
  ['proximity_updates', { source: 'gate' }, (e) => e.source === 'gate'],
  ['proximity_updates', { provider_type: 'ibeacon' }, (e) => e.provider_type === 'ibeacon'],
  ['provider_changes', { id: 'cart-tag' }, (e) => e.id === 'cart-tag'],
  ['provider_changes', { event_type: 'update' }, (e) => e.event_type === 'update'],
  ['trackable_changes', { id: [...CART_AND_LIFT] }, (e) => CART_AND_LIFT.has(e.id)],
  ['fence_changes', { event_type: 'delete' }, (e) => e.event_type === 'delete'],
  ['zone_changes', { id: 'gate', event_type: 'create' }, (e) => e.id === 'gate' && e.event_type === 'create'],
];

let hub: TestHub;
const everything = new Map<string, Recorder>();
const filtered: Recorder[] = [];

before(async () => {
  hub = await openTestHub();
  const sockets: SocketClient[] = [await hub.socket(), await hub.socket()];
  for (const [index, [topic, params]] of ROWS.entries()) {
    const socket = sockets[index % 2] as SocketClient;
    if (!everything.has(topic)) everything.set(topic, await socket.subscribe(topic));
    filtered.push(await socket.subscribe(topic, params));
  }
  await play();
  await hub.settle();
  await everything.get('collision_events')?.next(({ collision_type: type }) => type === 'collision_end');
  await hub.settle();
});
after(() => hub.close());

/** A third trackable collides with the lift on another floor, so that every filter has events to distinguish. */
async function play(): Promise<void> {
  await createScene(hub);
  const crate = {
    id: '33333333-0000-4000-8000-000000000003',
    type: 'virtual',
    location_providers: ['crate-tag'],
    radius: 1,
  };
  for (const reader of [READER, GATE]) await hub.post('/zones', reader);
  await hub.post('/fences', OTHER_FENCE);
  await hub.post('/trackables', crate);
  await hub.put(`/trackables/${crate.id}`, { ...crate, name: 'Crate' });
  await send(hub, inHall('lift-tag', 8, 8, { accuracy: 1 }));
  await send(hub, inHall('cart-tag', 8, 9, { accuracy: 2, associated: true }));
  await send(hub, inHall('cart-tag', 8, 50, { accuracy: 3, associated: false, source: 'hall' }));
  await send(hub, inHall('lift-tag', 30, 50, { floor: 3 }), inHall('crate-tag', 30, 51, { floor: 3 }));
  const gps = { position: { type: 'Point', coordinates: [9, 50] }, crs: 'EPSG:4326', provider_type: 'gps' };
  await send(hub, { ...gps, provider_id: 'phone' });
  const card = { provider_id: 'card', provider_type: 'rfid', source: READER.id };
  const badge = { provider_id: 'badge', provider_type: 'ibeacon', source: 'gate' };
  assert.equal((await hub.put('/providers/proximities', [card, badge])).status, 204);
  await hub.put('/providers/phone', { type: 'gps', name: 'Phone' });
  await hub.delete(`/fences/${OTHER_FENCE.id}`);
}

describe('a subscription', () => {
  for (const [index, [topic, params, wanted]] of ROWS.entries()) {
    test(`to ${topic} with ${JSON.stringify(params)} receives the matching events`, () => {
      const all = everything.get(topic)?.events ?? [];
      const expected = all.filter(wanted);
      assert.ok(expected.length > 0, `no event of ${all.length} is wanted`);
      assert.ok(expected.length < all.length, `all ${all.length} events are wanted`);
      assert.deepEqual(filtered[index]?.events, expected);
    });
  }

  const refused: readonly (readonly [topic: string, params: unknown, name: string])[] = [
    ['location_updates', { accuracy: 'near' }, 'accuracy'],
    ['location_updates', { floor: true }, 'floor'],
    ['location_updates', { associated: 'perhaps' }, 'associated'],
    ['location_updates', { provider_type: 'laser' }, 'provider_type'],
    ['location_updates', { provider_id: { a: 1 } }, 'provider_id'],
    ['fence_events', { event_type: 'entry' }, 'event_type'],
    ['fence_events', { object_type: 'fence' }, 'object_type'],
    ['collision_events', { collision_type: 'bump' }, 'collision_type'],
    ['zone_changes', { event_type: 'move' }, 'event_type'],
    ['location_updates', { crs: 'EPSG:9999' }, 'crs'],
    ['location_updates', { crs: 'local', zone_id: 'nowhere' }, 'zone_id'],
  ];
  for (const [topic, params, name] of refused) {
    test(`to ${topic} with ${JSON.stringify(params)} is rejected with 10002, which names ${name}`, async () => {
      const socket = await hub.socket();
      const [answer, ...more] = await socket.ask({ event: 'subscribe', topic, params });
      assert.deepEqual([answer?.event, answer?.code, more.length], ['error', 10002, 0]);
      assert.match(answer?.description ?? '', new RegExp(`^(params\\.)?${name}: `));
      await socket.close();
    });
  }
});
