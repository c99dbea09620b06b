import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import proj4 from 'proj4';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, inHall, LIFT, send } from '../support/scene.ts';
import type { Event, Recorder } from '../support/socket_client.ts';
import { publicForm } from '../support/time_sent.ts';

/** A second zone, whose plane is that of the hall, shifted 100 m east and 50 m north. */
const ANNEX = {
  id: 'annex',
  type: 'uwb',
  foreign_id: 'the annex',
  ground_control_points: HALL.ground_control_points?.map(([x = 0, y = 0], i) =>
    i % 2 === 0 ? [x, y] : [x + 100, y + 50],
  ),
};

type View = Readonly<Record<string, unknown>>;
/** Views, and the expected coordinates of a position in the hall with given local and geographic coordinates. */
const VIEWS: readonly (readonly [name: string, view: View, toView: (local: number[], lonLat: number[]) => number[]])[] =
  [
    ['longitude and latitude', {}, (_, lonLat) => lonLat],
    ['EPSG:4326', { crs: 'EPSG:4326' }, (_, lonLat) => lonLat],
    ['UTM', { crs: 'EPSG:32632' }, (_, lonLat) => proj4('+proj=utm +zone=32 +datum=WGS84 +units=m', lonLat)],
    ['the next UTM zone', { crs: 'EPSG:32633' }, (_, lonLat) => proj4('+proj=utm +zone=33 +datum=WGS84', lonLat)],
    ['southern UTM', { crs: 'EPSG:32732' }, (_, lonLat) => proj4('+proj=utm +zone=32 +south +datum=WGS84', lonLat)],
    ['the coordinates of its zone', { crs: 'local' }, (local) => local],
    ['the coordinates of a zone by id', { crs: 'local', zone_id: HALL.id }, (local) => local],
    ['the coordinates of another zone', { crs: 'local', zone_id: 'the annex' }, ([x = 0, y = 0]) => [x + 100, y + 50]],
  ];

interface Recorders {
  readonly locations: Recorder;
  readonly motions: Recorder;
  readonly fenceEvents: Recorder;
  readonly collisions: Recorder;
}

let hub: TestHub;
const recorders: Recorders[] = [];

before(async () => {
  hub = await openTestHub();
  await createScene(hub);
  await hub.post('/zones', ANNEX);
  for (const [, view] of VIEWS) {
    const socket = await hub.socket();
    recorders.push({
      locations: await socket.subscribe('location_updates', view),
      motions: await socket.subscribe('trackable_motions', view),
      fenceEvents: await socket.subscribe('fence_events:geojson', view),
      collisions: await socket.subscribe('collision_events', view),
    });
  }
  await send(hub, inHall('lift-tag', 5, 6, { position: { type: 'Point', coordinates: [5, 6, 1.5] } }));
  await send(hub, inHall('cart-tag', 6, 6));
  const gps = { position: { type: 'Point', coordinates: [9, 50] }, crs: 'EPSG:4326', provider_type: 'gps' };
  await send(hub, { ...gps, provider_id: 'phone', source: 'satellites' });
  await hub.settle();
  await recorders[0]?.collisions.next();
  await hub.settle();
});
after(() => hub.close());

function of(recorder: Recorder, id: string): Event {
  const found = recorder.events.filter((event) => event.id === id || event.provider_id === id);
  assert.equal(found.length, 1);
  return publicForm(found[0]);
}

function assertAt(found: readonly number[], expected: readonly number[], tolerance: number): void {
  for (const [i, value] of expected.entries()) {
    assert.ok(Math.abs((found[i] ?? Number.NaN) - value) <= tolerance + 1e-12, `${found} is not ${expected}`);
  }
}

