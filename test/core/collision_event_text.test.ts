import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TrackableMotion } from '../../src/core/motion/motion.ts';
import { circlePolygon } from '../../src/core/motion/shape.ts';
import type { CollisionEvent } from '../../src/model/events.ts';
import type { SerializedEvent, Variant } from '../../src/model/topics.ts';
import type { Zone } from '../../src/model/zone.ts';
import { moved, placeAt, ringAt } from './collision_motions.ts';
import { brief, disc, openStage, read, WGS84 } from './collision_scene.ts';

suite('collision events', () => {
  const ring = ringAt([
    [1, 0],
    [4, -1],
    [4, 1],
  ]);

  test('carry both trackables, the overlap and the distance', () => {
    const motions = [disc('a', 1000, 0, { floor: 2, z: 1.5 }), moved('b', 2000, { ...placeAt(3, 0), ring, floor: 2 })];
    const [text] = openStage().step({
      nowMs: 2000,
      motions: motions.slice(0, 1).concat(disc('b', 2000, 1.2, { floor: 2 })),
    }).events;
    assert.deepEqual(text?.fields, ['b', 'a', 'collision_start', 2, 2]);
    assert.equal(text?.variant, 4);
    const event = read(text as SerializedEvent);
    assert.deepEqual(Object.keys(event), [
      'id',
      'collision_type',
      'start_time',
      'collisions',
      'collision_area',
      'center_distance',
    ]);
    assert.equal(event.id, 'collision_start ["a","b",2000,1,0]');
    assert.equal(event.start_time, '1970-01-01T00:00:02.000Z');
    assert.equal(event.center_distance, 1.2);
    assert.equal(event.collision_area?.type, 'LineString');
    assert.equal(event.collision_area?.coordinates.length, 2);
    const [b, a] = event.collisions;
    assert.deepEqual(a?.position?.coordinates, [placeAt(0, 0).lon, placeAt(0, 0).lat, 1.5]);
    assert.equal(a?.geometry?.type, 'Polygon');
    assert.deepEqual([b?.id, b?.object_type, b?.floor], ['b', 'trackable', 2]);

    const [touch] = openStage().step({ nowMs: 2000, motions }).events;
    const polygon = read(touch as SerializedEvent).collisions[0]?.geometry;
    assert.equal(polygon?.type, 'Polygon');
    assert.equal(read(touch as SerializedEvent).collision_area?.type, 'Point');
  });

  test('have a Point for a point, and no overlap after the trackables have separated', () => {
    const { events: texts } = openStage().step({
      nowMs: 3,
      motions: [disc('a', 1, 0), moved('p', 2), moved('p', 3, placeAt(9, 0))],
    });
    const [start, end] = texts.map(read);
    assert.equal(start?.collisions[0]?.geometry?.type, 'Point');
    assert.equal(start?.collision_area?.type, 'Point');
    assert.equal(end?.collision_area, undefined);
    assert.equal(end?.start_time, '1970-01-01T00:00:00.002Z');
    assert.equal(end?.end_time, '1970-01-01T00:00:00.003Z');
    assert.equal(end?.collision_time, undefined);
  });

  test('have the current positions of the trackables', () => {
    const motions = [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 0.5), disc('a', 4, 0.2)];
    const { events: texts } = openStage().step({ nowMs: 4, motions });
    const shown = texts.map((text) => [positionOf(read(text), 0)[0], positionOf(read(text), 1)[0]]);
    const lon = (east: number) => placeAt(east, 0).lon;
    assert.deepEqual(shown, [
      [lon(1), lon(0)],
      [lon(0.5), lon(0)],
      [lon(0.2), lon(0.5)],
    ]);
  });

  test('have the position of each trackable if there are more of them than cached strings', () => {
    const stage = openStage();
    const shown = (atMs: number) =>
      Array.from({ length: 3000 }, (_, i) => disc(`${i}`, atMs, 1.5 * i + atMs / 10, { floor: i >> 1 }));
    for (const atMs of [1, 2, 3]) {
      const motions = shown(atMs);
      const { events: texts } = stage.step({ nowMs: atMs, motions });
      assert.ok(texts.length >= 1500, `${texts.length} events`);
      for (const event of texts) {
        assert.equal(event.text, JSON.stringify(JSON.parse(event.text)));
        const [{ id, geometry } = { id: '' }] = read(event).collisions;
        const { lon, lat } = motions[Number(id)] as TrackableMotion;
        assert.deepEqual(geometry, circlePolygon(lon, lat, 1));
      }
    }
  });

  const zone = (turn: number): Zone => {
    const [one, other] = [placeAt(-50, -50), placeAt(50, -50)];
    const points = [[one.lon, one.lat], [100, 200], [other.lon, other.lat], turn === 0 ? [200, 200] : [100, 300]];
    return { id: 'z', type: 'uwb', ground_control_points: points };
  };

  test('are published once per variant, except in views that cannot represent them', () => {
    const variants: Variant[] = [
      WGS84,
      { id: 5, topic: 'collision_events', crs: 'local', zoneId: 'z' },
      { id: 6, topic: 'collision_events', crs: 'local', zoneId: 'unknown' },
      { id: 7, topic: 'collision_events', crs: 'local' },
      { id: 8, topic: 'collision_events', crs: 'EPSG:32632' },
      { id: 9, topic: 'trackable_motions', crs: 'EPSG:4326' },
    ];
    const stage = openStage(variants, new Map([['z', zone(0)]]));
    const { events: texts } = stage.step({ nowMs: 2, motions: [disc('a', 1, 0), disc('b', 2, 1)] });
    assert.deepEqual(
      texts.map(({ variant }) => variant),
      [4, 5, 8],
    );
    assert.deepEqual(new Set(texts.map((text) => read(text).id)).size, 1);
    const [, local] = texts.map(read);
    const [x, y] = positionOf(local, 0);
    assert.ok(Math.hypot(x - 151, y - 250) < 0.01, `${x} ${y}`);
    const [end] = local?.collision_area?.type === 'LineString' ? local.collision_area.coordinates : [];
    assert.ok(Math.abs(Number(end?.[0]) - 150.5) < 0.01, `${end}`);
  });

  test('follow a zone that is georeferenced again', () => {
    const zones = new Map([['z', zone(0)]]);
    const stage = openStage([{ ...WGS84, crs: 'local', zoneId: 'z' }], zones);
    stage.step({ nowMs: 2, motions: [disc('a', 1, 10), disc('b', 2, 11)] });
    zones.set('z', zone(90));
    const { events: texts } = stage.step({ nowMs: 3, motions: [disc('b', 3, 11)] });
    const [x, y] = positionOf(read(texts[0] as SerializedEvent), 1);
    assert.ok(Math.hypot(x - 50, y - 260) < 0.01, `${x} ${y}`);
  });

  test('are counted but not rendered without subscribers', () => {
    const stage = openStage([]);
    const motions = [disc('a', 1, 0), disc('b', 2, 0), disc('b', 3, 0)];
    const { rows, ...outcome } = stage.step({ nowMs: 3, motions });
    assert.equal(rows.length, 1);
    assert.deepEqual(outcome, {
      events: [],
      started: 1,
      colliding: 1,
      ended: 0,
      held: [],
      nextDeadlineMs: Number.POSITIVE_INFINITY,
    });
    const later = stage.step({ nowMs: 4, motions: [disc('b', 4, 9)], variants: [WGS84] });
    assert.deepEqual(later.events.map(brief), ['end b a 4']);
  });
});

function positionOf(event: CollisionEvent | undefined, index: number): [number, number] {
  const [x, y] = event?.collisions[index]?.position?.coordinates ?? [];
  return [x ?? Number.NaN, y ?? Number.NaN];
}
