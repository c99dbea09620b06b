import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Polygon } from '../../src/model/geojson.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { uniform } from '../support/uniform.ts';

const RECEIVED = 1000;

function at(x: number): Polygon {
  return {
    type: 'Polygon',
    coordinates: [
      [
        [x, 0],
        [x + 15, 0],
        [x + 15, 10],
        [x, 10],
        [x, 0],
      ],
    ],
  };
}

/** Locations of one tag, all received at the same time, in random order. */
async function memberships(track: readonly { second: number; x: number; floor: number }[]): Promise<unknown> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), trackable('cart', ['tag'], { radius: 1.5 }));
  for (const [i, x] of [0, 10, 20, 30].entries()) harness.tell(0, fence(square({ id: `f${i}`, region: at(x) })));
  harness.tell(0, fence(square({ id: 'upstairs', region: at(5), floor: 1 })));
  harness.tell(RECEIVED, ...track.map(({ second, x, floor }) => inHall(second, [x, 5], { floor })));
  const providers = harness.ask(RECEIVED, { ask: 'provider_fences', id: 'tag', spatial: false }) as { ids: string[] };
  const trackables = harness.ask(RECEIVED, { ask: 'trackable_fences', id: 'cart', spatial: false }) as {
    ids: string[];
  };
  const location = harness.ask(RECEIVED, { ask: 'provider_location', id: 'tag', view: { crs: 'local' } });
  const { speed: _, course: __, ...last } = JSON.parse((location as { texts: string[] }).texts[0] as string);
  return [[...providers.ids].sort(), [...trackables.ids].sort(), last];
}

test('The order of arrival of a track changes neither its final location nor its memberships', async () => {
  const sighting = fc.record({
    second: fc.integer({ min: 0, max: RECEIVED }),
    x: uniform(-5, 50),
    floor: fc.constantFrom(0, 0, 1),
  });
  const tracks = fc.uniqueArray(sighting, { selector: ({ second }) => second, minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      tracks.chain((track) => fc.tuple(fc.constant(track), fc.shuffledSubarray(track, { minLength: track.length }))),
      async ([track, shuffled]) => {
        const inOrder = track.toSorted((a, b) => a.second - b.second);
        assert.deepEqual(await memberships(shuffled), await memberships(inOrder));
      },
    ),
    { numRuns: 100, seed: 7 },
  );
});