describe('a subscriber in', () => {
  for (const [index, [name, view, toView]] of VIEWS.entries()) {
    const { crs = 'EPSG:4326', zone_id: zoneId } = view;
    test(`${name} receives every position in it`, () => {
      const { locations, motions, fenceEvents, collisions } = recorders[index] as Recorders;
      const lonLat = of((recorders[0] as Recorders).locations, 'lift-tag').position.coordinates.slice(0, 2);
      const local = crs === 'local';
      const expected = [...toView([5, 6], lonLat), 1.5];
      // Rounding loses tenths of a millimeter. A degree is about 100 km.
      const unit = crs === 'EPSG:4326' ? 1e-5 : 1;
      const accuracy = local && zoneId !== 'the annex' ? 0 : 0.0003 * unit;
      const location = of(locations, 'lift-tag');
      assert.equal(location.crs, crs);
      assertAt(location.position.coordinates, expected, accuracy);
      const motion = of(motions, LIFT.id);
      assert.deepEqual(motion.location, location);
      assertAround(motion.geometry.coordinates[0], expected, local || String(crs).startsWith('EPSG:326'));
      const [feature] = fenceEvents.events[0].features;
      const corner = toView([0, 0], [9, 50]);
      assertAt(feature.geometry.coordinates[0][0], corner, 0.05 * unit);
      // A collision is in no zone: without a named one it has no local coordinates.
      assert.equal(collisions.events.length, local && zoneId === undefined ? 0 : 1);
      const [start] = collisions.events;
      if (start === undefined) return;
      assertAt(start.collisions[1].position.coordinates, location.position.coordinates, 0.0003 * unit);
      assert.equal(start.collisions[0].id, CART.id);
      const [from, to] = start.collision_area.coordinates;
      const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
      const half = [0, 1].map((i) => (start.collisions[0].position.coordinates[i] + expected[i]) / 2);
      assertAt(middle, half, 0.01 * unit);
    });

    test(`${name} receives no position outside of it`, () => {
      const phones = (recorders[index] as Recorders).locations.events.filter(({ provider_id: id }) => id === 'phone');
      assert.equal(phones.length, crs === 'local' && zoneId === undefined ? 0 : 1);
    });

    test(`${name} receives the same by REST`, async () => {
      const query = new URLSearchParams(view as Record<string, string>);
      const { locations, motions } = recorders[index] as Recorders;
      const one = await hub.get(`/providers/lift-tag/location?${query}`);
      assert.deepEqual(one.body, of(locations, 'lift-tag'));
      const { body: motion } = await hub.get(`/trackables/${LIFT.id}/motion?${query}`);
      assert.deepEqual(motion, of(motions, LIFT.id));
      const { body: feature } = await hub.get(`/providers/lift-tag/location?geojson=true&${query}`);
      assert.equal(feature.type, 'Feature');
      assert.deepEqual({ ...feature.properties, position: feature.geometry }, of(locations, 'lift-tag'));
      const { body: list } = await hub.get(`/providers/locations?${query}`);
      const byId = (a: Event, b: Event) => (a.provider_id < b.provider_id ? -1 : 1);
      assert.deepEqual(list.sort(byId), locations.events.map(publicForm).sort(byId));
      const { status } = await hub.get(`/providers/phone/location?${query}`);
      assert.equal(status, crs === 'local' && zoneId === undefined ? 400 : 200);
    });
  }

  test('the coordinates of a zone receives its fences in them', async () => {
    const { body: fence } = await hub.get(`/fences/${square().id}?crs=local&zone_id=hall`);
    assert.deepEqual(fence.region, square().region);
    assert.equal((await hub.get(`/fences/${square().id}?crs=local`)).status, 400);
    const { body: moved } = await hub.get(`/fences/${square().id}?crs=local&zone_id=annex`);
    assertAt(moved.region.coordinates[0][2], [110, 60], 0.0003);
  });
});

/** The points are around the center, at a distance of one meter if the unit of the plane is a meter. */
function assertAround(ring: readonly (readonly number[])[], middle: readonly number[], inMeters: boolean): void {
  for (const axis of [0, 1]) {
    const values = ring.map((point) => point[axis] as number);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    assert.ok(low < (middle[axis] as number) && high > (middle[axis] as number), `${low} ${middle[axis]} ${high}`);
    if (inMeters) assert.ok(high - low > 1.5 && high - low < 2.5, `${high - low} m wide`);
  }
}
