import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TrackableMotion } from '../../src/model/events.ts';
import type { Polygon } from '../../src/model/geojson.ts';
import type { Variant } from '../../src/model/topics.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { HALL } from '../support/hall.ts';
import { inHall, iso, ShardHarness, trackable, zone } from '../support/shard_harness.ts';

type View = Omit<Variant, 'id' | 'topic'>;

interface Setting {
  readonly more?: Partial<Trackable>;
  readonly view?: View;
  readonly course?: number;
}

/** Motion of a trackable at (50, 50) in the hall, by default in the hall's plane. */
async function motionOf({ more = {}, view = { crs: 'local' }, course }: Setting): Promise<TrackableMotion> {
  const harness = await ShardHarness.open();
  harness.tell(0, { kind: 'variants', variants: [{ ...view, id: 2, topic: 'trackable_motions' }] });
  harness.tell(0, zone(), trackable('cart', ['tag'], more));
  harness.tell(1, inHall(1, [50, 50], course === undefined ? {} : { course }));
  return harness.observed.motions[0] as TrackableMotion;
}

/** Meters east and north of (50, 50), rounded to centimeters. */
function ring(motion: TrackableMotion): string[] {
  const { coordinates } = motion.geometry as Polygon;
  return (coordinates[0] ?? []).map(([x = 0, y = 0]) => [x - 50, y - 50].map((v) => v.toFixed(2)).join(' '));
}

function distances(motion: TrackableMotion): number[] {
  const { coordinates } = motion.geometry as Polygon;
  return (coordinates[0] ?? []).map(([x = 0, y = 0]) => Math.hypot(x - 50, y - 50));
}

/** Two meters long and one wide, with its front to the north. */
const CART: Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [-0.5, -1],
      [0.5, -1],
      [0.5, 1],
      [-0.5, 1],
      [-0.5, -1],
    ],
  ],
};

describe('a motion has', () => {
  test('name, extrusion and properties of its trackable, and the location', async () => {
    const more = { name: 'Cart', extrusion: 2, properties: { load: 5 }, radius: 0 };
    const motion = await motionOf({ more });
    const { location, ...rest } = motion;
    assert.deepEqual(rest, {
      id: 'cart',
      name: 'Cart',
      extrusion: 2,
      properties: { load: 5 },
      geometry: { type: 'Point', coordinates: [50, 50] },
    });
    assert.equal(location.provider_id, 'tag');
    assert.deepEqual(location.position, { type: 'Point', coordinates: [50, 50] });
    assert.equal(location.crs, 'local');
    assert.deepEqual(location.trackables, ['cart']);
    assert.equal(location.timestamp_generated, iso(1));
  });

  test('no members that its trackable does not have', async () => {
    const motion = await motionOf({ more: { name: null, extrusion: null, properties: null } });
    assert.deepEqual(Object.keys(motion).sort(), ['geometry', 'id', 'location']);
  });

  test('valid JSON for any names', async () => {
    const name = 'a "cart"\n\\ ü \u2028';
    const motion = await motionOf({ more: { name, properties: { [name]: name } } });
    assert.equal(motion.name, name);
    assert.deepEqual(motion.properties, { [name]: name });
  });
});

describe('the shape of a motion is', () => {
  test('a point, with its height, without radius and polygon', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), trackable('cart', ['tag']));
    harness.tell(1, inHall(1, [50, 50, 7]));
    const { geometry, location } = harness.observed.motions[0] as TrackableMotion;
    assert.deepEqual(geometry, location.position);
    assert.equal(geometry?.coordinates[2], 7);
  });

  test('a closed counter-clockwise polygon of 64 segments, with a radius', async () => {
    const motion = await motionOf({ more: { radius: 3 } });
    const vertices = (motion.geometry as Polygon).coordinates[0] as number[][];
    assert.equal(vertices.length, 65);
    assert.deepEqual(vertices[0], vertices[64]);
    for (const meters of distances(motion)) assert.ok(Math.abs(meters - 3) < 0.001, String(meters));
    const area = vertices.slice(1).reduce((sum, [x = 0, y = 0], i) => {
      const [fromX = 0, fromY = 0] = vertices[i] as number[];
      return sum + (fromX * y - x * fromY) / 2;
    }, 0);
    assert.ok(Math.abs(area - Math.PI * 9) < 0.1, String(area));
  });

  test('the circle if there are both radius and polygon', async () => {
    const motion = await motionOf({ more: { radius: 3, geometry: CART } });
    assert.equal((motion.geometry as Polygon).coordinates[0]?.length, 65);
  });

  for (const { course, expected } of [
    { course: undefined, expected: ['-0.50 -1.00', '0.50 -1.00', '0.50 1.00', '-0.50 1.00'] },
    { course: 0, expected: ['-0.50 -1.00', '0.50 -1.00', '0.50 1.00', '-0.50 1.00'] },
    // Rotated clockwise by 90°: the front faces east.
    { course: 90, expected: ['-1.00 0.50', '-1.00 -0.50', '1.00 -0.50', '1.00 0.50'] },
    { course: 180, expected: ['0.50 1.00', '-0.50 1.00', '-0.50 -1.00', '0.50 -1.00'] },
    { course: 30, expected: ['-0.93 -0.62', '-0.07 -1.12', '0.93 0.62', '0.07 1.12'] },
  ]) {
    test(`its polygon, rotated by course ${course}`, async () => {
      const motion = await motionOf({ more: { geometry: CART }, ...(course !== undefined && { course }) });
      assert.deepEqual(ring(motion), [...expected, expected[0]]);
    });
  }

  test('its polygon, rotated by the course computed from its movement if none is sent', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, { kind: 'variants', variants: [{ id: 2, topic: 'trackable_motions', crs: 'local' }] });
    harness.tell(0, zone(), trackable('cart', ['tag'], { geometry: CART }));
    harness.tell(1, inHall(1, [45, 50]));
    harness.tell(2, inHall(2, [50, 50]));
    const [, second] = harness.observed.motions;
    assert.deepEqual(ring(second as TrackableMotion).slice(0, 2), ['-1.00 0.50', '-1.00 -0.50']);
  });
});

describe('a motion is published', () => {
  for (const crs of ['EPSG:4326', 'local', 'EPSG:32632']) {
    test(`as GeoJSON in ${crs}: its shape as geometry, the rest as properties`, async () => {
      const more = { name: 'Cart', radius: 1, properties: { load: 5 } };
      const { geometry, ...properties } = await motionOf({ more, view: { crs } });
      const found = (await motionOf({ more, view: { crs, geojson: true } })) as unknown;
      const features = [{ type: 'Feature', geometry, properties }];
      assert.deepEqual(found, { type: 'FeatureCollection', features });
    });
  }

  test('with its shape and its location in one crs', async () => {
    const motion = await motionOf({ more: { radius: 2 }, view: { crs: 'EPSG:32632' } });
    const [easting = 0] = motion.location.position.coordinates;
    assert.equal(motion.location.crs, 'EPSG:32632');
    assert.ok(Math.abs(easting - 500_050) < 0.05, String(easting));
    const [x = 0] = (motion.geometry as Polygon).coordinates[0]?.[0] ?? [];
    assert.ok(Math.abs(x - 500_052) < 0.05, String(x));
  });

  test('not at all if its location cannot be converted', async () => {
    assert.equal(await motionOf({ view: { crs: 'local', zoneId: 'nowhere' } }), undefined);
  });

  test("with the current zone of its location's source", async () => {
    const motion = await motionOf({ view: { crs: 'local', zoneId: HALL.id } });
    assert.deepEqual(motion.location.position.coordinates, [50, 50]);
  });
});
