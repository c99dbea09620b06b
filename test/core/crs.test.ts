import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  isCrs,
  type PlaneTransform,
  planeAround,
  projection,
  rangeProblem,
  displayProjection,
  WGS84,
} from '../../src/core/geo/crs.ts';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { roundDegrees, roundMeters } from '../../src/core/geo/rounding.ts';
import { uniform } from '../support/uniform.ts';

const VECTORS = new URL('../../../shared/data/crs/utm_ups_vectors.json', import.meta.url);

interface Vector {
  readonly crs: string;
  readonly lon: number;
  readonly lat: number;
  readonly x: number;
  readonly y: number;
}

const two = (zone: number): string => String(zone).padStart(2, '0');
const PLANE_CODES: string[] = [];
for (let zone = 1; zone <= 61; zone++) PLANE_CODES.push(`EPSG:326${two(zone)}`, `EPSG:327${two(zone)}`);

const longitude = uniform(-180, 180);
const latitude = uniform(-90, 90);

function shown(crs: string): PlaneTransform {
  const found = displayProjection(crs);
  assert.ok(found !== undefined && found === displayProjection(crs), crs);
  return found;
}

function plane(crs: string): PlaneTransform {
  const found = projection(crs);
  assert.ok(found !== undefined, crs);
  return found;
}

describe('isCrs', () => {
  it('accepts local, EPSG:4326, and every UTM and UPS code of WGS 84', () => {
    for (const code of ['local', 'EPSG:4326', ...PLANE_CODES]) assert.ok(isCrs(code), code);
  });
  const unknown = [
    '',
    'Local',
    'epsg:4326',
    'EPSG:3857',
    'EPSG:32600',
    'EPSG:32662',
    'EPSG:32762',
    'EPSG:3263',
    'EPSG:326321',
    'EPSG:32832',
    'toString',
    '__proto__',
  ];
  for (const code of unknown) {
    it(`rejects ${JSON.stringify(code)}`, () => {
      assert.ok(!isCrs(code));
      assert.equal(projection(code), undefined);
    });
  }
});

