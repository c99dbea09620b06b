import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { CollisionRow } from '../../src/core/collision/row.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { meters, RunningShards, trackable } from './running_shards.ts';

const CARTS = 6;

/** Returns collisions so far as `colliding cart 1 cart 2 since <start> at <time>`. */
function collisionsOf(running: RunningShards): string[] {
  const reported = running.events.filter(({ topic }) => topic === 'collision_events');
  return reported.map(({ collision_type: type, collisions, start_time, collision_time, end_time }) => {
    const ids = (collisions as readonly { readonly id: string }[]).map(({ id }) => id).join(' ');
    return `${type} ${ids} since ${start_time} at ${end_time ?? collision_time ?? start_time}`;
  });
}

function open(shards: number, { beforeStore, carts = CARTS }: OpenOptions = {}): RunningShards {
  const running = new RunningShards({ shards, batchMax: 20, ...(beforeStore && { beforeStore }) });
  for (let cart = 0; cart < carts; cart++) running.tell(cartOf(cart));
  return running;
}

interface OpenOptions {
  readonly beforeStore?: (rows: readonly unknown[]) => Promise<void> | undefined;
  /** Number of carts configured at the start; all by default. */
  readonly carts?: number;
}

function cartOf(cart: number, more: Partial<Trackable> = {}) {
  return trackable(`cart ${cart}`, [`tag ${cart}`], { radius: 2, ...more });
}

