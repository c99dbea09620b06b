import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { projection } from '../../src/core/geo/crs.ts';
import type { Variant } from '../../src/model/topics.ts';
import { HALL } from '../support/hall.ts';
import { deleted, inHall, locationAt, ShardHarness, zone } from '../support/shard_harness.ts';

/** A hall 20 m east of the other. */
const ANNEXE = {
  ...HALL,
  id: 'annexe',
  foreign_id: 'annexe-foreign',
  ground_control_points: (HALL.ground_control_points as number[][]).map((row, i) =>
    i % 2 === 0 ? row : [(row[0] as number) - 20, row[1] as number],
  ),
};

type View = Omit<Variant, 'id' | 'topic'>;

/** A harness whose only location subscriber requests this view. */
async function openView(view: View): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(
    0,
    { kind: 'variants', variants: [{ ...view, id: 9, topic: 'location_updates' }] },
    zone(),
    zone(ANNEXE),
  );
  return harness;
}

function reported(harness: ShardHarness): object[] {
  return harness.events.filter(({ variant }) => variant === 9).map(({ text }) => JSON.parse(text));
}

/** Coordinates and crs of each published location. */
function places(harness: ShardHarness): [crs: string, coordinates: number[]][] {
  return reported(harness).map((location) => {
    const { crs, position } = location as { crs: string; position: { coordinates: number[] } };
    return [crs, position.coordinates];
  });
}

/** The halls are georeferenced to within a millimeter. */
function assertNear(found: readonly number[] | undefined, expected: readonly number[], meters = 0.001): void {
  assert.equal(found?.length, expected.length);
  for (const [i, value] of expected.entries()) {
    assert.ok(Math.abs((found?.[i] as number) - value) <= meters, `${found} is not ${expected}`);
  }
}

describe('a location is accepted', () => {
  test('in the plane of its zone, named by its id or foreign id', async () => {
    const harness = await openView({ crs: 'EPSG:4326' });
    harness.tell(1, inHall(1, [0, 0]), inHall(2, [100, 100], { source: 'hall' }));
    const [corner, opposite] = places(harness);
    assert.equal(corner?.[0], 'EPSG:4326');
    assertNear(corner?.[1], [9, 50], 1e-8);
    assertNear(opposite?.[1], [9.001394785, 50.000898919], 1e-8);
  });

  for (const crs of ['EPSG:32632', 'EPSG:32731', 'EPSG:32661']) {
    test(`in ${crs}`, async () => {
      const [lon, lat] = crs === 'EPSG:32731' ? [2.5, -33.25] : crs === 'EPSG:32661' ? [-120, 87.5] : [9.5, 50.125];
      const out: [number, number] = [0, 0];
      projection(crs)?.fromWgs84(lon, lat, out);
      const harness = await openView({ crs: 'EPSG:4326' });
      harness.tell(1, locationAt(1, out[0], out[1], { crs }));
      assert.deepEqual(places(harness), [['EPSG:4326', [lon, lat]]]);
    });
  }

  test('with a height, which is preserved in every plane', async () => {
    for (const crs of ['EPSG:4326', 'local', 'EPSG:32632']) {
      const harness = await openView({ crs });
      harness.tell(1, inHall(1, [5, 5, -1.25]));
      assert.equal(places(harness)[0]?.[1][2], -1.25, crs);
    }
  });
});

