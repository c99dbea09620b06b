import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { destination, distanceAndBearing, geodesicMeters, initialBearing } from '../../src/core/geo/geodesic.ts';
import { uniform } from '../support/uniform.ts';

const SEED = { seed: 6378137, numRuns: 2000 };
const longitude = uniform(-180, 180);
const latitude = uniform(-90, 90);
const bearing = uniform(0, 359.999);
/** From 10 cm to 1000 km, logarithmically distributed. */
const meters = uniform(-1, 6).map((exponent) => 10 ** exponent);

const angleBetween = (a: number, b: number): number => Math.abs(((a - b + 540) % 360) - 180);

describe('geodesic', () => {
  it('matches the published distance and bearing between Wellington and Salamanca', () => {
    assert.ok(Math.abs(geodesicMeters(174.81, -41.32, -5.5, 40.96) - 19959679.267) < 0.001);
    assert.ok(Math.abs(initialBearing(174.81, -41.32, -5.5, 40.96) - 161.067669986) < 1e-8);
  });

  it('returns bearings clockwise from north, from 0 to below 360', () => {
    assert.equal(initialBearing(9, 50, 9, 51), 0);
    assert.equal(initialBearing(0, 0, 1, 0), 90);
    assert.equal(initialBearing(9, 51, 9, 50), 180);
    assert.equal(initialBearing(0, 0, -1, 0), 270);
    assert.ok(initialBearing(0, 0, -1e-200, 1) < 360);
  });

  it('finds the destination at a distance and bearing', () => {
    const out: [number, number] = [0, 0];
    const property = fc.property(longitude, latitude, bearing, meters, (lon, lat, degrees, distance) => {
      destination(lon, lat, degrees, distance, out);
      assert.ok(Math.abs(out[0]) <= 180 && Math.abs(out[1]) <= 90);
      assert.ok(Math.abs(geodesicMeters(lon, lat, out[0], out[1]) - distance) < 1e-6);
    });
    fc.assert(property, SEED);
  });

  it('measures distance and bearing together as precisely as separately', () => {
    const out: [number, number] = [0, 0];
    const property = fc.property(longitude, latitude, bearing, meters, (lon, lat, degrees, distance) => {
      destination(lon, lat, degrees, distance, out);
      const [toLon, toLat] = out;
      const exact = geodesicMeters(lon, lat, toLon, toLat);
      distanceAndBearing(lon, lat, toLon, toLat, out);
      assert.ok(Math.abs(out[0] - exact) <= 2e-7 * exact + 1e-8, `${out[0]} m, not ${exact} m`);
      // For very short distances, rounding of the coordinates dominates the bearing.
      if (distance < 10) return;
      assert.ok(angleBetween(out[1], initialBearing(lon, lat, toLon, toLat)) < 1e-5);
      assert.ok(out[1] >= 0 && out[1] < 360);
    });
    fc.assert(property, SEED);
  });
});
