import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fence } from '../../src/model/fence.ts';
import { square } from '../support/hall.ts';
import {
  deleted,
  fence,
  inHall,
  provider,
  type ShardCommand,
  ShardHarness,
  trackable,
  zone,
} from '../support/shard_harness.ts';
import { brief } from './brief.ts';

const IN = [5, 5] as const;
/** One meter outside, and far away. */
const NEAR = [11, 5] as const;
const OUT = [50, 5] as const;

type Step = readonly [second: number, ...commands: ShardCommand[]];

const dock = (more: Partial<Fence> = {}): ShardCommand => fence(square({ id: 'dock', ...more }));

/** Events of the cart and its tag. They are equal unless a case concerns only one of them. */
async function observed(first: Partial<Fence>, steps: readonly Step[]): Promise<{ tag: string[]; cart: string[] }> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), dock(first), provider('tag'), trackable('cart', ['tag']));
  for (const [second, ...commands] of steps) harness.tell(second, ...commands);
  const events = harness.takeFenceEvents();
  const of = (isCart: boolean) => brief(events.filter(({ trackable_id: id }) => (id === 'cart') === isCart));
  const short = (lines: string[]) => lines.map((line) => line.replace(/ dock (tag|cart)/, ''));
  return { tag: short(of(false)), cart: short(of(true)) };
}

interface Case {
  readonly name: string;
  readonly first?: Partial<Fence>;
  readonly steps: readonly Step[];
  readonly hears: readonly string[];
}

const BAND = { exit_tolerance: 2 };

const CASES: readonly Case[] = [
  {
    name: 'a timeout that is set while a member is silent, and not over yet, counts from its last location',
    steps: [[1, inHall(1, IN)], [1.5, dock({ timeout: 1000 })], [60]],
    hears: ['entry 1', 'exit 1-2'],
  },
  {
    name: 'a timeout that has passed when it is set ends at the moment of the change',
    steps: [[1, inHall(1, IN)], [10, dock({ timeout: 1000 })], [60]],
    hears: ['entry 1', 'exit 1-10'],
  },
  {
    name: 'a longer timeout postpones the exit',
    first: { timeout: 5000 },
    steps: [[1, inHall(1, IN)], [2, dock({ timeout: 20_000 })], [60]],
    hears: ['entry 1', 'exit 1-21'],
  },
  ...[-1, 0, null].map((timeout) => ({
    name: `a timeout of ${timeout} ends a running one`,
    first: { timeout: 2000 },
    steps: [[1, inHall(1, IN)], [2, dock({ timeout })], [60]] as Step[],
    hears: ['entry 1'],
  })),
  {
    name: 'a name is no change of timers',
    first: { timeout: 2000 },
    steps: [[1, inHall(1, IN)], [2.5, dock({ timeout: 2000, name: 'Dock' })], [60]],
    hears: ['entry 1', 'exit 1-3'],
  },
  {
    name: 'a shorter exit delay counts from when the object went out',
    first: { exit_delay: 60_000 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, OUT)], [4, inHall(4, OUT)], [5, dock({ exit_delay: 4000 })], [60]],
    hears: ['entry 1', 'exit 1-6'],
  },
  {
    name: 'an exit delay that has passed when it is set ends at the moment of the change',
    first: { exit_delay: -1 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, OUT)], [30, dock({ exit_delay: 1000 })], [60]],
    hears: ['entry 1', 'exit 1-30'],
  },
  {
    name: 'an exit delay of -1 ends a running one',
    first: { exit_delay: 5000 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, OUT)], [3, dock({ exit_delay: -1 })], [60]],
    hears: ['entry 1'],
  },
  {
    name: 'a tolerance timeout starts when the object enters the tolerance zone',
    first: BAND,
    steps: [[1, inHall(1, IN)], [2, inHall(2, NEAR)], [3, dock({ ...BAND, tolerance_timeout: 4000 })], [60]],
    hears: ['entry 1', 'exit 1-6'],
  },
  {
    name: 'a tolerance timeout that is removed stops the timer, and the fence timeout applies',
    first: { ...BAND, tolerance_timeout: 5000 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, NEAR)], [3, dock(BAND)], [60]],
    hears: ['entry 1'],
  },
  {
    name: 'a new tolerance timeout shortens a running exit delay, and its removal changes nothing',
    first: { exit_delay: 40_000 },
    steps: [
      [1, inHall(1, IN)],
      [2, inHall(2, OUT)],
      [3, dock({ exit_delay: 40_000, tolerance_timeout: 9000 })],
      [4, dock({ exit_delay: 40_000 })],
      [60],
    ],
    hears: ['entry 1', 'exit 1-42'],
  },
  {
    name: 'a smaller exit tolerance puts a member outside since its last location',
    first: { ...BAND, exit_delay: 5000 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, NEAR)], [4, dock({ exit_tolerance: 0.5, exit_delay: 5000 })], [60]],
    hears: ['entry 1', 'exit 1-7'],
  },
  {
    name: 'a greater exit tolerance holds a member back',
    first: { exit_delay: 5000 },
    steps: [[1, inHall(1, IN)], [2, inHall(2, NEAR)], [4, dock({ ...BAND, exit_delay: 5000 })], [60]],
    hears: ['entry 1'],
  },
  {
    name: 'a shorter entry delay starts at the entry of the object',
    first: { entry_delay: 60_000 },
    steps: [[1, inHall(1, IN)], [2, dock({ entry_delay: 3000, timeout: 10_000 })], [60]],
    hears: ['entry 1', 'exit 1-11'],
  },
  {
    name: "a trackable's own timeout times it, and its only provider",
    steps: [[1, inHall(1, IN)], [3, trackable('cart', ['tag'], { fence_timeout: 1000 })], [60]],
    hears: ['entry 1', 'exit 1-3'],
  },
  {
    name: "a provider's own exit delay times it, and the trackable at its location",
    steps: [
      [0, provider('tag', { exit_delay: 60_000 })],
      [1, inHall(1, IN)],
      [2, inHall(2, OUT)],
      [3, provider('tag', { exit_delay: 4000 })],
      [60],
    ],
    hears: ['entry 1', 'exit 1-6'],
  },
];

