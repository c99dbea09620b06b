import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, LIFT, send } from '../support/scene.ts';
import type { Event, Recorder } from '../support/socket_client.ts';

const hub: TestHub = await openTestHub();
const fenceEvents: Recorder = await hub.subscribe('fence_events');
const motions: Recorder = await hub.subscribe('trackable_motions');
const collisions: Recorder = await hub.subscribe('collision_events');
after(() => hub.close());

/** Both trackables are in the fence and touch each other. Events up to then are dropped. */
beforeEach(async () => {
  for (const kind of ['trackables', 'fences', 'providers', 'zones']) {
    assert.equal((await hub.delete(`/${kind}`)).status, 204);
  }
  await createScene(hub);
  const seen = collisions.events.length;
  await send(hub, inHall('cart-tag', 5, 5), inHall('lift-tag', 6, 5));
  await hub.settle();
  await collisions.next(
    (event) => event.collision_type === 'collision_start' && collisions.events.indexOf(event) >= seen,
  );
  for (const recorder of [fenceEvents, motions, collisions]) recorder.take();
});

/** Fence events since the previous call, formatted as `exit cart-tag`. */
async function crossings(): Promise<string[]> {
  await hub.settle();
  return fenceEvents.take().map((event: Event) => {
    return `${event.event_type.slice('region_'.length)} ${event.provider_id ?? event.trackable_id}`;
  });
}

async function motionsSince(): Promise<string[]> {
  await hub.settle();
  return motions.take().map(({ id }: Event) => id);
}

async function isIn(fenceId: string, kind: 'providers' | 'trackables'): Promise<string[]> {
  const { body } = await hub.get(`/fences/${fenceId}/${kind}`);
  return body.map(({ id }: Event) => id).sort();
}

describe('deleting', () => {
  test('a fence with objects inside publishes only its own change', async () => {
    const changes = await hub.subscribe('fence_changes');
    assert.equal((await hub.delete(`/fences/${FENCE.id}`)).status, 204);
    assert.deepEqual(await crossings(), []);
    assert.deepEqual(
      changes.events.map(({ event_type: type, id }) => [type, id]),
      [['delete', FENCE.id]],
    );
    await hub.post('/fences', FENCE);
    assert.deepEqual(
      (await crossings()).sort(),
      ['entry cart-tag', 'entry lift-tag', `entry ${CART.id}`, `entry ${LIFT.id}`].sort(),
    );
  });

  test('a trackable exits its fences, ends its collision, and deletes its motion', async () => {
    const changes = await hub.subscribe('trackable_changes');
    const earliest = Date.now();
    assert.equal((await hub.delete(`/trackables/${CART.id}`)).status, 204);
    assert.equal((await hub.get(`/trackables/${CART.id}/motion`)).status, 404);
    assert.deepEqual(
      (await hub.get('/trackables/motions')).body.map(({ id }: Event) => id),
      [LIFT.id],
    );
    await hub.settle();
    const [exit, ...more] = fenceEvents.take();
    assert.deepEqual([exit.event_type, exit.trackable_id, more], ['region_exit', CART.id, []]);
    assert.ok(Date.parse(exit.exit_time) >= earliest, exit.exit_time);
    await collisions.next((event) => event.collision_type === 'collision_end' && event.collisions[0].id === CART.id);
    assert.equal(changes.events[0].event_type, 'delete');
    assert.deepEqual(await isIn(FENCE.id, 'providers'), ['cart-tag', 'lift-tag']);
    assert.deepEqual((await hub.get('/providers/cart-tag/location')).body.trackables, []);
  });

  test('a provider exits its fences with its trackable, which still lists it', async () => {
    assert.equal((await hub.delete('/providers/cart-tag')).status, 204);
    assert.deepEqual(await crossings(), ['exit cart-tag', `exit ${CART.id}`]);
    assert.equal((await hub.get(`/trackables/${CART.id}/motion`)).status, 404);
    assert.deepEqual((await hub.get(`/trackables/${CART.id}`)).body.location_providers, ['cart-tag']);
    await collisions.next((event) => event.collision_type === 'collision_end' && collisions.events.indexOf(event) > 0);
    await send(hub, inHall('cart-tag', 5, 5));
    assert.deepEqual(await crossings(), ['entry cart-tag', `entry ${CART.id}`]);
  });

  test('one of two providers lets the trackable fall back to the other', async () => {
    await hub.put(`/trackables/${CART.id}`, { ...CART, location_providers: ['cart-tag', 'spare-tag'] });
    await send(hub, inHall('spare-tag', 7, 5));
    await motionsSince();
    await crossings();
    assert.equal((await hub.delete('/providers/spare-tag')).status, 204);
    assert.deepEqual(await crossings(), ['exit spare-tag']);
    assert.deepEqual(await motionsSince(), [CART.id]);
    const { body: motion } = await hub.get(`/trackables/${CART.id}/motion`);
    assert.equal(motion.location.provider_id, 'cart-tag');
  });

  test('a location exits the fences of the provider, and permits an earlier location', async () => {
    assert.equal((await hub.delete('/providers/cart-tag/location')).status, 204);
    assert.deepEqual(await crossings(), ['exit cart-tag', `exit ${CART.id}`]);
    assert.equal((await hub.get('/providers/cart-tag')).status, 200);
    assert.equal((await hub.get('/providers/cart-tag/location')).status, 404);
    assert.equal((await hub.delete('/providers/cart-tag/location')).status, 204, 'it was deleted before');
    assert.equal((await hub.delete('/providers/nobody/location')).status, 404);
    await send(hub, inHall('cart-tag', 5, 5, { timestamp_generated: '2001-01-01T00:00:00Z' }));
    assert.deepEqual(await crossings(), ['entry cart-tag', `entry ${CART.id}`]);
  });

  test('all locations leaves no object located', async () => {
    assert.equal((await hub.delete('/providers/locations')).status, 204);
    assert.equal((await hub.get('/providers/locations')).text, '[]');
    assert.equal((await hub.get('/trackables/motions')).text, '[]');
    assert.equal((await crossings()).length, 4);
    assert.deepEqual((await hub.get('/providers')).body.sort(), ['cart-tag', 'lift-tag']);
  });

  test('a zone rejects the locations that name it, and does not move its fences', async () => {
    assert.equal((await hub.delete(`/zones/${HALL.id}`)).status, 204);
    assert.equal((await hub.put('/providers/locations', [inHall('cart-tag', 5, 5)])).status, 400);
    assert.deepEqual((await isIn(FENCE.id, 'providers')).toSorted(), ['cart-tag', 'lift-tag']);
    await hub.post('/zones', HALL);
    assert.deepEqual(await crossings(), []);
  });
});

