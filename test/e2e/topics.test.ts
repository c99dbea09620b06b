import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Checker, checker } from '../../src/model/check.ts';
import { ChangeEvent, CollisionEvent, FenceEvent, TrackableMotion } from '../../src/model/events.ts';
import { Location, Proximity } from '../../src/model/location.ts';
import { READER } from '../scenarios/bad_locations.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, LIFT, send } from '../support/scene.ts';
import type { Event, Recorder } from '../support/socket_client.ts';

/** Every topic with its events. The three topics with positions also have GeoJSON. */
const TOPICS: Readonly<Record<string, Checker<unknown>>> = {
  location_updates: checker(Location),
  trackable_motions: checker(TrackableMotion),
  fence_events: checker(FenceEvent),
  collision_events: checker(CollisionEvent),
  proximity_updates: checker(Proximity),
  provider_changes: checker(ChangeEvent),
  trackable_changes: checker(ChangeEvent),
  fence_changes: checker(ChangeEvent),
  zone_changes: checker(ChangeEvent),
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let hub: TestHub;
const recorders = new Map<string, Recorder>();

function events(topic: string): readonly Event[] {
  return recorders.get(topic)?.events ?? [];
}

function features(topic: string): readonly Event[] {
  return events(topic).map((collection) => {
    assert.deepEqual(Object.keys(collection), ['type', 'features']);
    assert.equal(collection.type, 'FeatureCollection');
    assert.equal(collection.features.length, 1);
    const [feature] = collection.features;
    assert.deepEqual(Object.keys(feature), ['type', 'geometry', 'properties']);
    assert.equal(feature.type, 'Feature');
    return feature;
  });
}

function time(second: number): string {
  return new Date(Date.parse('2026-03-01T12:00:00Z') + second * 1000).toISOString();
}

/** The cart moves into the fence and into the lift, and out again. */
before(async () => {
  hub = await openTestHub();
  const socket = await hub.socket();
  for (const topic of Object.keys(TOPICS)) recorders.set(topic, await socket.subscribe(topic));
  for (const topic of ['location_updates', 'trackable_motions', 'fence_events']) {
    recorders.set(`${topic}:geojson`, await socket.subscribe(`${topic}:geojson`));
  }
  await socket.subscribe('anchor_changes');
  await createScene(hub);
  await hub.post('/zones', READER);
  await send(hub, inHall('lift-tag', 8, 8, { timestamp_generated: time(0) }));
  await send(hub, inHall('cart-tag', 20, 8, { timestamp_generated: time(0) }));
  await send(hub, inHall('cart-tag', 9, 8, { timestamp_generated: time(10), accuracy: 0.5 }));
  await send(hub, inHall('cart-tag', 8.5, 8, { timestamp_generated: time(11) }));
  await send(hub, inHall('cart-tag', 20, 8, { timestamp_generated: time(20) }));
  const proximity = { provider_id: 'card', provider_type: 'rfid', source: READER.id, accuracy: 2 };
  assert.equal((await hub.put('/providers/proximities', [proximity])).status, 204);
  assert.equal((await hub.put(`/fences/${FENCE.id}`, { ...FENCE, name: 'Ramp' })).status, 204);
  assert.equal((await hub.delete(`/zones/${READER.id}`)).status, 204);
  await hub.settle();
  await recorders.get('collision_events')?.next(({ collision_type: type }) => type === 'collision_end');
});
after(() => hub.close());

describe('subscribers of', () => {
  for (const [topic, { explain }] of Object.entries(TOPICS)) {
    test(`${topic} receive the events of that topic`, () => {
      assert.notEqual(events(topic).length, 0);
      for (const event of events(topic)) assert.equal(explain(event), undefined, JSON.stringify(event));
    });
  }

  test('location_updates receive the locations of each provider in order, in EPSG:4326 and completed by the hub', () => {
    const updates = events('location_updates');
    const ids = updates.map(({ provider_id: id }) => id).sort();
    assert.deepEqual(ids, ['card', ...Array(4).fill('cart-tag'), 'lift-tag']);
    const cart = updates.filter(({ provider_id: id }) => id === 'cart-tag');
    assert.deepEqual(
      cart.map(({ timestamp_generated: generated }) => generated),
      [time(0), time(10), time(11), time(20)],
    );
    const { position, speed, course, timestamp_sent: sent, ...rest } = cart[1];
    assert.ok(Math.abs(Date.now() - Date.parse(sent)) < 60_000, sent);
    assert.ok(Math.abs(position.coordinates[0] - 9.00012553) < 1e-7, position.coordinates);
    assert.ok(Math.abs(position.coordinates[1] - 50.00007191) < 1e-7, position.coordinates);
    assert.ok(Math.abs(speed - 1.1) < 0.001 && Math.abs(course - 270) < 0.1, `${speed} ${course}`);
    assert.deepEqual(rest, {
      source: HALL.id,
      provider_type: 'uwb',
      provider_id: 'cart-tag',
      trackables: [CART.id],
      timestamp_generated: time(10),
      crs: 'EPSG:4326',
      accuracy: 0.5,
      floor: 0,
      elevation_ref: 'floor',
    });
  });

  test('trackable_motions receive the trackable, its location and its shape', () => {
    const motions = events('trackable_motions').filter(({ id }) => id === CART.id);
    const updates = events('location_updates').filter(({ provider_id: id }) => id === 'cart-tag');
    assert.deepEqual(
      motions.map(({ location }) => location),
      updates,
    );
    const { geometry, location: _, ...rest } = motions[0];
    const { id, name, extrusion, properties } = CART;
    assert.deepEqual(rest, { id, name, extrusion, properties });
    assert.equal(geometry.coordinates[0].length, 65);
    assert.deepEqual(geometry.coordinates[0][0], geometry.coordinates[0][64]);
  });

  test('fence_events receive entries and exits of providers and of trackables', () => {
    const seen = (id: string) => {
      const own = events('fence_events').filter((event) => event.trackable_id === id || event.provider_id === id);
      return own.map((event) => [event.event_type, event.trackables, event.entry_time, event.exit_time]);
    };
    const cart = [
      ['region_entry', [CART.id], time(10), undefined],
      ['region_exit', [CART.id], time(10), time(20)],
    ];
    assert.deepEqual(seen('cart-tag'), cart);
    assert.deepEqual(seen(CART.id), cart);
    assert.deepEqual(seen('lift-tag'), [['region_entry', [LIFT.id], time(0), undefined]]);
    assert.deepEqual(seen(LIFT.id), [['region_entry', [LIFT.id], time(0), undefined]]);
    for (const event of events('fence_events')) {
      assert.match(event.id, UUID);
      const { fence_id, foreign_id, properties } = event;
      const { id, foreign_id: foreignId, properties: own } = FENCE;
      assert.deepEqual({ fence_id, foreign_id, properties }, { fence_id: id, foreign_id: foreignId, properties: own });
    }
    const ids = new Set(events('fence_events').map(({ id }) => id));
    assert.equal(ids.size, 6, 'two events have the same id');
  });

  test('collision_events receive start, colliding and end, the mover first', () => {
    const seen = events('collision_events').map((event) => {
      const ids = event.collisions.map(({ id }: { id: string }) => id);
      return [event.collision_type, ids, event.start_time, event.collision_time ?? event.end_time];
    });
    const pair = [CART.id, LIFT.id];
    assert.deepEqual(seen, [
      ['collision_start', pair, time(10), undefined],
      ['colliding', pair, time(10), time(11)],
      ['collision_end', pair, time(10), time(20)],
    ]);
    const [start, , end] = events('collision_events');
    assert.ok(Math.abs(start.center_distance - 1) < 0.001, start.center_distance);
    assert.equal(start.collision_area.type, 'LineString');
    assert.ok(Math.abs(end.center_distance - 12) < 0.001, end.center_distance);
  });

  test('the topics of changes receive every change with its entity', () => {
    const seen = Object.keys(TOPICS).flatMap((topic) =>
      events(topic)
        .filter(() => topic.endsWith('_changes'))
        .map(({ event_type: type, id, object }) => [topic, type, id, object.name ?? object.type]),
    );
    assert.deepEqual(seen, [
      ['provider_changes', 'create', 'lift-tag', 'uwb'],
      ['provider_changes', 'create', 'cart-tag', 'uwb'],
      ['provider_changes', 'create', 'card', 'rfid'],
      ['trackable_changes', 'create', CART.id, 'Cart'],
      ['trackable_changes', 'create', LIFT.id, 'Lift'],
      ['fence_changes', 'create', FENCE.id, 'Dock'],
      ['fence_changes', 'update', FENCE.id, 'Ramp'],
      ['zone_changes', 'create', HALL.id, 'uwb'],
      ['zone_changes', 'create', READER.id, 'rfid'],
      ['zone_changes', 'delete', READER.id, undefined],
    ]);
    assert.deepEqual(events('zone_changes')[0].object, HALL);
    assert.deepEqual(events('zone_changes')[2].object, { id: READER.id });
  });
});

describe('subscribers of GeoJSON receive', () => {
  test('a location as a point with its other members as properties', () => {
    const found = features('location_updates:geojson').map(({ geometry, properties }) => ({
      ...properties,
      position: geometry,
    }));
    assert.deepEqual(found, events('location_updates'));
  });

  test('a motion as its shape with its other members as properties', () => {
    const found = features('trackable_motions:geojson').map(({ geometry, properties }) => ({
      ...properties,
      geometry,
    }));
    assert.deepEqual(found, events('trackable_motions'));
  });

  test('a fence event as the region of its fence with the event, and the name and floor of the fence', () => {
    const found = features('fence_events:geojson');
    const [first] = found;
    assert.equal(first.geometry.type, 'Polygon');
    assert.ok(Math.abs(first.geometry.coordinates[0][2][0] - 9.00013948) < 1e-7, JSON.stringify(first.geometry));
    assert.deepEqual(
      found.map(({ properties }) => properties),
      events('fence_events').map((event) => ({ ...event, name: FENCE.name, floor: FENCE.floor })),
    );
  });
});

test("a connection receives the provider's event before its trackable's", () => {
  const published = events('fence_events').map(({ event_type: type, trackable_id: trackable, trackables: [id] }) => {
    return `${type} ${id} ${trackable === null ? 'provider' : 'trackable'}`;
  });
  for (const type of ['region_entry', 'region_exit']) {
    assert.ok(published.indexOf(`${type} ${CART.id} provider`) < published.indexOf(`${type} ${CART.id} trackable`));
  }
  assert.deepEqual(hub.logged, []);
});
