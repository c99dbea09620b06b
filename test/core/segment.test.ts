import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { segmentBetween } from '../../src/core/fence/segment.ts';

type LonLat = readonly [lon: number, lat: number];

/** Ways by name: start, end, and the position halfway. */
const ROWS: readonly [name: string, from: LonLat, to: LonLat, middle: LonLat][] = [
  ['in a hall', [8.5, 47.4], [8.5001, 47.4002], [8.50005, 47.4001]],
  ['along a parallel', [8.5, 47.4], [8.6, 47.4], [8.55, 47.4]],
  ['across the antimeridian', [179.9, -16], [-179.9, -16.1], [180, -16.05]],
  ['across the equator', [30, -0.5], [30.5, 0.5], [30.25, 0]],
  ['across the north pole', [10, 89.999], [-170, 89.997], [-170, 89.999]],
  ['beside the south pole', [0, -89.999], [90, -89.999], [45, -89.9992929]],
  ['nowhere', [8.5, 47.4], [8.5, 47.4], [8.5, 47.4]],
];

describe('segmentBetween', () => {
  for (const [name, [fromLon, fromLat], [toLon, toLat], [lon, lat]] of ROWS) {
    const segment = segmentBetween({ lon: fromLon, lat: fromLat }, { lon: toLon, lat: toLat });
    const out: [number, number] = [0, 0];

    it(`is halfway of a way ${name} in its middle`, () => {
      segment.at(0.5, out);
      assert.ok(geodesicMeters(lon, lat, out[0], out[1]) < 0.02, String(out));
    });

    it(`starts and ends a way ${name} at its positions`, () => {
      for (const [fraction, endLon, endLat] of [[0, fromLon, fromLat] as const, [1, toLon, toLat] as const]) {
        segment.at(fraction, out);
        assert.ok(geodesicMeters(endLon, endLat, out[0], out[1]) < 1e-6, String(out));
      }
    });

    it(`bounds every part of a way ${name} by its length`, () => {
      const last: [number, number] = [0, 0];
      segment.at(0, last);
      let sum = 0;
      for (let i = 1; i <= 100; i++) {
        segment.at(i / 100, out);
        const meters = geodesicMeters(last[0], last[1], out[0], out[1]);
        assert.ok(meters <= segment.meters / 100 + 1e-6, `${meters} > ${segment.meters / 100}`);
        sum += meters;
        last[0] = out[0];
        last[1] = out[1];
      }
      assert.ok(sum >= segment.meters * 0.97, `${sum} of ${segment.meters}`);
    });
  }
});
