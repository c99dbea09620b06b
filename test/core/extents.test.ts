import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Trackable } from '../../src/model/trackable.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, iso, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';
import { BODY } from './site/steps.ts';

const TALL = { extrusion: 2 };
/** Two meters east of the dock. */
const NEAR = [12, 5] as const;

/** A cart with an extent, brought near the dock by its tag at second 1. */
async function openWithCart(
  extent: Partial<Trackable>,
  place: readonly [number, number] = NEAR,
): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })), trackable('cart', ['tag'], extent));
  harness.tell(1, inHall(1, place));
  news(harness);
  return harness;
}

/** Motions and fence events of trackables since the previous call. */
function news(harness: ShardHarness): string[] {
  const events = harness.takeFenceEvents().filter(({ trackable_id: id }) => id != null);
  return [...briefMotions(harness.takeMotions()), ...brief(events)];
}

const MOVED = 'cart by tag of 1';
/** Extends four meters to the west of the cart. */
const LONG = {
  ...BODY,
  coordinates: [
    [
      [-4, -1],
      [1, -1],
      [1, 1],
      [-4, 1],
      [-4, -1],
    ],
  ],
};

const CHANGES: readonly (readonly [name: string, Partial<Trackable>, Partial<Trackable>, string[]])[] = [
  ['a larger radius', { radius: 1 }, { radius: 3 }, [MOVED, 'entry dock cart 3']],
  ['a first radius', {}, { radius: 3 }, [MOVED, 'entry dock cart 3']],
  ['a smaller radius', { radius: 3 }, { radius: 1 }, [MOVED, 'exit dock cart 1-3']],
  ['no radius any more', { radius: 3 }, {}, [MOVED, 'exit dock cart 1-3']],
  ['another radius that touches no other fence', { radius: 1 }, { radius: 1.5 }, [MOVED]],
  ['a first geometry', {}, { geometry: LONG }, [MOVED, 'entry dock cart 3']],
  ['another geometry', { geometry: LONG }, { geometry: BODY }, [MOVED, 'exit dock cart 1-3']],
  ['a radius instead of a geometry', { geometry: LONG }, { geometry: LONG, radius: 1 }, [MOVED, 'exit dock cart 1-3']],
  ['an extrusion', { radius: 1 }, { radius: 1, ...TALL }, [MOVED]],
  ['another extrusion', { radius: 1, ...TALL }, { radius: 1, extrusion: 3 }, [MOVED]],
  ['the same extent', { radius: 3, ...TALL }, { radius: 3, ...TALL }, []],
  ['null instead of an unset extent', {}, { radius: null, geometry: null, extrusion: null }, []],
  ['another geometry under a radius', { radius: 1, geometry: BODY }, { radius: 1, geometry: LONG }, []],
  ['a radius of zero', {}, { radius: 0 }, []],
];

describe('a trackable that gets', () => {
  for (const [name, before, after, expected] of CHANGES) {
    test(`${name} is observed at that moment, with events for actual changes`, async () => {
      const harness = await openWithCart(before);
      const { motions } = harness.tell(3, trackable('cart', ['tag'], after));
      assert.deepEqual(news(harness), expected);
      const moved = motions.map((motion) => motion.kind === 'moved' && [motion.id, motion.eventTimeMs]);
      assert.deepEqual(moved, expected.length === 0 ? [] : [['cart', Date.parse(iso(3))]]);
      const [motion] = motions;
      if (motion?.kind === 'moved') {
        assert.deepEqual([motion.radiusMeters, motion.extrusion], [after.radius ?? 0, after.extrusion ?? undefined]);
      }
    });
  }

  test('another extent while its provider is removed is observed where it is', async () => {
    const harness = await openWithCart({ radius: 1 });
    harness.tell(3, trackable('cart', [], { radius: 3 }));
    assert.deepEqual(news(harness), [MOVED, 'entry dock cart 3']);
  });

  test('another extent while its rules change is observed once, where the rules move it', async () => {
    const harness = await openWithCart({ radius: 1 });
    harness.tell(2, trackable('cart', ['tag', 'other'], { radius: 1 }), inHall(0, [5, 5], { provider_id: 'other' }));
    const locating_rules = [{ expression: "provider_id = 'other'", priority: 1 }];
    harness.tell(3, trackable('cart', ['tag', 'other'], { radius: 2, locating_rules }));
    assert.deepEqual(news(harness), ['cart by other of 0', 'entry dock cart 3']);
  });

  test('an extent before it has a location is not observed', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock' })), trackable('cart', ['tag']));
    const { motions } = harness.tell(1, trackable('cart', ['tag'], { radius: 3 }));
    assert.deepEqual([motions, news(harness)], [[], []]);
  });
});
