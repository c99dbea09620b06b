import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item } from '../../src/core/item.ts';
import { fence, itemOf, locationAt, type ShardCommand, T0 } from '../support/shard_harness.ts';
import { checkSubscriptions, checkTakeovers } from './simulation/check.ts';
import type { KeptStep } from './simulation/journaled_steps.ts';
import { Oracle } from './simulation/oracle.ts';
import { timelinesOf } from './simulation/timelines.ts';

const OBJECTS = ['p1', 'p2'];
/** Two positions, 700 m apart. */
const [HERE, THERE] = [9, 9.01];

function fenceAt(lon: number): ShardCommand {
  return fence({ id: 'f', region: { type: 'Point', coordinates: [lon, 50] }, radius: 100 });
}

function located(provider: string, second: number, lon: number): ShardCommand {
  return locationAt(second, lon, 50, { provider_id: provider });
}

/** Steps of hubs with these commands, one second apart. */
function stepsOf(
  commands: readonly (readonly [incarnation: string, command: ShardCommand | Moving])[],
): readonly KeptStep[] {
  return commands.map(([incarnation, command], order) => {
    const nowMs = T0 + order * 1000;
    const item = isMoving(command) ? (command as unknown as Item) : itemOf(command, order, nowMs);
    return { incarnation, order, atMs: order * 1000, nowMs, flushBudget: 0, items: [item] };
  });
}

interface Moving {
  readonly kind: 'takeOver' | 'release';
}

function isMoving(command: { readonly kind: string }): command is Moving {
  return command.kind === 'takeOver' || command.kind === 'release';
}

function takeOver(...providers: readonly string[]): Moving {
  const of = { objects: { providers, trackables: [] }, heldUntilMs: 0, receivedMs: T0 };
  return { kind: 'takeOver', ...of } as Moving;
}

function release(...providers: readonly string[]): Moving {
  return { kind: 'release', providers, trackables: [] } as Moving;
}

async function crossings(steps: readonly KeptStep[]): Promise<readonly string[]> {
  const { published } = await Oracle.of(
    steps,
    timelinesOf(steps, OBJECTS, () => ''),
  );
  return published.flatMap(({ topic, of, what }) => (topic === 'fence_events' ? [`${of} ${what}`] : [])).toSorted();
}

test('An oracle evaluates each object by the configuration of its owner, which others may have applied earlier', async () => {
  const steps = stepsOf([
    ['a', fenceAt(HERE)],
    ['b', fenceAt(HERE)],
    ['a', located('p1', 2, HERE)],
    ['a', fenceAt(THERE)],
    ['b', located('p2', 4, HERE)],
    ['b', fenceAt(THERE)],
  ]);
  assert.equal(timelinesOf(steps, OBJECTS, () => '').length, 2);
  const both = ['region_entry', 'region_exit'];
  assert.deepEqual(await crossings(steps), [
    ...both.map((what) => `p1 f ${what}`),
    ...both.map((what) => `p2 f ${what}`),
  ]);
});

test('A released object is evaluated with the entities of its next owner', async () => {
  const steps = stepsOf([
    ['a', fenceAt(HERE)],
    ['b', fenceAt(HERE)],
    ['a', located('p1', 2, HERE)],
    ['a', release('p1')],
    ['a', fenceAt(THERE)],
    ['b', takeOver('p1')],
    ['b', located('p1', 6, HERE)],
    ['b', fenceAt(THERE)],
  ]);
  assert.deepEqual(await crossings(steps), ['p1 f region_entry', 'p1 f region_exit']);
  assert.deepEqual(await crossings(steps.slice(0, 7)), ['p1 f region_entry']);
});

test('Objects that one hub owns together have one timeline, whichever hubs own them in turn', () => {
  const steps = stepsOf([
    ['a', takeOver(...OBJECTS)],
    ['a', located('p1', 1, HERE)],
    ['b', takeOver(...OBJECTS)],
    ['b', located('p2', 3, HERE)],
  ]);
  const [timeline, ...others] = timelinesOf(steps, OBJECTS, () => '');
  assert.deepEqual([...(timeline?.objects ?? [])], OBJECTS);
  assert.deepEqual(
    timeline?.takeovers.map(({ by }) => by),
    ['a', 'b'],
  );
  assert.deepEqual(others, []);
});

const TAKEOVERS: readonly (readonly [
  what: string,
  commands: Parameters<typeof stepsOf>[0],
  sealedMs: number,
  wrongs: number,
])[] = [
  [
    'from an owner that is still active',
    [
      ['a', takeOver('p1')],
      ['b', takeOver('p1')],
    ],
    Infinity,
    1,
  ],
  [
    'from a sealed owner',
    [
      ['a', takeOver('p1')],
      ['b', takeOver('p1')],
    ],
    500,
    0,
  ],
  [
    'from an owner that has released it',
    [
      ['a', takeOver('p1')],
      ['a', release('p1')],
      ['b', takeOver('p1')],
    ],
    Infinity,
    0,
  ],
  [
    'by a hub that already owns it',
    [
      ['a', takeOver('p1')],
      ['a', takeOver('p1')],
    ],
    Infinity,
    0,
  ],
];

for (const [what, commands, sealedMs, expected] of TAKEOVERS) {
  test(`A takeover ${what} is ${expected === 0 ? 'right' : 'wrong'}`, () => {
    const wrongs: string[] = [];
    checkTakeovers(
      timelinesOf(stepsOf(commands), ['p1'], () => ''),
      () => sealedMs,
      (wrong) => wrongs.push(wrong),
    );
    assert.equal(wrongs.length, expected, wrongs.join('\n'));
  });
}

/** What a subscription has received of a log with the events 1, 2 and 3, and whether that is right. */
for (const [received, endedMs, isRight] of [
  ['1 2 3', Infinity, true],
  ['2 3', Infinity, true],
  ['2', 5, true],
  ['', Infinity, true],
  ['2', Infinity, false],
  ['1 3', Infinity, false],
  ['2 1', 5, false],
  ['2 2 3', Infinity, false],
  ['2 3 4', Infinity, false],
  ['4', 5, false],
] as const) {
  const state = endedMs === Infinity ? 'open' : 'ended';
  test(`An ${state} subscription that has received "${received}" of 1 2 3 is ${isRight ? 'right' : 'wrong'}`, () => {
    const event = (id: string): string => JSON.stringify({ id, provider_id: 'p' });
    const texts = received === '' ? [] : received.split(' ').map(event);
    const observed = [{ hub: 'a1', topic: 'fence_events' as const, openedMs: 0, endedMs, texts }];
    const logged = ['1', '2', '3'].map((id) => ({ cursor: id, topic: 'fence_events' as const, json: event(id) }));
    const wrongs: string[] = [];
    checkSubscriptions(observed, logged as never, (what) => wrongs.push(what));
    assert.equal(wrongs.length, isRight ? 0 : 1, wrongs.join());
  });
}