describe('projection', () => {
  it('is undefined for local, the identity for EPSG:4326, and cached per code', () => {
    assert.equal(projection('local'), undefined);
    assert.equal(projection('EPSG:4326'), WGS84);
    const out: [number, number] = [0, 0];
    WGS84.toWgs84(8.5, 50.25, out);
    assert.deepEqual(out, [8.5, 50.25]);
    assert.equal(projection('EPSG:32632'), projection('EPSG:32632'));
  });

  const skip = existsSync(VECTORS) ? false : 'the coordinates computed with PROJ are not here';
  it('agrees with PROJ to 1 mm in both directions', { skip }, () => {
    const vectors = JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[];
    assert.ok(vectors.length > 0);
    const out: [number, number] = [0, 0];
    for (const { crs, lon, lat, x, y } of vectors) {
      plane(crs).fromWgs84(lon, lat, out);
      const away = Math.hypot(out[0] - x, out[1] - y);
      assert.ok(away < 0.001, `${crs} ${lon} ${lat}: ${away} m away`);
      plane(crs).toWgs84(x, y, out);
      const back = geodesicMeters(out[0], out[1], lon, lat);
      assert.ok(back < 0.001, `${crs} ${x} ${y}: ${back} m away`);
    }
  });

  it('covers exactly the range of PROJ', { skip }, () => {
    const vectors = JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[];
    const out: [number, number] = [0, 0];
    for (const { crs, lon, lat, x, y } of vectors) {
      shown(crs).fromWgs84(lon, lat, out);
      assert.ok(Math.hypot(out[0] - x, out[1] - y) < 0.001, `${crs} ${lon} ${lat}: ${out}`);
    }
    const property = fc.property(fc.constantFrom(...PLANE_CODES), longitude, latitude, (code, lon, lat) => {
      shown(code).fromWgs84(lon, lat, out);
      const isPolar = code.endsWith('61');
      const [north, degrees] = [code.startsWith('EPSG:326'), Number(code.slice(-2)) * 6 - 183];
      const away = Math.abs(((lon - degrees + 540) % 360) - 180);
      const isInRange = isPolar ? (north ? lat : -lat) >= 60 : away <= 12;
      assert.equal(Number.isFinite(out[0]), isInRange, `${code} ${lon} ${lat}`);
      assert.equal(rangeProblem(code, lon, lat) === undefined, isInRange);
    });
    fc.assert(property, { seed: 123, numRuns: 4000 });
  });

  it('has the false origins of UTM and UPS', () => {
    const origins: [crs: string, lon: number, lat: number, x: number, y: number][] = [
      ['EPSG:32632', 9, 0, 500000, 0],
      ['EPSG:32732', 9, 0, 500000, 10000000],
      ['EPSG:32601', -177, 0, 500000, 0],
      ['EPSG:32661', 0, 90, 2000000, 2000000],
      ['EPSG:32761', 0, -90, 2000000, 2000000],
    ];
    const out: [number, number] = [0, 0];
    for (const [crs, lon, lat, x, y] of origins) {
      plane(crs).fromWgs84(lon, lat, out);
      assert.ok(Math.hypot(out[0] - x, out[1] - y) < 1e-6, `${crs}: ${out}`);
    }
  });

  it('inverts every covered position on the earth', () => {
    const coordinate = uniform(-2.5e7, 2.5e7);
    const out: [number, number] = [0, 0];
    const property = fc.property(fc.constantFrom(...PLANE_CODES), coordinate, coordinate, (code, x, y) => {
      const there = plane(code);
      if (!there.covers(x, y)) return;
      there.toWgs84(x, y, out);
      const [lon, lat] = out;
      assert.ok(Math.abs(lon) <= 180 && Math.abs(lat) <= 90, `${code} ${x} ${y}: ${out}`);
      // More than half way around the earth, the plane repeats itself.
      if (!code.endsWith('61') && Math.abs(y - (code.startsWith('EPSG:327') ? 1e7 : 0)) > 1.99e7) return;
      there.fromWgs84(lon, lat, out);
      assert.ok(Math.hypot(out[0] - x, out[1] - y) < 0.001, `${code} ${x} ${y}: ${out}`);
    });
    fc.assert(property, { seed: 4326, numRuns: 4000 });
  });

  it('writes covered coordinates for a position within reach, and NaN otherwise', () => {
    const out: [number, number] = [0, 0];
    let reached = 0;
    const property = fc.property(fc.constantFrom(...PLANE_CODES), longitude, latitude, (code, lon, lat) => {
      const there = plane(code);
      there.fromWgs84(lon, lat, out);
      if (Number.isNaN(out[0]) && Number.isNaN(out[1])) return;
      reached++;
      const [x, y] = out;
      assert.ok(there.covers(x, y), `${code} ${lon} ${lat}: ${out}`);
      there.toWgs84(x, y, out);
      const away = geodesicMeters(lon, lat, out[0], out[1]);
      assert.ok(away < 0.001, `${code} ${lon} ${lat}: ${away} m away`);
    });
    fc.assert(property, { seed: 32632, numRuns: 4000 });
    assert.ok(reached > 2000, `${reached} reached`);
    plane('EPSG:32632').fromWgs84(99, 0, out);
    assert.deepEqual(out, [Number.NaN, Number.NaN]);
  });

  it('covers no NaN', () => {
    for (const code of ['EPSG:4326', 'EPSG:32632', 'EPSG:32661']) {
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300]) {
        assert.ok(!plane(code).covers(bad, 1));
        assert.ok(!plane(code).covers(1, bad));
      }
    }
  });
});

describe('planeAround', () => {
  const places: [lon: number, lat: number, code: string][] = [
    [8.68, 50.11, 'EPSG:32632'],
    [-180, 10, 'EPSG:32601'],
    [180, 10, 'EPSG:32601'],
    [179.999, -10, 'EPSG:32760'],
    [180.5, -10, 'EPSG:32701'],
    [-180.5, 0, 'EPSG:32660'],
    [6, 0, 'EPSG:32632'],
    [5.9999, 84, 'EPSG:32631'],
    [5, 84.01, 'EPSG:32661'],
    [5, -80, 'EPSG:32731'],
    [5, -80.01, 'EPSG:32761'],
  ];
  for (const [lon, lat, code] of places) {
    it(`of ${lon} ${lat} is ${code}`, () => assert.equal(planeAround(lon, lat), projection(code)));
  }
});

describe('roundDegrees and roundMeters', () => {
  it('preserve a tenth of a millimeter and yield short strings', () => {
    assert.equal(String(roundDegrees(8.682310000049)), '8.68231');
    assert.equal(roundDegrees(8.6823100005), 8.682310001);
    assert.equal(String(roundMeters(1.2300000049)), '1.23');
    assert.ok(Object.is(roundDegrees(-1e-12), 0));
    assert.ok(Object.is(roundMeters(-1e-12), 0));
    assert.equal(roundMeters(Number.NaN), Number.NaN);
  });
});
