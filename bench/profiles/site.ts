import { degreesAt, gridPlace } from '../load/movers.ts';
import { type FlipPlan, providerId, type WalkPlan } from '../load/plan.ts';
import { randomFrom } from '../load/random.ts';
import type { FenceBody } from '../process/contender.ts';

/** Fences of the standard site, and the side of the square that contains them at its density. */
export const SITE_FENCES = 1000;
const SITE_METERS = 3000;

/** Providers that move among fences. Each call creates new ones. */
export interface FencedScene {
  readonly plan: WalkPlan | FlipPlan;
  fences(): Iterable<FenceBody>;
}

/** Side of a square in which this many fences have the density of the standard site. */
export function sideFor(fences: number): number {
  return SITE_METERS * Math.sqrt(fences / SITE_FENCES);
}

interface PolygonFences {
  readonly count: number;
  readonly vertices: number;
  readonly sideMeters: number;
  readonly radiusMeters: readonly [least: number, most: number];
}

/** Polygons of irregular outline at random positions in a square. */
export function* polygonFences({ count, vertices, sideMeters, radiusMeters }: PolygonFences): Generator<FenceBody> {
  const random = randomFrom(7);
  const [least, most] = radiusMeters;
  for (let i = 0; i < count; i++) {
    const [x, y] = [sideMeters * random(), sideMeters * random()];
    const ring = Array.from({ length: vertices }, (_, corner) => {
      const angle = (2 * Math.PI * corner) / vertices;
      const radius = least + (most - least) * random();
      return degreesAt(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    });
    yield { name: `fence ${i}`, region: { type: 'Polygon', coordinates: [[...ring, ring[0] as number[]]] } };
  }
}

/** Circular fences on a grid. */
export function* roundFences(
  count: number,
  grid: { spacingMeters: number; radiusMeters: number },
): Generator<FenceBody> {
  for (let i = 0; i < count; i++) {
    const coordinates = degreesAt(...gridPlace(i, count, grid.spacingMeters));
    yield { name: `fence ${i}`, region: { type: 'Point', coordinates }, radius: grid.radiusMeters };
  }
}

/** Trackables with one provider each. */
export function* trackables(count: number, more: object = {}): Generator<object> {
  for (let i = 0; i < count; i++) {
    yield { type: 'omlox', name: `person ${i}`, location_providers: [providerId(i)], ...more };
  }
}
