import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type PlaneTransform, projection } from '../../src/core/geo/crs.ts';
import { destination, geodesicMeters } from '../../src/core/geo/geodesic.ts';
import {
  checkGroundControlPoints,
  keepsPlane,
  residualsMeters,
  zoneTransform,
} from '../../src/core/zone/zone_transform.ts';
import type { Zone } from '../../src/model/zone.ts';
import { uniform } from '../support/uniform.ts';
import { fromWgs84, toWgs84, transformOf, UNIT_SQUARE, zoneOf } from './zone_rows.ts';

/** Georeference of a random zone: its center, and a linear map from its plane to meters east and north. */
const placed = fc.record({
  lon: uniform(-180, 180),
  lat: fc.oneof(uniform(-90, 90), fc.constantFrom(-90, -89.9999, -80, -0.0001, 0, 0.0001, 84, 89.9999, 90)),
  turn: uniform(0, 360),
  scaleX: uniform(0.1, 20),
  scaleY: uniform(0.1, 20),
  mirrored: fc.boolean(),
  originX: uniform(-1e6, 1e6),
  size: uniform(1, 1000),
});
type Placed = typeof placed extends fc.Arbitrary<infer T> ? T : never;

const CORNERS: [number, number][] = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];

function rowsOf({ lon, lat, turn, scaleX, scaleY, mirrored, originX, size }: Placed): number[][] {
  const rows: number[][] = [];
  for (const [across, up] of CORNERS) {
    const right = across * size * scaleX;
    const ahead = up * size * scaleY * (mirrored ? -1 : 1);
    const out: [number, number] = [0, 0];
    const bearing = turn + (Math.atan2(right, ahead) * 180) / Math.PI;
    destination(lon, lat, bearing, Math.hypot(right, ahead), out);
    rows.push(out, [originX + across * size, up * size]);
  }
  return rows;
}

