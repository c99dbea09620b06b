import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, LIFT, send } from '../support/scene.ts';
import type { Event } from '../support/socket_client.ts';

/**
 * In the first fence, objects stay for an hour after they have left it. In the second one, they enter after an hour.
 */
const STICKY = { ...square({ exit_delay: 3_600_000 }), id: '00000000-0000-4000-8000-00000000000a' };
const SLOW = { ...square({ entry_delay: 3_600_000 }), id: '00000000-0000-4000-8000-00000000000b' };

let hub: TestHub;

async function ids(path: string): Promise<string[]> {
  const { status, body } = await hub.get(path);
  assert.equal(status, 200, path);
  return body.map((entry: Event) => (typeof entry === 'string' ? entry : (entry.id ?? entry.provider_id))).sort();
}

before(async () => {
  hub = await openTestHub();
  await createScene(hub);
  for (const fence of [STICKY, SLOW]) assert.equal((await hub.post('/fences', fence)).status, 201);
  await hub.post('/providers', { id: 'idle', type: 'uwb', sensors: { battery: 5 } });
  // The cart has been inside and is outside again; the lift is inside; the phone is in no zone.
  await send(hub, inHall('cart-tag', 5, 5), inHall('cart-tag', 50, 50), inHall('lift-tag', 5, 5));
  const gps = { position: { type: 'Point', coordinates: [9.00005, 50.00003] }, crs: 'EPSG:4326', provider_type: 'gps' };
  await send(hub, { ...gps, provider_id: 'phone' });
});
after(() => hub.close());

describe('objects in a fence', () => {
  const rows: readonly (readonly [
    fence: { id: string },
    spatial: boolean,
    providers: string[],
    trackables: string[],
  ])[] = [
    [FENCE, false, ['lift-tag', 'phone'], [LIFT.id]],
    [FENCE, true, ['lift-tag', 'phone'], [LIFT.id]],
    [STICKY, false, ['cart-tag', 'lift-tag', 'phone'], [CART.id, LIFT.id]],
    [STICKY, true, ['lift-tag', 'phone'], [LIFT.id]],
    [SLOW, false, [], []],
    [SLOW, true, ['lift-tag', 'phone'], [LIFT.id]],
  ];
  for (const [{ id }, spatial, providers, trackables] of rows) {
    for (const version of ['v1', 'v2']) {
      const query = spatial ? '?spatial_query=true' : '';
      test(`${id.slice(-1)} in ${version}, ${spatial ? 'by geometry' : 'by entries and exits'}`, async () => {
        const fence = `${hub.origin}/hub/${version}/fences/${id}`;
        assert.deepEqual(await ids(`${fence}/providers${query}`), providers);
        assert.deepEqual(await ids(`${fence}/locations${query}`), providers);
        assert.deepEqual(await ids(`${fence}/trackables${query}`), trackables);
        assert.deepEqual(await ids(`${fence}/motions${query}`), trackables);
      });
    }
  }

  test('are consistent with the fences of each object', async () => {
    const fences = (path: string) => ids(`${path}/fences`);
    assert.deepEqual(await fences('/providers/lift-tag'), [FENCE.id, STICKY.id].sort());
    assert.deepEqual(await fences(`/trackables/${LIFT.id}`), [FENCE.id, STICKY.id].sort());
    assert.deepEqual(await fences('/providers/cart-tag'), [STICKY.id]);
    assert.deepEqual(await fences(`/trackables/${CART.id}`), [STICKY.id]);
    assert.deepEqual(await fences('/providers/idle'), []);
    assert.deepEqual(await ids('/providers/lift-tag/fences?spatial_query=1'), [FENCE.id, STICKY.id, SLOW.id].sort());
    assert.deepEqual(await ids('/providers/cart-tag/fences?spatial_query=1'), []);
    assert.deepEqual(await ids(`/trackables/${LIFT.id}/fences?spatial_query=1`), [FENCE.id, STICKY.id, SLOW.id].sort());
  });

  test('are returned as whole objects', async () => {
    assert.deepEqual((await hub.get(`/fences/${FENCE.id}/trackables`)).body, [LIFT]);
    const { body: location } = await hub.get('/providers/lift-tag/location');
    const { body: locations } = await hub.get(`/fences/${FENCE.id}/locations`);
    assert.deepEqual(
      locations.find((found: Event) => found.provider_id === 'lift-tag'),
      location,
    );
    const { body: motion } = await hub.get(`/trackables/${LIFT.id}/motion`);
    assert.deepEqual((await hub.get(`/fences/${FENCE.id}/motions`)).body, [motion]);
    assert.deepEqual(motion.location, location);
    const { body: collection } = await hub.get(`/fences/${FENCE.id}/motions?geojson=true`);
    assert.equal(collection.type, 'FeatureCollection');
    assert.deepEqual(collection.features[0].geometry, motion.geometry);
  });

  test('are 404 for an unknown fence or object', async () => {
    for (const name of ['providers', 'trackables', 'locations', 'motions']) {
      assert.equal((await hub.get(`/fences/nowhere/${name}`)).status, 404);
    }
    for (const path of ['/providers/nobody/fences', '/trackables/nobody/fences', '/providers/nobody/location']) {
      assert.equal((await hub.get(path)).status, 404);
    }
    assert.equal((await hub.get(`/fences/${FENCE.id}/providers?spatial_query=perhaps`)).status, 400);
  });
});

