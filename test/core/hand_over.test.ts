import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExportedState } from '../../src/core/item.ts';
import type { Fence } from '../../src/model/fence.ts';
import { HALL, square } from '../support/hall.ts';
import { deleted, fence, forced, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const VIEW = { crs: 'local' };

/** Two shards with the same fence. The first one owns a cart with a tag. */
async function openTwo(more: Partial<Fence> = {}): Promise<[from: ShardHarness, to: ShardHarness]> {
  const from = await ShardHarness.open();
  const to = await ShardHarness.open();
  for (const harness of [from, to]) harness.tell(0, zone(), fence(square({ id: 'dock', ...more })));
  from.tell(0, provider('tag'), trackable('cart', ['tag'], { radius: 1 }));
  return [from, to];
}

/** Moves tag and cart as between threads: as a structured clone. */
function move(from: ShardHarness, to: ShardHarness, second: number): void {
  const release = {
    kind: 'exportState',
    id: 7,
    providers: ['tag', 'unknown'],
    trackables: ['cart', 'unknown'],
  } as const;
  const { answers } = from.tell(second, release);
  assert.deepEqual(
    answers.map(([id]) => id),
    [7],
  );
  to.tell(second, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
}

describe('an object that migrates to another shard', () => {
  test('publishes nothing', async () => {
    const [from, to] = await openTwo();
    from.tell(1, inHall(1, IN));
    const before = from.events.length;
    move(from, to, 2);
    assert.equal(from.events.length, before);
    assert.deepEqual(to.events, []);
    assert.deepEqual(to.outcomes.at(-1)?.motions, []);
  });

  test('retains its memberships, location, motion and order', async () => {
    const [from, to] = await openTwo();
    from.tell(5, inHall(5, IN));
    const queries = [
      { ask: 'provider_location', id: 'tag', view: VIEW },
      { ask: 'trackable_motion', id: 'cart', view: VIEW },
      { ask: 'trackable_fences', id: 'cart', spatial: false },
      { ask: 'fence_providers', id: 'dock', spatial: false },
      { ask: 'fence_trackables', id: 'dock', spatial: true },
    ] as const;
    const before = queries.map((query) => from.ask(6, query));
    move(from, to, 7);
    assert.deepEqual(
      queries.map((query) => to.ask(8, query)),
      before,
    );
    const absent = [{ absent: true }, { absent: true }, { ids: [] }, { ids: [] }, { ids: [] }];
    assert.deepEqual(
      queries.map((query) => from.ask(8, query)),
      absent,
    );
    assert.equal(to.tell(9, inHall(4, IN)).counts.outdated, 1);
    to.tell(10, inHall(10, OUT));
    assert.deepEqual(brief(to.takeFenceEvents()), ['exit dock tag 5-10', 'exit dock cart 5-10']);
  });

  for (const { name, more, path, expected } of [
    { name: 'fence timeout', more: { timeout: 9000 }, path: [IN], expected: 'exit dock tag 1-10' },
    { name: 'exit delay', more: { exit_delay: 9000 }, path: [IN, OUT], expected: 'exit dock tag 1-11' },
    {
      name: 'tolerance timeout',
      more: { exit_tolerance: 3, tolerance_timeout: 9000 },
      path: [IN, [12, 5]],
      expected: 'exit dock tag 1-11',
    },
    { name: 'entry delay', more: { entry_delay: 9000 }, path: [IN, IN], expected: 'entry dock tag 1' },
    {
      name: 'entry tolerance timeout',
      more: { entry_tolerance: 2, entry_tolerance_timeout: 9000 },
      path: [
        [9.5, 5],
        [9.6, 5],
      ],
      expected: 'entry dock tag 1',
    },
  ] as { name: string; more: Partial<Fence>; path: [number, number][]; expected: string }[]) {
    test(`continues with its ${name}`, async () => {
      const [from, to] = await openTwo(more);
      for (const [i, place] of path.entries()) from.tell(1 + i, inHall(1 + i, place));
      from.takeFenceEvents();
      move(from, to, 3);
      from.step(60);
      to.step(60);
      assert.deepEqual(from.takeFenceEvents(), []);
      assert.deepEqual(brief(to.takeFenceEvents()), [expected, expected.replace('tag', 'cart')]);
    });
  }

  test('ends its collisions from its current position', async () => {
    const [from, to] = await openTwo();
    from.tell(1, inHall(1, IN));
    move(from, to, 2);
    const { motions } = to.tell(3, deleted('trackable', 'cart'));
    assert.deepEqual(
      motions.map(({ kind, id }) => [kind, id]),
      [['gone', 'cart']],
    );
  });

  test('gets the row of a pending crossing from the old shard, and later rows from the new one', async () => {
    const [from, to] = await openTwo();
    const items = from.items(1, inHall(1, IN), {
      kind: 'exportState',
      id: 1,
      providers: ['tag'],
      trackables: ['cart'],
    });
    const outcome = from.step(1, items);
    const memberships = ({ rows }: typeof outcome): unknown[] =>
      rows.map((row) => row.gone !== true && [row.id, row.memberships.map(([id]) => id)]);
    const expected = [
      ['tag', ['dock']],
      ['cart', ['dock']],
    ];
    assert.deepEqual(memberships(outcome), expected);
    assert.deepEqual(from.step(2).rows, []);
    const state = structuredClone(outcome.answers[0]?.[1] as ExportedState);
    assert.deepEqual(memberships(to.tell(2, { kind: 'importState', state })), expected);
  });

  test('may migrate back, and to a shard with a newer version of its entity', async () => {
    const [from, to] = await openTwo();
    from.tell(1, inHall(1, IN));
    move(from, to, 2);
    move(to, from, 3);
    to.tell(4, trackable('cart', ['tag'], { name: 'new' }), provider('tag', { exit_delay: 4000 }));
    move(from, to, 5);
    to.tell(6, inHall(6, OUT));
    assert.deepEqual(
      to.takeMotions().map(({ name }) => name),
      ['new'],
    );
    to.step(10);
    assert.deepEqual(brief(to.takeFenceEvents()), ['exit dock tag 1-10', 'exit dock cart 1-10']);
  });

  test('leaves a fence that was deleted in the meantime without an event', async () => {
    const [from, to] = await openTwo();
    from.tell(1, inHall(1, IN));
    to.tell(2, deleted('fence', 'dock'));
    move(from, to, 3);
    assert.deepEqual(to.ask(4, { ask: 'provider_fences', id: 'tag', spatial: false }), { ids: [] });
    to.tell(5, inHall(5, OUT));
    assert.deepEqual(to.takeFenceEvents(), []);
  });

  test('moves with the plane of its zone', async () => {
    const [from, to] = await openTwo();
    const third = 1 / 3;
    from.tell(1, inHall(1, [third, 5]));
    const x = (harness: ShardHarness): number => {
      const { texts } = harness.ask(9, { ask: 'provider_location', id: 'tag', view: VIEW }) as { texts: string[] };
      return JSON.parse(texts[0] as string).position.coordinates[0];
    };
    assert.equal(x(from), third);
    const move10 = (harness: ShardHarness, second: number): void => {
      const rows = (HALL.ground_control_points as number[][]).map((row, i) =>
        i % 2 === 0 ? row : [(row[0] as number) - 10, row[1] as number],
      );
      harness.tell(second, zone({ ...HALL, ground_control_points: rows }));
    };
    const lon = (harness: ShardHarness): number => {
      const view = { crs: 'EPSG:4326' };
      const { texts } = harness.ask(9, { ask: 'provider_location', id: 'tag', view }) as { texts: string[] };
      return JSON.parse(texts[0] as string).position.coordinates[0];
    };
    const before = lon(from);
    move(from, to, 3);
    assert.deepEqual([x(to), lon(to)], [third, before]);
    move10(to, 4);
    assert.equal(x(to), third);
    assert.ok(lon(to) > before, `${lon(to)} is east of ${before}`);
  });

  test('retains its position: what it carries does not move without a new location', async () => {
    const [from, to] = await openTwo();
    const box = trackable('box', [], { parent: 'cart' });
    from.tell(0, box);
    from.tell(1, inHall(1, IN));
    const { answers } = from.tell(2, { kind: 'exportState', id: 1, providers: ['tag'], trackables: ['box', 'cart'] });
    to.tell(2, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
    to.tell(3, forced(trackable('cart', ['tag'], { name: 'Cart' })));
    assert.deepEqual(briefMotions(to.takeMotions()), ['cart by tag of 1']);
    to.tell(4, inHall(1, IN));
    assert.deepEqual(briefMotions(to.takeMotions()), ['cart by tag of 1', 'box by tag of 1']);
  });

  test('carries and is carried as before', async () => {
    const [from, to] = await openTwo();
    from.tell(0, trackable('box', [], { parent: 'cart' }));
    from.tell(1, inHall(1, IN));
    const { answers } = from.tell(2, { kind: 'exportState', id: 1, providers: ['tag'], trackables: ['box', 'cart'] });
    to.tell(2, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
    to.tell(3, inHall(3, IN));
    assert.deepEqual(briefMotions(to.takeMotions()), ['cart by tag of 3', 'box by tag of 3']);
  });
});
