import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import proj4 from 'proj4';
import { compileRegion } from '../../src/core/fence/region.ts';
import type { ToWgs84 } from '../../src/core/geo/crs.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import type { Fence } from '../../src/model/fence.ts';
import { point } from './places.ts';

type Rings = [number, number][][];

const utm32 = proj4('EPSG:4326', '+proj=utm +zone=32 +datum=WGS84 +units=m');
const ups = proj4(
  'EPSG:4326',
  '+proj=stere +lat_0=90 +lon_0=0 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84 +units=m',
);

function plane(projection: { inverse(position: [number, number]): number[] }): ToWgs84 {
  return (x, y, out) => {
    const [lon = Number.NaN, lat = Number.NaN] = projection.inverse([x, y]);
    out[0] = lon;
    out[1] = lat;
  };
}

function polygonal(coordinates: Rings): Fence {
  return { id: 'f', region: { type: 'Polygon', coordinates } };
}

function compiledRings(coordinates: Rings): number[][] {
  const region = compileRegion(polygonal(coordinates), undefined);
  assert.ok(region?.kind === 'polygon');
  return region.rings.map((ring) => [...ring]);
}

describe('compileRegion', () => {
  const rows: readonly { name: string; given: Rings; rings: number[][] }[] = [
    {
      name: 'keeps a region',
      given: [
        [
          [8, 50],
          [9, 50],
          [9, 51],
          [8, 50],
        ],
      ],
      rings: [[8, 50, 9, 50, 9, 51, 8, 50]],
    },
    {
      name: 'closes rings, drops duplicates and turns them',
      given: [
        [
          [8, 50],
          [9, 51],
          [9, 51],
          [9, 50],
        ],
      ],
      rings: [[8, 50, 9, 50, 9, 51, 8, 50]],
    },
    {
      name: 'turns holes the other way',
      given: [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 9],
        ],
        [
          [1, 1],
          [2, 1],
          [2, 2],
        ],
      ],
      rings: [
        [0, 0, 9, 0, 9, 9, 0, 9, 0, 0],
        [1, 1, 2, 2, 2, 1, 1, 1],
      ],
    },
    {
      name: 'unwraps a region over the antimeridian',
      given: [
        [
          [179, 0],
          [-179, 0],
          [-179, 1],
          [179, 1],
        ],
      ],
      rings: [[179, 0, 181, 0, 181, 1, 179, 1, 179, 0]],
    },
    {
      name: 'brings holes into the frame of the exterior',
      given: [
        [
          [170, 0],
          [-170, 0],
          [-170, 9],
          [170, 9],
        ],
        [
          [-175, 1],
          [-174, 2],
          [-174, 1],
        ],
      ],
      rings: [
        [170, 0, 190, 0, 190, 9, 170, 9, 170, 0],
        [185, 1, 186, 2, 186, 1, 185, 1],
      ],
    },
    {
      name: 'keeps the world as it is',
      given: [
        [
          [-180, -90],
          [180, -90],
          [180, 90],
          [-180, 90],
        ],
      ],
      rings: [[-180, -90, 180, -90, 180, 90, -180, 90, -180, -90]],
    },
    {
      name: 'closes a ring around the north pole through the pole',
      given: [
        [
          [0, 80],
          [90, 80],
          [180, 80],
          [-90, 80],
          [0, 80],
        ],
      ],
      rings: [[0, 80, 90, 80, 180, 80, 270, 80, 360, 80, 360, 90, 0, 90, 0, 80]],
    },
    {
      name: 'closes a ring around the south pole through the pole',
      given: [
        [
          [-90, -70],
          [0, -70],
          [90, -70],
          [180, -70],
        ],
      ],
      rings: [[-90, -70, -90, -90, 270, -90, 270, -70, 180, -70, 90, -70, 0, -70, -90, -70]],
    },
  ];
  for (const { name, given, rings } of rows) {
    it(name, () => {
      assert.deepEqual(compiledRings(given), rings);
    });
  }

  it('creates circles from points', () => {
    const fence: Fence = { id: 'f', region: { type: 'Point', coordinates: [190, 50, 7] }, radius: 12 };
    assert.deepEqual(compileRegion(fence, undefined), { kind: 'circle', lon: -170, lat: 50, radiusMeters: 12 });
    const local: Fence = { ...fence, region: { type: 'Point', coordinates: [500_000, 5_500_000] } };
    const region = compileRegion(local, plane(utm32));
    assert.ok(region?.kind === 'circle');
    assert.ok(Math.abs(region.lon - 9) < 1e-9 && Math.abs(region.lat - 49.65) < 0.01);
    assert.equal(region.radiusMeters, 12);
  });

  it('has no region without a radius', () => {
    const at = { type: 'Point' as const, coordinates: [8, 50] };
    assert.equal(compileRegion({ id: 'f', region: at }, undefined), undefined);
    assert.equal(compileRegion({ id: 'f', region: at, radius: 0 }, undefined), undefined);
    assert.equal(
      compileRegion(
        polygonal([
          [
            [8, 50],
            [9, 50],
            [8, 50],
          ],
        ]),
        undefined,
      ),
      undefined,
    );
    assert.equal(
      compileRegion(
        polygonal([
          [
            [8, 50],
            [9, 50],
            [9, 99],
          ],
        ]),
        undefined,
      ),
      undefined,
    );
    const nowhere: ToWgs84 = (_x, _y, out) => out.fill(Number.NaN);
    assert.equal(
      compileRegion(
        polygonal([
          [
            [0, 0],
            [1, 0],
            [1, 1],
          ],
        ]),
        nowhere,
      ),
      undefined,
    );
    assert.equal(compileRegion({ id: 'f', region: at, radius: 3 }, nowhere), undefined);
  });

  it('follows the straight edges of a plane', async () => {
    const index = await openFenceIndex();
    const [west, south] = [480_000, 5_500_000];
    for (const size of [10, 1000, 30_000]) {
      const [east, north] = [west + size, south + size];
      const region = compileRegion(
        polygonal([
          [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
          ],
        ]),
        plane(utm32),
      );
      assert.ok(region?.kind === 'polygon');
      assert.ok(region.slackMeters <= 2e-4, `${region.slackMeters} m of slack`);
      index.set(0, region);
      for (let i = 0; i <= 200; i++) {
        const along = south + (size * (i + 0.5)) / 202;
        for (const [off, touches] of [
          [-1e-3, false],
          [0, true],
          [1e-3, true],
        ] as const) {
          const [lon = 0, lat = 0] = utm32.inverse([west + off, along]);
          assert.equal(index.touches(0, point(lon, lat)), touches, `${off} m off the edge, ${along - south} m along`);
          const [lon2 = 0, lat2 = 0] = utm32.inverse([west + along - south, north - off]);
          assert.equal(index.touches(0, point(lon2, lat2)), touches);
        }
      }
    }
  });

  it('bounds the points of huge regions and returns their maximum deviation', () => {
    const far = 900_000;
    const region = compileRegion(
      polygonal([
        [
          [100_000, 4e6],
          [far, 4e6],
          [far, 4e6 + 3e6],
          [100_000, 4e6 + 3e6],
        ],
      ]),
      plane(utm32),
    );
    assert.ok(region?.kind === 'polygon');
    const points = region.rings.reduce((sum, ring) => sum + ring.length / 2, 0);
    assert.ok(points <= 20_001 && points > 5000, `${points} points`);
    assert.ok(region.slackMeters > 2e-4 && region.slackMeters < 0.1, `${region.slackMeters} m of slack`);
  });

  it('accepts mirrored planes and planes across the antimeridian and the pole', async () => {
    const index = await openFenceIndex();
    const square: Rings = [
      [
        [-50, -50],
        [50, -50],
        [50, 50],
        [-50, 50],
      ],
    ];
    const mirrored: ToWgs84 = (x, y, out) => {
      const lon = 180 - x / 111_319;
      out[0] = lon > 180 ? lon - 360 : lon;
      out[1] = y / 110_574;
    };
    const compiled = compileRegion(polygonal(square), mirrored);
    assert.ok(compiled);
    index.set(0, compiled);
    for (const lon of [179.9999, -179.9999, 180, -180]) assert.equal(index.touches(0, point(lon, 0.0001)), true);
    assert.equal(index.touches(0, point(-179.999, 0.0001)), false);

    const around = square.map((ring) => ring.map(([x, y]): [number, number] => [x + 2e6, y + 2e6]));
    const polar = compileRegion(polygonal(around), plane(ups));
    assert.ok(polar);
    index.set(1, polar);
    assert.equal(index.touches(1, point(33, 90)), true);
    for (let lon = -180; lon < 180; lon += 7) {
      assert.equal(index.touches(1, point(lon, 90 - 49 / 111_700)), true);
      assert.equal(index.touches(1, point(lon, 90 - 72 / 111_000)), false);
    }
  });
});