describe('zoneTransform of ground control points', () => {
  it('fits the unit square onto a field of 65 m by 11 m to millimeters', () => {
    const zone = zoneOf(UNIT_SQUARE);
    const residuals = residualsMeters(zone);
    assert.equal(residuals?.length, 4);
    assert.ok(Math.max(...(residuals ?? [])) < 0.003, `${residuals}`);
    const [lon, lat] = toWgs84(transformOf(zone), 1, 1);
    assert.ok(geodesicMeters(lon, lat, 7.816582, 48.130188) < 0.003);
    const [x, y] = fromWgs84(transformOf(zone), 7.816551, 48.130094);
    assert.ok(Math.abs(x - 1) < 1e-4 && Math.abs(y) < 1e-3, `${x} ${y}`);
  });

  it('fits a zone whose y axis points south', () => {
    const corners = [8, 50, 8.001, 50, 8.001, 49.999, 8, 49.999];
    const local = [0, 0, 71.7, 0, 71.7, 111.2, 0, 111.2];
    const rows = [0, 2, 4, 6].flatMap((i) => [corners.slice(i, i + 2), local.slice(i, i + 2)]);
    const transform = transformOf(zoneOf(rows));
    const [, north] = toWgs84(transform, 10, 10);
    const [, south] = toWgs84(transform, 10, 20);
    assert.ok(south < north);
    const [lon, lat] = toWgs84(transform, 71.7, 111.2);
    assert.ok(geodesicMeters(lon, lat, 8.001, 49.999) < 0.01);
  });

  it('rotates and scales, without mirroring, by two pairs', () => {
    const transform = transformOf(
      zoneOf([
        [0, 0],
        [0, 0],
        [0.001, 0],
        [0, 100],
      ]),
    );
    const [lon, lat] = toWgs84(transform, 100, 0);
    assert.ok(Math.abs(lon) < 1e-6 && lat < -0.0009, 'x points south and y points east');
    assert.ok(Math.abs(geodesicMeters(0, 0, lon, lat) - 111.3195) < 0.01);
  });

  it('fits a similarity to points on one line, even with errors of a centimeter', () => {
    const rows = [
      [0, 0],
      [0, 0],
      [0.0005, 0],
      [50, 0.01],
      [0.001, 0],
      [100, -0.01],
    ];
    assert.equal(checkGroundControlPoints(rows), undefined);
    const [lon, lat] = toWgs84(transformOf(zoneOf(rows)), 0, 100);
    assert.ok(Math.abs(geodesicMeters(0, 0, lon, lat) - 111.3) < 0.2 && lat > 0.0009, `${lon} ${lat}`);
  });

  it('fits a similarity if the points of one side lie on one line', () => {
    const line = [0, 0.5, 1];
    const bent = [0, 0.1, 0];
    const rowsBy = (geographic: number[], local: number[]): number[][] =>
      line.flatMap((along, i) => [
        [along * 0.001, (geographic[i] as number) * 0.001],
        [(local[i] as number) * 100, along * 100],
      ]);
    for (const rows of [rowsBy(bent, [0, 0, 0]), rowsBy([0, 0, 0], bent)]) {
      assert.equal(checkGroundControlPoints(rows), undefined);
      const transform = transformOf(zoneOf(rows));
      const origin = toWgs84(transform, 0, 0);
      const [lon, lat] = toWgs84(transform, 100, 0);
      assert.ok(Math.abs(geodesicMeters(...origin, lon, lat) - 111) < 3 && lat < origin[1] - 0.0009, `${lon} ${lat}`);
    }
  });

  it('spreads errors among more than three pairs', () => {
    const rows = UNIT_SQUARE.map((row) => [...row]);
    rows[6] = [7.816551 + 0.00001, 48.130094];
    const residuals = residualsMeters(zoneOf(rows)) ?? [];
    for (const residual of residuals) assert.ok(Math.abs(residual - 0.744 / 4) < 0.01, `${residuals}`);
  });

  it('round-trips every position to a millimeter, anywhere on the earth', () => {
    const inside = uniform(-1, 2);
    const property = fc.property(placed, inside, inside, (where, across, up) => {
      const rows = rowsOf(where);
      assert.equal(checkGroundControlPoints(rows), undefined);
      const transform = transformOf(zoneOf(rows));
      const x = where.originX + across * where.size;
      const y = up * where.size;
      assert.ok(transform.covers(x, y));
      const [lon, lat] = toWgs84(transform, x, y);
      assert.ok(Math.abs(lon) <= 180 && Math.abs(lat) <= 90);
      const [backX, backY] = fromWgs84(transform, lon, lat);
      const away = Math.hypot((backX - x) * where.scaleX, (backY - y) * where.scaleY);
      assert.ok(away < 0.001, `${away} m away`);
    });
    fc.assert(property, { seed: 9, numRuns: 1500 });
  });

  it('maps control points to their surveyed positions, anywhere on the earth', () => {
    const property = fc.property(placed, (where) => {
      const rows = rowsOf(where);
      const transform = transformOf(zoneOf(rows));
      const extent = where.size * Math.max(where.scaleX, where.scaleY);
      for (let i = 0; i < rows.length; i += 2) {
        const [lon, lat] = toWgs84(transform, rows[i + 1]?.[0] as number, rows[i + 1]?.[1] as number);
        const away = geodesicMeters(lon, lat, rows[i]?.[0] as number, rows[i]?.[1] as number);
        // A square on the ellipsoid is not square in any plane: the residual grows with the square of its size.
        assert.ok(away < 0.001 + extent * 1e-5 + extent ** 2 * 1e-6, `${away} m away, ${extent} m wide`);
      }
    });
    fc.assert(property, { seed: 10, numRuns: 500 });
  });

  it('has no coordinates for the other side of the earth, and covers none', () => {
    const transform = transformOf(zoneOf(UNIT_SQUARE));
    assert.deepEqual(fromWgs84(transform, 99, 0), [Number.NaN, Number.NaN]);
    assert.ok(!transform.covers(1e9, 0));
    assert.ok(!transform.covers(Number.NaN, 0));
  });

  it('is cached per zone', () => {
    const zone = zoneOf(UNIT_SQUARE);
    assert.equal(zoneTransform(zone), zoneTransform(zone));
  });
});

describe('zoneTransform', () => {
  const none: [why: string, zone: Zone][] = [
    ['a proximity zone', { id: 'z', type: 'rfid', position: { type: 'Point', coordinates: [8, 50] } }],
    [
      'a zone placed in no way',
      { id: 'z', type: 'uwb', transformation_type: 'none', ground_control_points: UNIT_SQUARE },
    ],
    ['a zone without ground control points', { id: 'z', type: 'uwb', incomplete_configuration: true }],
    ['a zone with one pair', zoneOf(UNIT_SQUARE.slice(0, 2))],
    ['a zone with an odd row', zoneOf(UNIT_SQUARE.slice(0, 5))],
    [
      'a zone with all pairs at one position',
      zoneOf([
        [8, 50],
        [1, 1],
        [8, 50],
        [2, 2],
      ]),
    ],
    ['a benchmark without position', { id: 'z', type: 'generic', surface_projection: 'EPSG:32632' }],
    [
      'a benchmark in degrees',
      { id: 'z', type: 'generic', surface_projection: 'EPSG:4326', position: { type: 'Point', coordinates: [8, 50] } },
    ],
    [
      'a benchmark out of reach of its projection',
      { id: 'z', type: 'generic', surface_projection: 'EPSG:32632', position: { type: 'Point', coordinates: [99, 0] } },
    ],
  ];
  for (const [why, zone] of none) {
    it(`is undefined for ${why}`, () => {
      assert.equal(zoneTransform(zone), undefined);
      assert.equal(zoneTransform(zone), undefined);
    });
  }
});

