import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FenceEvent } from '../../src/model/events.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, provider, ShardHarness, T0, trackable, zone } from '../support/shard_harness.ts';
import { type Crossing, MembershipModel, type Setting, type Values } from './membership_model.ts';

const durations = fc.constantFrom(undefined, undefined, null, 0, 500, 1500, 4000, -1);

const values = fc.record<Values>({
  timeout: durations,
  exit_tolerance: fc.constantFrom(undefined, undefined, null, 0, 1, 3),
  tolerance_timeout: durations,
  exit_delay: durations,
  entry_tolerance_timeout: durations,
  entry_delay: durations,
});
/** Two of three objects set no timing: otherwise the fence's values would hardly ever apply. */
const perhaps = fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: values });

const settings: fc.Arbitrary<Setting> = fc.record({
  provider: perhaps,
  trackable: perhaps,
  fence: fc.tuple(values, fc.constantFrom(undefined, undefined, 1, 2)).map(([all, entry]) => ({
    ...all,
    ...(entry !== undefined && { entry_tolerance: entry }),
  })),
});

/** The next action: the object is located some meters outside the fence's eastern edge, or time passes. */
const action = fc.record({
  afterMs: fc.constantFrom(0, 100, 499, 500, 501, 1000, 1500, 2500, 6000),
  lagMs: fc.constantFrom(0, 0, 0, 300, -2000),
  metersOutside: fc.constantFrom(undefined, -4.5, -2.5, -1.5, -0.5, -0.5, 0.5, 0.5, 2.5, 2.5, 20),
});

type Fix = { afterMs: number; lagMs: number; metersOutside: number | undefined };

function modelled(setting: Setting, actions: readonly Fix[]): Crossing[] {
  const model = new MembershipModel(setting);
  let nowMs = T0 + 1000;
  let lastKeyMs = 0;
  for (const { afterMs, lagMs, metersOutside } of actions) {
    nowMs += afterMs;
    const eventTimeMs = Math.min(nowMs, nowMs - lagMs);
    if (metersOutside === undefined || eventTimeMs < lastKeyMs) model.wait(nowMs);
    else {
      lastKeyMs = eventTimeMs;
      model.see(nowMs, eventTimeMs, metersOutside);
    }
  }
  model.wait(nowMs + 60_000);
  return model.crossings;
}

/** Returns the events of the tag and its cart in a shard. */
async function observed(setting: Setting, actions: readonly Fix[]): Promise<[Crossing[], Crossing[]]> {
  const harness = await ShardHarness.open();
  const { timeout: ofProvider, ...providerValues } = setting.provider;
  const { timeout: ofTrackable, ...trackableValues } = setting.trackable;
  harness.tell(
    0,
    zone(),
    fence({ ...square({ id: 'dock' }), ...setting.fence } as Parameters<typeof fence>[0]),
    provider('tag', { ...providerValues, fence_timeout: ofProvider } as object),
    trackable('cart', ['tag'], { ...trackableValues, fence_timeout: ofTrackable } as object),
  );
  let nowMs = 1000;
  for (const { afterMs, lagMs, metersOutside } of actions) {
    nowMs += afterMs;
    if (metersOutside === undefined) harness.step(nowMs / 1000);
    else harness.tell(nowMs / 1000, inHall((nowMs - lagMs) / 1000, [10 + metersOutside, 5]));
  }
  harness.step(nowMs / 1000 + 60);
  const events = harness.takeFenceEvents();
  const of = (isCart: boolean): Crossing[] =>
    events.filter(({ trackable_id: id }) => (id === 'cart') === isCart).map(crossing);
  return [of(false), of(true)];
}

function crossing({ entry_time, exit_time }: FenceEvent): Crossing {
  const entryMs = Date.parse(entry_time as string);
  return exit_time == null ? ['entry', entryMs] : ['exit', entryMs, Date.parse(exit_time)];
}

test('Providers and trackables cross a fence as the model predicts, for all timing values and positions', async () => {
  let crossings = 0;
  await fc.assert(
    fc.asyncProperty(settings, fc.array(action, { minLength: 8, maxLength: 24 }), async (setting, actions) => {
      const expected = modelled(setting, actions);
      assert.deepEqual(await observed(setting, actions), [expected, expected]);
      crossings += expected.length;
    }),
    { numRuns: 400, seed: 7 },
  );
  assert.ok(crossings > 500, `only ${crossings} crossings`);
});