describe('changing', () => {
  test('the region of a fence makes objects exit and enter at once', async () => {
    const west = square({ name: 'West' });
    const ring = [
      [5.5, 0],
      [10, 0],
      [10, 10],
      [5.5, 10],
      [5.5, 0],
    ];
    await hub.put(`/fences/${FENCE.id}`, { ...FENCE, region: { type: 'Polygon', coordinates: [ring] } });
    assert.deepEqual(await crossings(), ['exit cart-tag'], 'the cart still touches the fence');
    await hub.put(`/fences/${FENCE.id}`, { ...FENCE, region: west.region });
    assert.deepEqual(await crossings(), ['entry cart-tag']);
    await hub.put(`/fences/${FENCE.id}`, { ...FENCE, floor: 4 });
    assert.equal((await crossings()).length, 4);
    assert.deepEqual(await isIn(FENCE.id, 'trackables'), []);
  });

  test('the position of a zone moves its fences', async () => {
    const moved = HALL.ground_control_points?.map(([x = 0, y = 0], i) => (i % 2 === 0 ? [x + 1, y] : [x, y]));
    assert.equal((await hub.put(`/zones/${HALL.id}`, { ...HALL, ground_control_points: moved })).status, 204);
    assert.deepEqual(await crossings(), [], 'objects in its local coordinates move along');
    assert.deepEqual((await motionsSince()).sort(), [CART.id, LIFT.id]);
    const east = { position: { type: 'Point', coordinates: [10.00005, 50.00003] }, crs: 'EPSG:4326' };
    await send(hub, { ...inHall('gps-tag', 0, 0), ...east });
    assert.deepEqual(await crossings(), ['entry gps-tag']);
  });

  test('a name changes the motion with the next location, or at once by force', async () => {
    await hub.put(`/trackables/${CART.id}`, { ...CART, name: 'Wagon' });
    assert.deepEqual(await motionsSince(), []);
    assert.equal((await hub.get(`/trackables/${CART.id}/motion`)).body.name, 'Wagon');
    const forced = `/trackables/${CART.id}?force_location_update=true`;
    await hub.put(forced, { ...CART, name: 'Barrow' });
    assert.deepEqual(await motionsSince(), [CART.id]);
    await hub.put(forced, { ...CART, name: 'Barrow' });
    assert.deepEqual(await motionsSince(), [], 'nothing has changed');
    assert.deepEqual(await crossings(), []);
  });

  test('the providers of a trackable takes effect with the next location, or at once by force', async () => {
    await send(hub, inHall('far-tag', 50, 50));
    await crossings();
    const onFarTag = { ...CART, location_providers: ['far-tag'] };
    await hub.put(`/trackables/${CART.id}`, onFarTag);
    assert.deepEqual([await motionsSince(), await crossings()], [[], []]);
    await send(hub, inHall('cart-tag', 6, 6));
    assert.deepEqual(await motionsSince(), []);
    await hub.put(`/trackables/${CART.id}?force_location_update=true`, onFarTag);
    assert.deepEqual([await motionsSince(), await crossings()], [[CART.id], [`exit ${CART.id}`]]);
    assert.equal((await hub.get(`/trackables/${CART.id}/motion`)).body.location.provider_id, 'far-tag');
  });
});

describe('creating a trackable on a located provider', () => {
  const SHELF = { id: '66666666-0000-4000-8000-000000000006', type: 'omlox', location_providers: ['shelf-tag'] };

  test('gives it the location at once, and its motion with the next location', async () => {
    await send(hub, inHall('shelf-tag', 3, 3));
    await crossings();
    await hub.post('/trackables', SHELF);
    const { body: location } = await hub.get(`/trackables/${SHELF.id}/location`);
    assert.equal(location.provider_id, 'shelf-tag');
    assert.deepEqual((await hub.get('/providers/shelf-tag/location')).body.trackables, [SHELF.id]);
    assert.equal((await hub.get(`/trackables/${SHELF.id}/motion`)).status, 404);
    assert.deepEqual([await motionsSince(), await crossings()], [[], []]);
    await send(hub, inHall('shelf-tag', 3, 4));
    assert.deepEqual([await motionsSince(), await crossings()], [[SHELF.id], [`entry ${SHELF.id}`]]);
  });

  test('gives it its motion at once by force', async () => {
    await send(hub, inHall('shelf-tag', 3, 3));
    await crossings();
    assert.equal((await hub.post('/trackables?force_location_update=true', SHELF)).status, 201);
    assert.deepEqual([await motionsSince(), await crossings()], [[SHELF.id], [`entry ${SHELF.id}`]]);
    assert.equal((await hub.get(`/trackables/${SHELF.id}/motion`)).body.geometry.type, 'Point');
  });
});

test('the hub has no internal error', () => assert.deepEqual(hub.logged, []));