describe('zoneTransform of a benchmark', () => {
  const base: Zone = {
    id: 'z',
    type: 'generic',
    position: { type: 'Point', coordinates: [9.5, 50] },
    surface_projection: 'EPSG:32632',
  };
  const utm = projection('EPSG:32632') as PlaneTransform;

  it('has its local origin at the position', () => {
    const zone: Zone = { ...base, local_origin: { type: 'Point', coordinates: [100, 200, 3] }, easting_angle: 30 };
    const [lon, lat] = toWgs84(transformOf(zone), 100, 200);
    assert.ok(geodesicMeters(lon, lat, 9.5, 50) < 1e-6);
  });

  it('rotates clockwise by the sum of its angles and scales', () => {
    const zone: Zone = { ...base, easting_angle: 80, meridian_convergence: 10, scale_factor: 2 };
    const [easting, northing] = fromWgs84(utm, 9.5, 50);
    const [lon, lat] = toWgs84(transformOf(zone), 0, 10);
    const [toEasting, toNorthing] = fromWgs84(utm, lon, lat);
    assert.ok(Math.abs(toEasting - easting - 20) < 1e-6, 'y points east after a quarter turn');
    assert.ok(Math.abs(toNorthing - northing) < 1e-6);
    const [x, y] = fromWgs84(transformOf(zone), lon, lat);
    assert.ok(Math.hypot(x, y - 10) < 1e-6);
  });

  it('needs a generic zone or the word benchmark', () => {
    assert.ok(zoneTransform({ ...base, type: 'uwb', transformation_type: 'benchmark' }) !== undefined);
    assert.equal(zoneTransform({ ...base, type: 'uwb' }), undefined);
  });
});

describe('keepsPlane', () => {
  const position = { type: 'Point' as const, coordinates: [9.5, 50] };
  const elsewhere = { type: 'Point' as const, coordinates: [9.6, 50] };
  const points = zoneOf(UNIT_SQUARE);
  const benchmark: Zone = { id: 'z', type: 'generic', position, surface_projection: 'EPSG:32632' };
  const rows: readonly (readonly [what: string, before: Zone, change: Partial<Zone>, kept: boolean])[] = [
    ['the name of a zone placed by points', points, { name: 'hall', position, floor: 3 }, true],
    ['its points', points, { ground_control_points: UNIT_SQUARE.slice(0, 6) }, false],
    ['its type to one with a single position', points, { type: 'rfid', ground_control_points: null, position }, false],
    ['the floor of a benchmark zone', benchmark, { floor: 3 }, true],
    ['its position', benchmark, { position: elsewhere }, false],
    ['its projection', benchmark, { surface_projection: 'EPSG:32633' }, false],
    ['its origin', benchmark, { local_origin: position }, false],
    ['its easting angle', benchmark, { easting_angle: 1 }, false],
    ['its convergence', benchmark, { meridian_convergence: 1 }, false],
    ['its scale', benchmark, { scale_factor: 2 }, false],
    ['the position of a proximity zone', { id: 'z', type: 'rfid', position }, { position: elsewhere }, true],
  ];
  for (const [what, before, change, kept] of rows) {
    it(`is ${kept} if ${what} changes`, () => {
      const after: Zone = structuredClone({ ...before, ...change });
      const transform = zoneTransform(before);
      assert.equal(keepsPlane(before, after), kept);
      if (transform !== undefined) assert.equal(zoneTransform(after) === transform, kept);
    });
  }
});

describe('residualsMeters', () => {
  it('is undefined for zones that are not fitted', () => {
    assert.equal(residualsMeters({ id: 'z', type: 'rfid' }), undefined);
    assert.equal(residualsMeters({ id: 'z', type: 'uwb' }), undefined);
  });
});
