import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { progressRow, storedStage } from '../../src/core/collision/progress.ts';
import { type CollisionRow, idsOf, type PairRow, storedCollision } from '../../src/core/collision/row.ts';
import type { Motion, TrackableMotion } from '../../src/core/motion/motion.ts';
import { gone, moved, placeAt, ringAt } from './collision_motions.ts';
import { brief, disc, openStage, read, type Stage, type Reported } from './collision_scene.ts';

const TOLERANT = { exitToleranceMeters: 2, toleranceTimeoutMs: 3000 };
const DELAYED = { exitDelayMs: 100 };

/** A stage, and the rows that its hub has stored. */
interface Kept {
  readonly stage: Stage;
  readonly rows: Map<string, CollisionRow>;
  step(motions: readonly Motion[], nowMs?: number): string[];
}

function keeping(stage = openStage(), rows = new Map<string, CollisionRow>()): Kept {
  return {
    stage,
    rows,
    step(motions, nowMs = motions.at(-1)?.receivedMs ?? 0) {
      const outcome = stage.step({ nowMs, motions });
      keep(rows, outcome);
      return outcome.events.map(brief);
    },
  };
}

function keep(rows: Map<string, CollisionRow>, outcome: Reported): void {
  for (const row of outcome.rows) {
    if (row.gone === true) rows.delete(row.id);
    else rows.set(row.id, row);
  }
}

function pairsOf({ rows }: Kept): string[] {
  return [...rows.keys()].map((id) => idsOf(id).join(' '));
}

function standing(motions: readonly TrackableMotion[]): TrackableMotion[] {
  return motions.map((motion) => ({ ...motion, kind: 'stands' }));
}

interface Again {
  readonly nowMs: number;
  readonly heldMs?: number;
  readonly stands: readonly TrackableMotion[];
  readonly gone?: readonly string[];
  readonly done?: readonly Motion[];
  readonly unfinished?: readonly Motion[];
  readonly publishedStep?: number;
}

/** A stage that recovers from the rows that another stage has stored. */
function again(
  kept: Kept,
  { nowMs, heldMs = 0, stands, gone = [], done = [], unfinished = [], publishedStep }: Again,
): Kept {
  const stage = openStage();
  const ahead = [...unfinished, ...standing(stands)];
  stage.restore({ nowMs, rows: [...kept.rows.values()], held: undefined, gone, heldMs, done, ahead, publishedStep });
  return keeping(stage, new Map(kept.rows));
}

suite('rows of collisions', () => {
  test('are inserted by a start and deleted by an end', () => {
    const kept = keeping();
    kept.step([disc('a', 1, 0), disc('b', 2, 1)]);
    assert.deepEqual(pairsOf(kept), ['a b']);
    kept.step([disc('b', 3, 9)]);
    assert.deepEqual(pairsOf(kept), []);
  });

  test('contain the start and both footprints, including rings', () => {
    const square = [
      [1, 1],
      [-1, 1],
      [-1, -1],
      [1, -1],
    ] as const;
    const box = moved('a', 1, { ring: ringAt(square), z: 1.5, extrusion: 2, providers: ['x', 'y'] });
    const { rows } = openStage().step({ nowMs: 2, motions: [box, disc('b', 2, 1)] });
    const [row] = JSON.parse(JSON.stringify(rows)) as [PairRow];
    const { a, b, timeMs } = storedCollision(row).begun;
    assert.deepEqual([a, b, timeMs], [box, disc('b', 2, 1), 2]);
  });

  test('are not written for pairs that start and end in one step', () => {
    const motions = [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 9)];
    assert.deepEqual(openStage().step({ nowMs: 3, motions }).rows, []);
  });

  test('contain the new start of a pair that ends and starts in one step', () => {
    const kept = keeping();
    kept.step([disc('a', 1, 0), disc('b', 2, 1)]);
    kept.step([disc('b', 3, 9), disc('b', 4, 1)]);
    assert.deepEqual(
      [...kept.rows.values()].map((row) => row.gone !== true && row.startMs),
      [4],
    );
  });
});

