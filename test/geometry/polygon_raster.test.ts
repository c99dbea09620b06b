import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SurfacePoint } from '../../src/core/geo/ecef.ts';
import { EdgeChain } from '../../src/fence_index/edge_chain.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { INSIDE, NEAR_EDGE, OUTSIDE, PolygonRaster } from '../../src/fence_index/polygon_raster.ts';
import { type Geos, openGeos } from '../../wasm/geos.ts';
import { anySpot, corners, degrees, point, regionAt } from './places.ts';

const SEED = 20_260_412;

/** A polygon, and positions on, near and away from its edges, unwrapped like its rings. */
interface Case {
  readonly rings: readonly Float64Array[];
  readonly slackMeters: number;
  readonly positions: readonly (readonly [lon: number, lat: number])[];
}

/** Evenly distributed, unlike `double`, which prefers small numbers. */
const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 1_000_000 }).map((part) => min + (part / 1_000_000) * (max - min));
const fraction = between(0, 1);
const slack = fc.oneof(
  fc.constant(1e-6),
  between(-6, 1).map((power) => 10 ** power),
);

/** A star of up to 300 corners, with a hole around its middle, in a spot of up to 100 km. */
const manyCorners = fc
  .tuple(
    fc.record({
      lon: fc.oneof(between(-180, 180), fc.constantFrom(180, -179.9999)),
      lat: between(-85, 85),
      size: between(0, 5).map((exponent) => 10 ** exponent),
    }),
    fc.array(between(0.8, 1), { minLength: 60, maxLength: 300, size: 'max' }),
  )
  .map(([{ lon, lat, size }, radii]) => {
    const star = radii.flatMap((radius, i) => {
      const angle = (2 * Math.PI * i) / radii.length;
      const [dx, dy] = degrees(size * radius * Math.cos(angle), size * radius * Math.sin(angle), lat);
      return [lon + dx, lat + dy];
    });
    const [dx, dy] = degrees(size / 5, size / 5, lat);
    const hole = corners(lon - dx, lat - dy, lon + dx, lat + dy).toReversed();
    return [Float64Array.from([...star, star[0]!, star[1]!]), Float64Array.from(hole.flat())];
  });
const simple = anySpot
  .chain(regionAt)
  .filter((region) => region.kind === 'polygon')
  .map((region) => region.rings);

const cases: fc.Arbitrary<Case> = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: manyCorners }, simple), slack)
  .chain(([rings, slackMeters]) => {
    const ring = rings[0]!;
    const lons = ring.filter((_, i) => i % 2 === 0);
    const lats = ring.filter((_, i) => i % 2 === 1);
    const [west, east, south, north] = [Math.min(...lons), Math.max(...lons), Math.min(...lats), Math.max(...lats)];
    const anywhere = fc.tuple(fraction, fraction).map(([x, y]): [number, number] => {
      return [west + (1.2 * x - 0.1) * (east - west), south + (1.2 * y - 0.1) * (north - south)];
    });
    // Meters from a position on an edge, from micrometers to ten times the slack.
    const off = fc
      .tuple(between(-7, 1), fc.constantFrom(-1, 0, 1))
      .map(([power, sign]) => sign * 10 ** power * Math.max(1, slackMeters));
    const nearEdge = fc
      .tuple(fc.constantFrom(...rings), fraction, fraction, off, off)
      .map(([of, which, along, dx, dy]): [number, number] => {
        const i = 2 * Math.min(of.length / 2 - 2, Math.floor(which * (of.length / 2 - 1)));
        const [lon, lat] = [of[i]! + along * (of[i + 2]! - of[i]!), of[i + 1]! + along * (of[i + 3]! - of[i + 1]!)];
        const [east, north] = degrees(dx, dy, lat);
        return [lon + east, lat + north];
      });
    const corner = fraction.map((which): [number, number] => {
      const i = 2 * Math.floor(which * (ring.length / 2 - 1));
      return [ring[i]!, ring[i + 1]!];
    });
    const position = fc.oneof({ weight: 3, arbitrary: anywhere }, nearEdge, corner);
    return fc.record({
      rings: fc.constant(rings),
      slackMeters: fc.constant(slackMeters),
      positions: fc.array(position, { minLength: 40, maxLength: 40 }),
    });
  });

