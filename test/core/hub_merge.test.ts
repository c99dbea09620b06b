import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { HubMerge } from '../../src/core/collision/hub_merge.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import { gone, moved } from './collision_motions.ts';

/** Formats motions as `id@time`. */
function brief(motions: readonly Motion[]): string[] {
  return motions.map(({ id, receivedMs }) => `${id}@${receivedMs}`);
}

type Step =
  | { readonly of: string; readonly add: readonly Motion[] }
  | { readonly of: string; readonly passed: number }
  | { readonly of: string; readonly stood: true }
  | { readonly take: number; readonly gives: readonly string[] };

const TABLE: readonly { readonly what: string; readonly steps: readonly Step[] }[] = [
  {
    what: 'motions of two hubs are taken by time of receipt, up to a time',
    steps: [
      { of: 'x', add: [moved('a', 1), moved('a', 4)] },
      { of: 'y', add: [moved('b', 2), moved('b', 3)] },
      { take: 4, gives: ['a@1', 'b@2', 'b@3'] },
      { take: 5, gives: ['a@4'] },
    ],
  },
  {
    what: 'of the same time those of the hub with the smaller name are first',
    steps: [
      { of: 'y', add: [moved('b', 1), moved('c', 1)] },
      { of: 'x', add: [moved('a', 1)] },
      { take: 2, gives: ['a@1', 'b@1', 'c@1'] },
    ],
  },
  {
    what: 'the order of a hub stays, whatever the times',
    steps: [
      { of: 'x', add: [moved('a', 5), moved('b', 1)] },
      { of: 'y', add: [moved('c', 3)] },
      { take: 5, gives: ['c@3'] },
      { take: 6, gives: ['a@5', 'b@1'] },
    ],
  },
  {
    what: 'a reported position is ordered by the progress of its hub',
    steps: [
      { of: 'x', passed: 4 },
      { of: 'x', add: [moved('a', 1, { kind: 'stands' })] },
      { of: 'y', add: [moved('b', 3)] },
      { take: 4, gives: ['b@3'] },
      { take: 5, gives: ['a@1'] },
    ],
  },
  {
    what: 'a late motion is taken with the next ones',
    steps: [
      { of: 'x', add: [moved('a', 5)] },
      { take: 6, gives: ['a@5'] },
      { of: 'y', add: [moved('b', 2)] },
      { of: 'x', add: [moved('a', 6)] },
      { take: 7, gives: ['b@2', 'a@6'] },
    ],
  },
  {
    what: "the old hub's state of a trackable that has migrated is ignored",
    steps: [
      { of: 'y', add: [moved('a', 5)] },
      { take: 6, gives: ['a@5'] },
      { of: 'x', add: [moved('a', 4), gone('a', 4)] },
      { take: 7, gives: [] },
      { of: 'y', add: [gone('a', 7)] },
      { take: 8, gives: ['a@7'] },
      { of: 'x', add: [moved('a', 6)] },
      { take: 9, gives: [] },
    ],
  },
  {
    what: 'a trackable that a hub does not report after its loss is removed',
    steps: [
      { of: 'x', add: [moved('a', 1), moved('b', 2), moved('c', 3)] },
      { of: 'y', add: [moved('d', 1)] },
      { take: 4, gives: ['a@1', 'd@1', 'b@2', 'c@3'] },
      { of: 'y', add: [moved('c', 4)] },
      { of: 'x', passed: 5 },
      { of: 'x', add: [moved('a', 1, { kind: 'stands' }), moved('e', 6)] },
      { of: 'x', stood: true },
      { take: 7, gives: ['c@4', 'a@1', 'e@6', 'b@2'] },
    ],
  },
  {
    what: 'a trackable may move to another hub at the same time',
    steps: [
      { of: 'x', add: [moved('a', 5)] },
      { of: 'y', add: [moved('a', 5)] },
      { take: 6, gives: ['a@5', 'a@5'] },
    ],
  },
];

suite('the order of motions of several hubs', () => {
  for (const { what, steps } of TABLE) {
    test(what, () => {
      const merge = new HubMerge();
      let seq = 0;
      for (const step of steps) {
        if ('add' in step) {
          const numbered = step.add.map((motion) => ({ ...motion, seq: ++seq }));
          merge.add(step.of, numbered);
        } else if ('stood' in step) merge.stood(step.of);
        else if ('passed' in step) merge.passed(step.of, step.passed);
        else assert.deepEqual(brief(merge.take(step.take)), step.gives);
      }
      assert.equal(merge.waiting, 0);
    });
  }

  test("returns the first sequence of a hub's pending motions", () => {
    const merge = new HubMerge();
    merge.add('x', [moved('a', 1, { seq: 7 }), moved('a', 2, { seq: 8 })]);
    assert.equal(merge.firstOf('x'), 7);
    merge.take(2);
    assert.equal(merge.firstOf('x'), 8);
    merge.take(3);
    assert.equal(merge.firstOf('x'), undefined);
    assert.equal(merge.firstOf('y'), undefined);
  });

  test('ignores a retransmitted motion, whether or not the first one was taken', () => {
    const merge = new HubMerge();
    const sent = [moved('a', 1, { seq: 7 }), moved('b', 2, { seq: 8 }), moved('a', 3, { seq: 9 })];
    merge.add('x', sent.slice(0, 2));
    assert.deepEqual(brief(merge.take(2)), ['a@1']);
    merge.add('x', sent);
    assert.deepEqual(brief(merge.take(5)), ['b@2', 'a@3']);
    assert.equal(merge.waiting, 0);
  });

  const HUBS = ['x', 'y', 'z'];
  const sent = fc.array(fc.record({ hub: fc.nat(2), gapMs: fc.nat(3), isGone: fc.boolean() }), { maxLength: 60 });

  test('is that of a single hub that has received all motions, regardless of their delay', () => {
    fc.assert(
      fc.property(sent, fc.array(fc.nat(2), { maxLength: 200 }), (all, arrivals) => {
        // Each hub has its own trackables. Motions with equal times are ordered by the names of their hubs.
        const queues = HUBS.map((): Motion[] => []);
        const received: { readonly hub: number; readonly motion: Motion }[] = [];
        let atMs = 0;
        for (const [index, { hub, gapMs, isGone }] of all.entries()) {
          atMs += gapMs;
          const id = `${HUBS[hub]}${index % 3}`;
          const motion = { ...(isGone ? gone(id, atMs) : moved(id, atMs)), seq: index };
          queues[hub]?.push(motion);
          received.push({ hub, motion });
        }
        const expected = received
          .toSorted((one, other) => one.motion.receivedMs - other.motion.receivedMs || one.hub - other.hub)
          .map(({ motion }) => motion);
        const merge = new HubMerge();
        const taken: Motion[] = [];
        const passed = HUBS.map(() => 0);
        // Motions of the hubs, interleaved randomly. Each hub reports progress up to its next motion.
        for (const hub of [...arrivals, ...HUBS.flatMap((_, index) => all.map(() => index)), 0, 1, 2]) {
          const queue = queues[hub] as Motion[];
          const next = queue.shift();
          if (next !== undefined) merge.add(HUBS[hub] as string, [next]);
          passed[hub] = queue[0]?.receivedMs ?? Number.POSITIVE_INFINITY;
          merge.passed(HUBS[hub] as string, passed[hub]);
          taken.push(...merge.take(Math.min(...passed)));
        }
        assert.deepEqual(taken, expected);
      }),
      { seed: 15, numRuns: 300 },
    );
  });
});
