import type { Footprint, Nearby, Region } from '../../src/core/fence/fence_index.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { openGeos } from '../../wasm/geos.ts';
import { PATH_LENGTH, writeCellPath } from '../../wasm/h3.ts';
import { degreesAt, UNITS_PER_DEGREE, Walkers } from '../load/movers.ts';
import { randomFrom } from '../load/random.ts';
import { type Kernel, repeated } from './kernel.ts';

const SIDE_METERS = 3000;
const FENCES = 1000;
const WALKERS = 10_000;
const COUNTER_CLOCKWISE = 2 * Math.PI;

/** H3, GEOS, and the index that avoids calling them. */
export const GEOMETRY: readonly Kernel[] = [
  {
    name: 'h3_cell',
    summary: 'the finest cell at a position, as a path',
    prepare() {
      const path = new Uint8Array(PATH_LENGTH);
      return repeated((turn) => writeCellPath({ lon: 8.3 + (turn % 1000) * 1e-5, lat: 50 }, path, 0));
    },
  },
  geosKernel(16),
  geosKernel(500),
  {
    name: 'fence_index',
    summary: 'the fences near a walker among 1,000, and whether it touches them',
    async prepare() {
      const index = await openFenceIndex();
      const random = randomFrom(7);
      for (let slot = 0; slot < FENCES; slot++) {
        const [east, north] = [SIDE_METERS * random(), SIDE_METERS * random()];
        index.set(slot, { kind: 'polygon', rings: [ringAround(east, north, 16)], slackMeters: 0 } satisfies Region);
      }
      const walkers = new Walkers(WALKERS, { sideMeters: SIDE_METERS, stepMeters: 1.4, seed: 1 });
      const near: (Nearby | undefined)[] = [];
      let touched = 0;
      return repeated((turn) => {
        const who = turn % WALKERS;
        walkers.move(who);
        const footprint = pointAt(walkers.lon[who] as number, walkers.lat[who] as number);
        const nearby = index.near(near[who], footprint);
        near[who] = nearby;
        for (const slot of nearby.slots) if (index.touches(slot, footprint)) touched++;
        return touched;
      });
    },
  },
];

function geosKernel(vertices: number): Kernel {
  return {
    name: `geos_covers_${vertices}`,
    summary: `whether a prepared polygon of ${vertices} vertices covers a point`,
    async prepare() {
      const geos = await openGeos();
      const polygon = geos.prepare([ringAround(100, 100, vertices)]);
      const [lon, lat] = degreesAt(100, 100);
      const calls = repeated((turn) => geos.covers(polygon, lon + (turn % 100) * 1e-6, lat));
      return { ...calls, close: () => geos.destroy(polygon) };
    },
  };
}

function ringAround(east: number, north: number, vertices: number): Float64Array {
  const ring = new Float64Array(2 * vertices + 2);
  for (let i = 0; i <= vertices; i++) {
    const angle = (COUNTER_CLOCKWISE * (i % vertices)) / vertices;
    ring.set(degreesAt(east + 20 * Math.cos(angle), north + 20 * Math.sin(angle)), 2 * i);
  }
  return ring;
}

function pointAt(lon: number, lat: number): Footprint {
  const at = { lon: lon / UNITS_PER_DEGREE, lat: lat / UNITS_PER_DEGREE };
  return { ...at, radiusMeters: 0, ring: undefined, reachMeters: 0 };
}