describe('PolygonRaster', () => {
  it('agrees with GEOS and with the distance to the edges wherever it is certain', async () => {
    const geos = await openGeos();
    let certain = 0;
    fc.assert(
      fc.property(cases, ({ rings, slackMeters, positions }) => {
        const edges = new EdgeChain(rings);
        withRaster(geos, { rings, slackMeters }, (raster, covers) => {
          for (const [lon, lat] of positions) {
            const side = raster.at(lon, lat);
            if (side === NEAR_EDGE) continue;
            certain++;
            assert.equal(side, covers(lon, lat) ? INSIDE : OUTSIDE);
            const place = new SurfacePoint();
            place.set(wrapped(lon), lat);
            assert.equal(edges.nearest(place, slackMeters), Infinity, 'farther from the edges than the slack');
          }
        });
      }),
      { seed: SEED, numRuns: 600 },
    );
    assert.ok(certain > 4000, `${certain} of 24,000 positions are certain`);
  });

  it('changes no answer of the index', async () => {
    const index = await openFenceIndex();
    fc.assert(
      fc.property(cases, fc.constantFrom(0, 0, 1), ({ rings, slackMeters, positions }, radius) => {
        const region = { kind: 'polygon', rings, slackMeters } as const;
        index.set(1, region);
        const corner = point(wrapped(rings[0]![0]!), rings[0]![1]!);
        for (let test = rings.flatMap((ring) => [...ring]).length / 2; test >= 0; test--) index.touches(1, corner);
        for (const [lon, lat] of positions.slice(0, 15)) {
          // The first test of a region has no raster.
          index.set(0, region);
          const footprint = point(wrapped(lon), lat, radius);
          assert.equal(index.touches(1, footprint), index.touches(0, footprint));
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
    for (const slot of [0, 1]) index.delete(slot);
  });

  it('is certain of most positions in the box of a polygon of 500 corners', async () => {
    const geos = await openGeos();
    withRaster(geos, { rings: [outline(500)], slackMeters: 1e-6 }, (raster) => {
      const sides = [0, 0, 0];
      for (let i = 0; i < 10_000; i++) {
        const [dx, dy] = degrees(((i % 100) - 49.5) * 1.2, (Math.floor(i / 100) - 49.5) * 1.2, 50);
        sides[raster.at(8.3 + dx, 50 + dy)]!++;
      }
      // Three quarters of the box are inside, and the band that the corners are in is an eighth of it.
      assert.ok(sides[NEAR_EDGE]! < 2000 && sides[INSIDE]! > 6000 && sides[OUTSIDE]! > 1000, `${sides}`);
    });
  });

  it('needs GEOS for none of the positions of which it is certain', async () => {
    const geos = await openGeos();
    const index = await openFenceIndex();
    index.set(0, { kind: 'polygon', rings: [outline(500)], slackMeters: 0 });
    for (let test = 0; test < 501; test++) assert.equal(index.touches(0, point(8.3, 50)), true);
    const { covers } = geos;
    let calls = 0;
    geos.covers = (...of) => {
      calls++;
      return covers.call(geos, ...of);
    };
    try {
      const [dx, dy] = degrees(59, 59, 50);
      assert.equal(index.touches(0, point(8.3, 50)), true);
      assert.equal(index.touches(0, point(8.3 + dx, 50 + dy)), false);
      assert.equal(calls, 0);
      assert.equal(index.touches(0, point(8.3 + dx, 50 + dy, 30)), true, 'an extent reaches the edge');
      const [east] = degrees(57.5, 0, 50);
      index.touches(0, point(8.3 + east, 50));
      assert.equal(calls, 1, 'GEOS decides in the band of the corners');
    } finally {
      geos.covers = covers;
      index.delete(0);
    }
  });
});

/** A ring with corners at 55 to 60 m from its middle. */
function outline(count: number): Float64Array {
  const ring = Array.from({ length: count }, (_, i): readonly [number, number] => {
    const angle = (2 * Math.PI * i) / count;
    const radius = 55 + ((i * 37) % 51) / 10;
    const [dx, dy] = degrees(radius * Math.cos(angle), radius * Math.sin(angle), 50);
    return [8.3 + dx, 50 + dy];
  });
  return Float64Array.from([...ring, ring[0]!].flat());
}

function withRaster(
  geos: Geos,
  { rings, slackMeters }: Pick<Case, 'rings' | 'slackMeters'>,
  use: (raster: PolygonRaster, covers: (lon: number, lat: number) => boolean) => void,
): void {
  const polygon = geos.prepare(rings);
  const covers = (lon: number, lat: number): boolean => geos.covers(polygon, lon, lat);
  use(new PolygonRaster(rings, slackMeters, covers), covers);
  geos.destroy(polygon);
}

function wrapped(lon: number): number {
  return lon - 360 * Math.round(lon / 360);
}