suite('a collision stage that recovers from another one', () => {
  const A = disc('a', 1, 0);
  const B = disc('b', 2, 1);
  const C = disc('c', 3, 50);

  /** `a` and `b` collide since 2, `c` is 50 m away. */
  function before(): Kept {
    const kept = keeping();
    kept.step([A, B, C]);
    return kept;
  }

  test('continues pairs, and knows reported positions', () => {
    const next = again(before(), { nowMs: 10, stands: [A, B, C] });
    assert.deepEqual(next.step([disc('a', 11, 0), disc('d', 12, 51), disc('b', 13, 9)]), [
      'colliding a b 11',
      'start d c 12',
      'end b a 13',
    ]);
    assert.deepEqual(pairsOf(next), ['c d']);
  });

  test('keeps the start of a pair', () => {
    const { stage } = again(before(), { nowMs: 10, stands: [A, B, C] });
    const [event] = stage.step({ nowMs: 11, motions: [disc('b', 11, 9)] }).events;
    assert.equal(event && Date.parse(read(event).start_time), 2);
  });

  test('ends a pair when one trackable is deleted', () => {
    const next = again(before(), { nowMs: 10, stands: [A, B, C] });
    assert.deepEqual(next.step([gone('a', 12)]), ['end a b 12']);
  });

  test('starts no collision between touching reported positions until one of them moves', () => {
    const next = again(keeping(), { nowMs: 10, stands: [A, B] });
    assert.deepEqual(next.step([], 11), []);
    assert.deepEqual(next.step([disc('a', 12, 0)]), ['start a b 12']);
  });

  test('restarts a running tolerance timeout and exit delay', () => {
    for (const [more, east, atMs] of [
      [TOLERANT, 3, 1000 + 3000],
      [DELAYED, 9, 1000 + 100],
    ] as const) {
      const kept = keeping();
      const [a, b] = [disc('a', 1, 0, more), disc('b', 3, east)];
      kept.step([a, B, b]);
      const next = again(kept, { nowMs: 1000, stands: [a, b] });
      assert.deepEqual(next.step([], atMs - 1), []);
      assert.deepEqual(next.step([], atMs), [`end b a ${atMs}`]);
    }
  });

  test('defers the end of a pair until both have moved, or until the deadline', () => {
    const held = () => again(before(), { nowMs: 10, heldMs: 500, stands: [A, B, C] });
    const both = held();
    assert.deepEqual(both.step([disc('a', 20, 30)]), [], 'b may have come along');
    assert.deepEqual(both.step([disc('b', 30, 31)]), ['colliding b a 30']);
    assert.deepEqual(both.step([disc('a', 40, 0)]), ['end a b 40']);
    const one = held();
    assert.deepEqual(one.step([disc('a', 20, 30)]), []);
    assert.deepEqual(one.step([], 499), []);
    assert.deepEqual(one.step([], 500), ['end a b 20']);
    const parted = held();
    assert.deepEqual(parted.step([disc('a', 20, 30), disc('b', 30, 9)]), ['end b a 30']);
    const after = held();
    assert.deepEqual(after.step([disc('a', 600, 30)]), ['end a b 600']);
  });

  test('ends a pair whose positions are still apart at the deadline', () => {
    const next = again(before(), { nowMs: 10, heldMs: 500, stands: [A, disc('b', 3, 9), C] });
    assert.deepEqual(next.step([], 499), []);
    assert.deepEqual(next.step([], 500), ['end b a 10']);
  });

  test('ends a pair of a deleted trackable, with both geometries', () => {
    const next = again(before(), { nowMs: 10, heldMs: 500, stands: [B, C], gone: ['a'] });
    assert.deepEqual(next.stage.state.bodies.has('a'), true);
    const { events } = next.stage.step({ nowMs: 500, motions: [] });
    assert.deepEqual(events.map(brief), ['end a b 10']);
    const [shown] = events.flatMap((event) => read(event).collisions);
    assert.equal(shown?.geometry?.type, 'Polygon');
    assert.deepEqual([...next.stage.state.bodies.keys()], ['b', 'c']);
    assert.deepEqual(
      next.step([disc('c', 600, 0)]),
      ['start c b 600'],
      'the deleted trackable is no longer at its position',
    );
  });

  test('passes the hold of a separated pair to a third stage', () => {
    const kept = keeping();
    kept.step([A, B]);
    const apart = standing([A, disc('b', 3, 9)]);
    const rows = [...kept.rows.values()];
    const heldMs = 2000;
    const second = openStage();
    second.restore({ nowMs: 1000, rows, held: undefined, gone: [], heldMs, done: [], ahead: apart });
    const { held } = second.step({ nowMs: 1001, motions: [] });
    const third = openStage();
    third.restore({ nowMs: 1002, rows, held, gone: [], heldMs, done: [], ahead: apart });
    assert.deepEqual(third.step({ nowMs: 1999, motions: [] }).ended, 0);
    assert.deepEqual(third.step({ nowMs: 2000, motions: [] }).ended, 1);
  });

  test('continues a pair of which one trackable has lost its position', () => {
    const next = again(before(), { nowMs: 10, stands: [B, C] });
    assert.deepEqual(next.step([disc('b', 11, 1.1), disc('a', 12, 9)]), ['colliding b a 11', 'end a b 12']);
  });

  test("prefers the position of the pair's row if it is newer, with the trackable's current extent", () => {
    const kept = keeping();
    kept.step([A, disc('b', 2, 30), disc('b', 5, 1)]);
    // The newest location of `b` was lost, and its radius was changed.
    const wide = { ...disc('b', 2, 30), radiusMeters: 5 };
    const next = again(kept, { nowMs: 10, stands: [A, wide] });
    assert.deepEqual(next.step([disc('a', 11, -4)]), ['colliding a b 11']);
    assert.deepEqual(next.step([disc('a', 12, -6)]), ['end a b 12']);
  });

  test('runs unfinished motions of the other stage from the positions before them', () => {
    const kept = before();
    const unfinished = [disc('c', 20, 2), disc('b', 21, 20), disc('d', 22, 50), gone('a', 23)];
    const stands = [disc('b', 21, 20), disc('c', 20, 2), disc('d', 22, 50)];
    const next = again(kept, { nowMs: 30, stands, done: [A, B, C], unfinished });
    assert.deepEqual(next.step(unfinished), ['start c a 20', 'start c b 20', 'end b a 21', 'end b c 21', 'end a c 23']);
  });

  test('republishes stored starts and ends exactly as the other stage did', () => {
    const stage = openStage();
    const [met, parted] = [
      { step: 3, nowMs: 3, motions: [A, B, C] },
      { step: 4, nowMs: 5, motions: [disc('c', 4, 1), disc('b', 5, 9)] },
    ].map((input) => stage.step({ ...input, isShared: true })) as [Reported, Reported];
    const rows = new Map<string, CollisionRow>();
    for (const { id, ...row } of [...met.rows, ...parted.rows]) rows.set(id, { id, ...row });
    const wanted = [...met.events, ...parted.events]
      .map(({ text }) => text)
      .filter((text) => !text.includes('"colliding"'));
    for (const [publishedStep, from] of [
      [2, 0],
      [3, 1],
      [4, wanted.length],
    ] as const) {
      const next = openStage();
      const ahead = standing([disc('a', 6, 0.5), disc('b', 7, 40), disc('c', 8, 0.7)]);
      const known = { rows: [...rows.values()], held: undefined, gone: [], heldMs: 0, done: [], ahead };
      next.restore({ nowMs: 10, ...known, publishedStep });
      const first = next.step({ step: 5, nowMs: 10, motions: ahead, isShared: true });
      assert.deepEqual(
        first.events.map(({ text }) => text),
        wanted.slice(from),
      );
      const stored = first.rows.filter((row) => row.gone !== true && row.endMs !== undefined);
      assert.deepEqual(stored.length, 2, 'ended pairs await deletion');
      assert.deepEqual(next.step({ step: 6, nowMs: 11, motions: [], isShared: true }).rows, []);
    }
  });

  test('undoes stored changes of a step whose progress was not stored', () => {
    const stage = openStage();
    const rows = [
      stage.step({ step: 3, nowMs: 3, motions: [A, B], isShared: true }).rows,
      stage.step({ step: 4, nowMs: 5, motions: [disc('b', 4, 9), disc('c', 5, 1)], isShared: true }).rows,
    ];
    const [[started], [ended, other]] = rows as [[PairRow], [PairRow, PairRow]];
    const progress = { step: 3, published: 2, others: [] };
    assert.deepEqual(storedStage([ended, other, progressRow(progress)]), {
      progress,
      pairs: [started],
      undone: [started, { kind: 'collision', id: other.id, gone: true }],
    });
    const whole = { ...progress, step: 4 };
    assert.deepEqual(storedStage([progressRow(whole), ended, other]), {
      progress: whole,
      pairs: [ended, other],
      undone: [],
    });
  });

  test('gives each start its own id, even if one of the trackables is restored at its next position', () => {
    const kept = keeping();
    kept.step([disc('a', 1, 0), disc('c', 1, 1)]);
    // Before its motion runs, `a` is already at the destination.
    const unfinished = [disc('b', 2, 20), disc('b', 3, 40), disc('b', 4, 20), disc('a', 10, 20)];
    const next = again(kept, { nowMs: 20, stands: [], unfinished });
    const { events } = next.stage.step({ nowMs: 20, motions: unfinished });
    const starts = events.map(read).filter(({ collision_type: type }) => type === 'collision_start');
    assert.equal(starts.length, 2);
    assert.equal(new Set(starts.map(({ id }) => id)).size, 2);
  });

  test('gives each start its own id, even if two hubs use the same sequences of motions', () => {
    const motions = [
      disc('a', 1, 0, { seq: 1 }),
      disc('b', 2, 1, { seq: 9 }),
      disc('a', 2, 40, { seq: 8 }),
      disc('a', 2, 1, { seq: 9 }),
    ];
    const events = openStage().step({ nowMs: 3, motions }).events;
    assert.deepEqual(events.map(brief), ['start b a 2', 'end a b 2', 'start a b 2']);
    assert.equal(new Set(events.map((event) => read(event).id)).size, 3);
  });

  test('does not end a collision that a reported position has started by earlier motions of others', () => {
    const stage = openStage();
    stage.step({ nowMs: 1, motions: [disc('a', 1, 0, { seq: 1 }), disc('b', 1, 20, { seq: 2 })] });
    const motions = [
      ...standing([disc('b', 5, 0, { seq: 7 })]),
      disc('a', 5, 40, { seq: 5 }),
      disc('a', 5, 0, { seq: 7 }),
      disc('a', 6, 40, { seq: 8 }),
    ];
    const { events } = stage.step({ nowMs: 6, motions, isShared: true });
    assert.deepEqual(events.map(brief), ['start b a 5', 'end a b 6']);
  });

  test('also runs unfinished motions without earlier positions', () => {
    const kept = before();
    const unfinished = [disc('b', 21, 20), gone('a', 23)];
    const next = again(kept, { nowMs: 30, stands: [disc('b', 21, 20), C], unfinished });
    assert.deepEqual(next.step(unfinished, 30), ['end a b 23']);
    const known = again(kept, { nowMs: 30, stands: [A, disc('b', 21, 1), C], unfinished: [disc('b', 21, 1)] });
    assert.deepEqual(known.step([disc('b', 21, 1)]), ['colliding b a 21']);
  });

  test('publishes the same events as a stage that was never replaced, for any time of recovery', () => {
    const motion = fc.record({ of: fc.nat(4), east: fc.double({ min: 0, max: 8, noNaN: true }), isGone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(motion, { maxLength: 40 }), fc.nat(40), fc.nat(10), (moves, cut, unfinished) => {
        const motions = moves.map(({ of, east, isGone }, index): Motion => {
          const [id, atMs] = [`t${of}`, index + 1];
          if (isGone && index % 4 === 0) return { ...gone(id, atMs), seq: atMs };
          return disc(id, atMs, east, { seq: atMs, ...(of === 0 && TOLERANT) });
        });
        const whole = keeping().step(motions);
        const kept = keeping();
        const finished = motions.slice(0, cut);
        const first = kept.step(finished);
        const next = again(kept, {
          nowMs: motions.length + 1,
          stands: placesOf(motions.slice(0, cut + unfinished)),
          done: finished,
          unfinished: motions.slice(cut, cut + unfinished),
        });
        assert.deepEqual([...first, ...next.step(motions.slice(cut))], whole);
      }),
      { numRuns: 300, seed: 98 },
    );
  });
});

/** Returns the positions after some motions. */
function placesOf(motions: readonly Motion[]): TrackableMotion[] {
  const last = new Map(motions.map((motion) => [motion.id, motion]));
  return [...last.values()].filter((motion) => motion.kind !== 'gone');
}

test('a reported position is not a motion, and a tracked body keeps its position', () => {
  const stage = openStage();
  const stands = { ...disc('a', 1, 0), kind: 'stands' as const };
  assert.deepEqual(stage.step({ nowMs: 1, motions: [stands, disc('b', 2, 5)] }).events, []);
  const late = { ...disc('b', 1, 0), kind: 'stands' as const };
  const { events } = stage.step({ nowMs: 3, motions: [late, { ...disc('a', 3, 0.1), ...placeAt(0.1, 0) }] });
  assert.deepEqual(events, []);
});
