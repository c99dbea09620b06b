import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Body } from '../../src/core/collision/body.ts';
import { collect, move, newGrid, putIn, startSearch, TOUCH_METERS, takeOut } from '../../src/core/collision/grid.ts';
import { bodyOf, moved, ORIGIN, placeAt } from './collision_motions.ts';

/** State of a body: removed, or within `spread` meters of a position, with some reach. */
const places = fc.constantFrom(
  ORIGIN,
  { lon: 180, lat: 12 },
  { lon: 0, lat: 90 },
  { lon: 77, lat: -90 },
  { lon: -180, lat: -0.00001 },
);
const reach = fc.oneof(
  fc.constantFrom(0, 0, 0.25, 0.5, 1, 8, 1000, 30_000),
  fc.double({ min: 0, max: 3, noNaN: true }),
  fc.double({ min: 0, max: 500, noNaN: true }),
);
const spread = fc.constantFrom(2, 20, 400, 5000);

interface Scene {
  readonly origin: { lon: number; lat: number };
  readonly spread: number;
  readonly changes: readonly (readonly [id: number, east: number, north: number, reach: number, leaves: boolean])[];
}

const scene: fc.Arbitrary<Scene> = fc.record({
  origin: places,
  spread,
  changes: fc.array(
    fc.tuple(
      fc.nat(24),
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
      reach,
      fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    ),
    { minLength: 20, maxLength: 120 },
  ),
});

/** Expected result of the grid: all pairs of bodies within reach of each other, except two points. */
function expected(body: Body, bodies: Iterable<Body>): string[] {
  const found: string[] = [];
  for (const other of bodies) {
    if (other === body) continue;
    if (other.reachMeters === 0 && body.reachMeters === 0) continue;
    const distance = Math.hypot(other.x - body.x, other.y - body.y, other.z - body.z);
    if (distance <= other.reachMeters + body.reachMeters + TOUCH_METERS) found.push(other.motion.id);
  }
  return found.sort();
}

suite('collision grid', () => {
  test('finds the same pairs as brute force for any sizes and positions, while bodies are added, moved, resized and removed', () => {
    let pairs = 0;
    fc.assert(
      fc.property(scene, ({ origin, spread: meters, changes }) => {
        const bodies = new Map<string, Body>();
        const grid = newGrid(bodies);
        for (const [number, east, north, reachMeters, leaves] of changes) {
          const id = String(number);
          const known = bodies.get(id);
          if (leaves) {
            if (known !== undefined) takeOut(grid, known);
            bodies.delete(id);
            continue;
          }
          const target = bodyOf(
            moved(id, 0, { ...placeAt(east * meters, north * meters, origin), radiusMeters: reachMeters }),
          );
          const body = known ?? target;
          bodies.set(id, body);
          if (known === undefined) putIn(grid, body);
          else move(grid, body, Float64Array.of(target.x, target.y, target.z), reachMeters);
          const found: Body[] = [];
          startSearch(grid, body);
          collect(grid, body, found);
          pairs += found.length;
          assert.deepEqual(found.map(({ motion }) => motion.id).sort(), expected(body, bodies.values()));
        }
        for (const body of bodies.values()) takeOut(grid, body);
        assert.deepEqual(grid.levels, []);
      }),
      { seed: 5, numRuns: 150 },
    );
    assert.ok(pairs > 1000, `only ${pairs} pairs were met`);
  });

  test('does not return bodies that the search has already visited', () => {
    const bodies = new Map<string, Body>();
    const grid = newGrid(bodies);
    for (const id of ['a', 'b', 'c']) {
      const body = bodyOf(moved(id, 0, { radiusMeters: 1 }));
      bodies.set(id, body);
      putIn(grid, body);
    }
    const [a, b, c] = [...bodies.values()] as [Body, Body, Body];
    const search = startSearch(grid, a);
    b.seenIn = search;
    const found: Body[] = [];
    collect(grid, a, found);
    assert.deepEqual(found, [c]);
  });
});