describe('a location is published', () => {
  test('in EPSG:4326 as it was received, digit by digit', async () => {
    const harness = await openView({ crs: 'EPSG:4326' });
    harness.tell(1, locationAt(1, 9.123456789012, -50.98765432101));
    assert.deepEqual(places(harness), [['EPSG:4326', [9.123456789012, -50.98765432101]]]);
  });

  test('in a projection, to a tenth of a millimeter', async () => {
    const harness = await openView({ crs: 'EPSG:32632' });
    harness.tell(1, inHall(1, [1.5, 2.5]));
    const [crs, coordinates] = places(harness)[0] as [string, number[]];
    const [easting, northing] = coordinates as [number, number];
    assert.equal(crs, 'EPSG:32632');
    assert.ok(Math.abs(easting - 500_001.5) < 0.001, String(easting));
    for (const meters of [easting, northing]) assert.equal(meters, Math.round(meters * 1e4) / 1e4);
  });

  test('in the plane of the zone that the view names', async () => {
    const harness = await openView({ crs: 'local', zoneId: 'annexe' });
    harness.tell(1, inHall(1, [25, 5]), locationAt(2, 9, 50));
    const [first, second] = places(harness);
    assert.equal(first?.[0], 'local');
    assertNear(first?.[1], [5, 5]);
    assertNear(second?.[1], [-20, 0]);
  });

  test('in the plane of its own zone if the view names none, exactly as it was received', async () => {
    const harness = await openView({ crs: 'local' });
    const position = { type: 'Point' as const, coordinates: [1 / 3, 2 / 3] };
    harness.tell(1, inHall(1, [0, 0], { position }), inHall(2, [7, 7], { source: 'annexe-foreign' }));
    assert.deepEqual(places(harness), [
      ['local', [1 / 3, 2 / 3]],
      ['local', [7, 7]],
    ]);
  });

  test('in the plane of its own zone if it was received in EPSG:4326', async () => {
    const harness = await openView({ crs: 'local' });
    harness.tell(1, locationAt(1, 9, 50, { source: 'annexe' }));
    assertNear(places(harness)[0]?.[1], [-20, 0]);
  });

  test('not at all in local without a zone, or in a plane that does not reach it', async () => {
    const harness = await openView({ crs: 'local' });
    harness.tell(1, locationAt(1, 9, 50, { source: 'gps' }));
    assert.deepEqual(reported(harness), []);
    const far = await openView({ crs: 'EPSG:32632' });
    far.tell(1, locationAt(1, 99, 0.5));
    assert.deepEqual(reported(far), []);
  });

  test('to other subscribers if one view cannot represent it', async () => {
    const harness = await openView({ crs: 'local' });
    const variants = ['local', 'EPSG:4326'].map((crs, id): Variant => ({ id, topic: 'location_updates', crs }));
    harness.tell(1, { kind: 'variants', variants });
    const { events } = harness.tell(2, locationAt(2, 9, 50, { source: 'gps' }));
    assert.deepEqual(
      events.map(({ variant }) => variant),
      [1],
    );
  });

  test('as GeoJSON: a FeatureCollection with the position as geometry and the rest as properties', async () => {
    for (const crs of ['EPSG:4326', 'local', 'EPSG:32632']) {
      const plain = await openView({ crs });
      plain.tell(1, inHall(1, [5, 5, 1], { accuracy: 2, properties: { a: 1 } }));
      const geojson = await openView({ crs, geojson: true });
      geojson.tell(1, inHall(1, [5, 5, 1], { accuracy: 2, properties: { a: 1 } }));
      const { position, ...properties } = reported(plain)[0] as { position: object };
      const features = [{ type: 'Feature', geometry: position, properties }];
      assert.deepEqual(reported(geojson), [{ type: 'FeatureCollection', features }]);
    }
  });
});

describe('a location in local coordinates', () => {
  test('moves with the plane of its zone, and has no local coordinates without it', async () => {
    const harness = await openView({ crs: 'EPSG:4326' });
    const ask = (): unknown => harness.ask(9, { ask: 'provider_location', id: 'tag', view: { crs: 'local' } });
    harness.tell(1, inHall(1, [30, 10]));
    const shown = (answer: unknown): number[] =>
      JSON.parse((answer as { texts: string[] }).texts[0] as string).position.coordinates;
    assert.deepEqual(shown(ask()), [30, 10]);
    harness.tell(2, zone({ ...ANNEXE, id: HALL.id, foreign_id: 'hall' }));
    assert.deepEqual(shown(ask()), [30, 10]);
    harness.tell(3, deleted('zone', HALL.id));
    assert.deepEqual(ask(), { unplaced: HALL.id });
  });
});