const step = fc.record({
  cart: fc.nat(CARTS - 1),
  east: fc.double({ min: 0, max: 25, noNaN: true }),
  after: fc.oneof(
    { weight: 16, arbitrary: fc.constant('go on' as const) },
    { weight: 4, arbitrary: fc.constantFrom('yield' as const, 'delete' as const, 'forget' as const) },
    { weight: 2, arbitrary: fc.constantFrom('kill' as const, 'settle and kill' as const) },
    { weight: 1, arbitrary: fc.constant('kill all' as const) },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A sequence of steps that starts at a given second, with or without worker failures. */
interface Play {
  readonly steps: readonly Step[];
  readonly fromSecond: number;
  readonly kills: boolean;
  readonly more: Partial<Trackable> | undefined;
}

/** Plays the steps with new carts and returns the published collisions. */
async function play(running: RunningShards, { steps, fromSecond, kills, more }: Play): Promise<readonly string[]> {
  const before = collisionsOf(running).length;
  running.second = fromSecond;
  for (let cart = 0; cart < CARTS; cart++) running.tell(cartOf(cart, more));
  let deaths = 0;
  for (const { cart, east, after } of steps) {
    running.second++;
    running.location(`tag ${cart}`, meters(east, 0));
    if (after === 'go on') continue;
    if (after === 'delete') {
      running.tell({ kind: 'trackable', id: `cart ${cart}`, entity: undefined });
      running.tell(cartOf(cart, more));
    }
    if (after === 'forget') running.shards.forget(`tag ${cart}`);
    // A batch whose worker is killed repeatedly is eventually given up.
    if (after === 'settle and kill' || (after.includes('kill') && ++deaths % 2 === 0)) await running.settle();
    if (kills && after.includes('kill')) await running.collisions.kill();
    if (kills && after === 'kill all') await Promise.all(running.shards.lanes.map((lane) => lane.kill()));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await running.settle();
  assert.equal(running.counts.workerRestarts > 0, kills && steps.some(({ after }) => after.includes('kill')));
  return collisionsOf(running).slice(before);
}

/** Resets all state, so that other steps can be played. */
async function clear(running: RunningShards): Promise<void> {
  for (let cart = 0; cart < CARTS; cart++) {
    running.tell({ kind: 'trackable', id: `cart ${cart}`, entity: undefined });
    running.shards.forget(`tag ${cart}`);
  }
  await running.settle();
}

/**
 * Plays random steps twice: with workers that are killed, and with workers that survive. All runs share the surviving
 * workers, since starting workers dominates the run time.
 */
async function assertSameCollisions(
  t: TestContext,
  { more, ...runs }: { readonly numRuns: number; readonly seed: number; readonly more?: Partial<Trackable> },
): Promise<void> {
  const living = open(2, { carts: 0 });
  t.after(() => living.close());
  let fromSecond = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 60 }), async (steps) => {
    const dying = open(2, { carts: 0 });
    const [expected, reported] = await Promise.all([
      play(living, { steps, fromSecond, kills: false, more }),
      play(dying, { steps, fromSecond, kills: true, more }),
    ]);
    await Promise.all([dying.close(), clear(living)]);
    fromSecond += 1000;
    assert.ok(expected.length > 0);
    assert.deepEqual(reported, expected);
  });
  await fc.assert(property, { ...runs, endOnFailure: true });
}

test('Killing the collision worker does not change the published collisions', async (t) => {
  await assertSameCollisions(t, { numRuns: 1, seed: 98 });
});

test('Killing the collision worker does not stop the timers of held pairs', async (t) => {
  const more = { exit_tolerance: 4, tolerance_timeout: 9000, exit_delay: 6000 };
  await assertSameCollisions(t, { numRuns: 2, seed: 9, more });
});

test('A new collision worker recovers all colliding pairs and positions', async (t) => {
  const running = open(2);
  t.after(() => running.close());
  for (const [index, east] of [0, 3, 50, 70].entries()) running.location(`tag ${index}`, meters(east, 0));
  await running.settle();
  await running.collisions.kill();
  running.second = 10;
  running.location('tag 2', meters(68, 0));
  running.location('tag 1', meters(9, 0));
  await running.settle();
  assert.deepEqual(
    collisionsOf(running).map((collision) => collision.replaceAll(/2026-03-01T12:00:|\.000Z/g, '')),
    [
      'collision_start cart 1 cart 0 since 00 at 00',
      'collision_start cart 2 cart 3 since 10 at 10',
      'collision_end cart 1 cart 0 since 00 at 10',
    ],
  );
  assert.equal(running.counts.workerRestarts, 1);
});

test('A collision worker that is killed repeatedly during recovery loses nothing', async (t) => {
  const running = open(1);
  t.after(() => running.close());
  running.location('tag 0', meters(0, 0));
  running.location('tag 1', meters(3, 0));
  await running.settle();
  await running.collisions.kill();
  let kills = 2;
  running.onClock = () => {
    if (kills-- > 0) void running.collisions.kill();
  };
  running.second = 5;
  running.location('tag 1', meters(30, 0));
  await running.settle();
  assert.deepEqual(
    collisionsOf(running).map((collision) => collision.split(' ')[0]),
    ['collision_start', 'collision_end'],
  );
});

test('Collision starts and ends are published in order after they are stored', async (t) => {
  const commits: (() => void)[] = [];
  const committed: CollisionRow[] = [];
  const beforeStore = (rows: readonly unknown[]) => {
    const own = (rows as readonly CollisionRow[]).filter(({ kind }) => kind === 'collision');
    if (own.length === 0) return undefined;
    committed.push(...own);
    return new Promise<void>((resolve) => commits.push(resolve));
  };
  const running = open(1, { beforeStore });
  t.after(() => running.close());
  const types = () => collisionsOf(running).map((collision) => collision.split(' ')[0]);
  const { counts } = running;
  const move = async (east: number, isEvaluated: () => boolean) => {
    running.second++;
    running.location('tag 1', meters(east, 0));
    while (!isEvaluated()) await new Promise((resolve) => setImmediate(resolve));
  };
  running.location('tag 0', meters(0, 0));
  await running.settle();
  await move(3, () => counts.collisionsStarted === 1);
  assert.equal(committed.at(-1)?.gone, undefined);
  assert.deepEqual(types(), []);
  await move(2, () => counts.collisionsColliding === 1);
  assert.deepEqual(types(), [], 'it continues after its start was published');
  commits[0]?.();
  await move(30, () => counts.collisionsEnded === 1);
  assert.deepEqual(types(), ['collision_start', 'colliding']);
  assert.equal(committed.at(-1)?.gone, true);
  commits[1]?.();
  await running.settle();
  assert.deepEqual(types(), ['collision_start', 'colliding', 'collision_end']);
});

test('A collision that cannot be stored is published immediately', async (t) => {
  const running = open(1, { beforeStore: () => Promise.reject(new Error('the disk is full')) });
  t.after(() => running.close());
  running.location('tag 0', meters(0, 0));
  running.location('tag 1', meters(3, 0));
  await running.shards.settled().catch(() => undefined);
  await running.collisions.settled();
  assert.equal(collisionsOf(running).length, 1);
});