describe('providers and trackables', () => {
  test('list each other, as objects in v2 and by their ids in v1', async () => {
    const v1 = `${hub.origin}/hub/v1`;
    assert.deepEqual((await hub.get(`/trackables/${CART.id}/providers`)).body, [{ id: 'cart-tag', type: 'uwb' }]);
    assert.deepEqual((await hub.get(`${v1}/trackables/${CART.id}/providers`)).body, ['cart-tag']);
    assert.deepEqual((await hub.get('/providers/cart-tag/trackables')).body, [CART]);
    assert.deepEqual((await hub.get(`${v1}/providers/cart-tag/trackables`)).body, [CART.id]);
    assert.deepEqual((await hub.get('/providers/idle/trackables')).body, []);
  });

  test('list their locations and motions', async () => {
    assert.deepEqual(await ids('/providers/locations'), ['cart-tag', 'lift-tag', 'phone']);
    assert.deepEqual(await ids('/trackables/motions'), [CART.id, LIFT.id]);
    assert.deepEqual(await ids(`/trackables/${CART.id}/locations`), ['cart-tag']);
    const { body: location } = await hub.get('/providers/cart-tag/location');
    assert.deepEqual((await hub.get(`/trackables/${CART.id}/location`)).body, location);
    const { body: collection } = await hub.get('/trackables/motions?geojson=true');
    assert.equal(collection.features.length, 2);
    assert.deepEqual(await ids('/providers/locations?crs=local'), ['cart-tag', 'lift-tag']);
  });

  test('without location have none, and lists of them are empty', async () => {
    const bare = { id: '55555555-0000-4000-8000-000000000005', type: 'omlox', location_providers: ['idle'] };
    await hub.post('/trackables', bare);
    for (const path of [
      `/trackables/${bare.id}/location`,
      `/trackables/${bare.id}/motion`,
      '/providers/idle/location',
    ]) {
      const { status, body } = await hub.get(path);
      assert.deepEqual([status, body.code], [404, 404]);
    }
    assert.equal((await hub.get(`/trackables/${bare.id}/locations`)).text, '[]');
    assert.deepEqual((await hub.get(`/trackables/${bare.id}/sensors`)).body, [{ battery: 5 }]);
    assert.equal((await hub.get('/providers/cart-tag/sensors')).status, 404);
    assert.equal((await hub.put('/providers/cart-tag/sensors', '[1,"x",null]')).status, 204);
    assert.deepEqual((await hub.get('/providers/cart-tag/sensors')).body, [1, 'x', null]);
  });
});