describe('A changed timer of silent members:', () => {
  for (const { name, first = {}, steps, hears } of CASES) {
    test(name, async () => {
      assert.deepEqual(await observed(first, steps), { tag: hears, cart: hears });
    });
  }

  test('a provider is timed by its trackable only while that is the only one', async () => {
    const timed = { fence_timeout: 5000 };
    const { tag, cart } = await observed({}, [
      [0, trackable('cart', ['tag'], timed), trackable('lift', [])],
      [1, inHall(1, IN)],
      [2, trackable('lift', ['tag'])],
      [60],
    ]);
    assert.deepEqual([tag[0], tag.includes('exit 1-6')], ['entry 1', false]);
    assert.deepEqual(cart, ['entry 1', 'exit 1-6']);
    const again = await observed({}, [
      [0, trackable('cart', ['tag'], timed), trackable('lift', ['tag'])],
      [1, inHall(1, IN)],
      [10, deleted('trackable', 'lift')],
      [60],
    ]);
    assert.deepEqual(again.tag, ['entry 1', 'entry dock lift 1', 'exit dock lift 1-10', 'exit 1-10']);
  });

  test('deadlines at one moment fire once, for providers first, each in id order', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), dock(), trackable('b', ['q']), trackable('a', ['p']));
    harness.tell(1, inHall(1, IN, { provider_id: 'q' }), inHall(1, IN, { provider_id: 'p' }));
    harness.takeFenceEvents();
    harness.tell(9, dock({ timeout: 1000 }));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit dock p 1-9',
      'exit dock q 1-9',
      'exit dock a 1-9',
      'exit dock b 1-9',
    ]);
    harness.step(100);
    assert.deepEqual(harness.takeFenceEvents(), []);
  });
});
