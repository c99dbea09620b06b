import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { effectiveTiming, timingOfFence, timingOfObject } from '../../src/core/fence/timing.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { LocationProvider } from '../../src/model/provider.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const NEVER = Number.POSITIVE_INFINITY;

function timing(of: { fence?: Partial<Fence>; trackable?: Partial<Trackable>; provider?: Partial<LocationProvider> }) {
  return effectiveTiming(
    timingOfFence(square(of.fence)),
    timingOfObject(of.provider && { id: 'tag', type: 'uwb', ...of.provider }),
    timingOfObject(of.trackable && { id: 'cart', type: 'omlox', ...of.trackable }),
  );
}

describe('effectiveTiming', () => {
  test('without values has no timeout, no tolerances, no delays', () => {
    assert.deepEqual(timing({}), {
      fenceTimeoutMs: NEVER,
      exitToleranceMeters: 0,
      toleranceTimeoutMs: NEVER,
      toleranceTimeoutSet: false,
      exitDelayMs: 0,
      entryToleranceMeters: 0,
      entryToleranceTimeoutMs: NEVER,
      entryDelayMs: 0,
    });
  });

  const FIELDS = [
    ['fence_timeout', 'fenceTimeoutMs'],
    ['exit_tolerance', 'exitToleranceMeters'],
    ['tolerance_timeout', 'toleranceTimeoutMs'],
    ['exit_delay', 'exitDelayMs'],
    ['entry_tolerance_timeout', 'entryToleranceTimeoutMs'],
    ['entry_delay', 'entryDelayMs'],
  ] as const;

  for (const [field, effective] of FIELDS) {
    const ofFence = field === 'fence_timeout' ? 'timeout' : field;

    test(`takes ${field} from the provider, else the trackable, else the fence`, () => {
      const all = { fence: { [ofFence]: 3000 }, trackable: { [field]: 2000 }, provider: { [field]: 1000 } };
      assert.equal(timing(all)[effective], 1000);
      assert.equal(timing({ ...all, provider: { [field]: null } })[effective], 2000);
      assert.equal(timing({ ...all, provider: {}, trackable: {} })[effective], 3000);
    });

    test(`treats 0 as a set value of ${field}`, () => {
      const zero = field === 'fence_timeout' ? NEVER : 0;
      assert.equal(timing({ fence: { [ofFence]: 3000 }, provider: { [field]: 0 } })[effective], zero);
    });

    if (field === 'exit_tolerance') continue;
    test(`treats -1 as an infinite value of ${field}`, () => {
      assert.equal(timing({ fence: { [ofFence]: 3000 }, trackable: { [field]: -1 } })[effective], NEVER);
    });
  }

  test('takes entry_tolerance from the fence alone', () => {
    const entry_tolerance = 2;
    const objects = { trackable: { entry_tolerance: 9 } as object, provider: { entry_tolerance: 9 } as object };
    assert.equal(timing({ fence: { entry_tolerance }, ...objects }).entryToleranceMeters, 2);
    assert.equal(timing(objects).entryToleranceMeters, 0);
  });

  test('defaults to the fence timeout for an unset tolerance timeout', () => {
    assert.equal(timing({ trackable: { fence_timeout: 4000 } }).toleranceTimeoutMs, 4000);
    assert.equal(timing({ trackable: { fence_timeout: 4000 } }).toleranceTimeoutSet, false);
    assert.equal(timing({ fence: { tolerance_timeout: 0 } }).toleranceTimeoutSet, true);
  });

  test('falls back to the older name of the fence timeout if the newer is not set', () => {
    assert.equal(timing({ provider: { timeout: 1000 } }).fenceTimeoutMs, 1000);
    assert.equal(timing({ provider: { timeout: 1000, fence_timeout: 2000 } }).fenceTimeoutMs, 2000);
    assert.equal(timing({ trackable: { timeout: 1000 }, fence: { timeout: 5000 } }).fenceTimeoutMs, 1000);
  });
});

/** Exits of all objects after they have left the fence at 2 s. */
async function exits(...commands: Parameters<ShardHarness['tell']>[1][]): Promise<string[]> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock', exit_delay: 1000 })), ...commands);
  harness.tell(1, inHall(1, IN));
  harness.tell(2, inHall(2, OUT));
  harness.step(100);
  return brief(harness.takeFenceEvents()).filter((line) => line.startsWith('exit'));
}

describe("a provider's events are timed", () => {
  test('by the provider, then its only trackable', async () => {
    assert.deepEqual(await exits(trackable('cart', ['tag'], { exit_delay: 5000 })), [
      'exit dock tag 1-7',
      'exit dock cart 1-7',
    ]);
    const own = provider('tag', { exit_delay: 3000 });
    assert.deepEqual(await exits(own, trackable('cart', ['tag'], { exit_delay: 5000 })), [
      'exit dock tag 1-5',
      'exit dock cart 1-5',
    ]);
  });

  test('not by its trackables if it is on several', async () => {
    const [a, b] = [trackable('a', ['tag'], { exit_delay: 5000 }), trackable('b', ['tag'], { exit_delay: 7000 })];
    assert.deepEqual(await exits(a, b), ['exit dock tag 1-3', 'exit dock a 1-7', 'exit dock b 1-9']);
  });
});

describe("a trackable's events are timed", () => {
  test('by the provider of its significant location, not by its others', async () => {
    const other = provider('other', { exit_delay: 9000 });
    const cart = trackable('cart', ['tag', 'other'], { exit_delay: 4000 });
    assert.deepEqual(await exits(other, cart), ['exit dock tag 1-6', 'exit dock cart 1-6']);
    const tag = provider('tag', { exit_delay: 500 });
    assert.deepEqual(await exits(tag, cart), ['exit dock tag 1-2.5', 'exit dock cart 1-2.5']);
  });

  test('by values that were changed while they were silent', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock' })), provider('tag'), trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    harness.tell(2, provider('tag', { exit_delay: 2000 }));
    harness.tell(3, inHall(3, OUT));
    harness.tell(4, provider('tag', { exit_delay: 60_000 }));
    harness.step(100);
    assert.deepEqual(brief(harness.takeFenceEvents()).slice(2), ['exit dock tag 1-63', 'exit dock cart 1-63']);
  });
});
