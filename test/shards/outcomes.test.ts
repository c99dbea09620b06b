import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROGRESS_ID, type StageProgress } from '../../src/core/collision/progress.ts';
import type { CollisionRow } from '../../src/core/collision/row.ts';
import type { LastKnownRow } from '../../src/core/item.ts';
import { OutcomeDispatcher } from '../../src/hub/outcome_dispatcher.ts';
import { lend } from '../../src/model/borrowed.ts';
import { newCounts } from '../../src/operation/counts.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

const row = (id: string): LastKnownRow => {
  return { kind: 'provider', id, receivedMs: 1, eventTimeMs: 1, location: '{}', memberships: [] };
};

test('Callers that wait for a batch receive the failure of one of its commits, and no other caller does', async () => {
  for (const failing of ['urgent', 'later']) {
    const outcomes = new OutcomeDispatcher({
      shards: 1,
      counts: newCounts(),
      publish: () => undefined,
      tellsOfMemberships: () => true,
      keep: ([kept]) => (kept?.id === failing ? Promise.reject(new Error('disk full')) : Promise.resolve()),
      keepPairs: () => undefined,
      motions: () => undefined,
      moveZones: () => undefined,
      wakeAt: () => undefined,
    });
    const counts = { processed: 2, outdated: 0, rejected: 0, outliers: 0, entries: 1, exits: 0, motions: 0 };
    const changed = { rows: packedRows([row('urgent')]), backgroundRows: packedRows([row('later')]), dirtyCount: 0 };
    const outcome = {
      ...changed,
      effects: lend(Buffer.alloc(0)),
      answers: [],
      zoneMoves: [],
      counts,
      nextDeadlineMs: Infinity,
    };
    // An unhandled rejection would exit the process.
    await assert.rejects(
      outcomes.ofShard(0, { outcome, events: [], motions: undefined }) as Promise<void>,
      /disk full/,
    );
  }
});

test('Only the outcomes of the collision stage wait for its commits', () => {
  const never = new Promise<void>(() => undefined);
  const outcomes = new OutcomeDispatcher({
    shards: 1,
    counts: newCounts(),
    publish: () => undefined,
    tellsOfMemberships: () => false,
    keep: () => undefined,
    keepPairs: () => undefined,
    // Nothing can be stored now. In the meantime, the stage continues to fire deadlines.
    released: () => never,
    motions: () => undefined,
    moveZones: () => undefined,
    wakeAt: () => undefined,
  });
  const found = { started: 0, colliding: 0, ended: 0, nextDeadlineMs: Infinity, waiting: 0, held: [] };
  const evaluated = { step: 1, others: [] };
  assert.equal(outcomes.ofCollisions({ ...found, rows: [], events: [] }, evaluated), undefined);
  assert.notEqual(outcomes.ofCollisions({ ...found, rows: [row('pair')], events: [] } as never, evaluated), undefined);
});

test('In a cluster, a start is published after earlier steps and its row are stored, and an end is deleted after that', async () => {
  const log: string[] = [];
  let release = (): void => undefined;
  let isFull = false;
  const outcomes = new OutcomeDispatcher({
    shards: 1,
    counts: newCounts(),
    publish: (events) => void log.push(`publish ${events.length}`),
    tellsOfMemberships: () => false,
    keep: () => undefined,
    async keepPairs(rows) {
      log.push(`store ${Array.from(rows as Iterable<CollisionRow>, described).join(', ')}`);
      if (isFull) throw new Error('the state is lost');
    },
    released: () => new Promise((resolve) => (release = resolve)),
    collisionsPublished: ({ step }) => void log.push(`report ${step}`),
    motions: () => undefined,
    moveZones: () => undefined,
    wakeAt: () => undefined,
  });
  const found = { started: 0, colliding: 0, ended: 0, nextDeadlineMs: Infinity, waiting: 0, held: [] };
  const events = [{ variant: 1, bytes: lend(Buffer.alloc(0)), ends: new Uint32Array(0) }] as never;
  const pair = (id: string, endMs?: number): CollisionRow => ({ kind: 'collision', id, startMs: 1, endMs, bodies: '' });
  const stepped = (step: number, ...rows: CollisionRow[]) => {
    return outcomes.ofCollisions({ ...found, rows, events }, { step, others: [['y', 10 * step]] });
  };
  outcomes.continueStage({ progress: { step: 4, published: 3, others: [] }, pairs: [], undone: [pair('undone')] });
  const first = stepped(5, pair('a'), pair('b', 2));
  await Promise.resolve();
  assert.deepEqual(log.splice(0), [], 'no step is stored yet');
  release();
  await first;
  const whole = ['store undone, a, b ends, 5/3 y 50', 'publish 1', 'report 5', 'store b gone, 5/5 y 50'];
  assert.deepEqual(log.splice(0), whole);
  isFull = true;
  const second = stepped(6, pair('c'));
  release();
  await second;
  assert.deepEqual(log, ['store c, 6/5 y 60'], 'the next owner of the stage publishes it');
});

function described(row: CollisionRow): string {
  if (row.gone === true) return `${row.id} gone`;
  if (row.id !== PROGRESS_ID) return row.endMs === undefined ? row.id : `${row.id} ends`;
  const { step, published, others } = JSON.parse(row.bodies) as StageProgress;
  return `${step}/${published} ${others.join().replace(',', ' ')}`;
}

test('Events that only the event log needs are neither published nor copied to wait for their commit', () => {
  const published: number[] = [];
  const stored = new Promise<void>(() => undefined);
  const outcomes = new OutcomeDispatcher({
    shards: 1,
    counts: newCounts(),
    publish: (events) => published.push(...events.map(({ variant }) => variant)),
    tellsOfMemberships: (variant) => variant !== 3,
    logged: () => () => undefined,
    isReceived: (variant) => variant !== 1,
    keep: () => stored,
    keepPairs: () => stored,
    motions: () => undefined,
    moveZones: () => undefined,
    wakeAt: () => undefined,
  });
  const events = [1, 2, 3].map((variant) => {
    return { variant, bytes: lend(Buffer.from('{}')), ends: Uint32Array.of(2), fields: undefined };
  });
  const counts = { processed: 1, outdated: 0, rejected: 0, outliers: 0, entries: 1, exits: 0, motions: 0 };
  const rows = packedRows([]);
  const outcome = {
    ...{ rows, backgroundRows: rows, dirtyCount: 0, effects: lend(Buffer.alloc(0)), answers: [], zoneMoves: [] },
    ...{ counts, nextDeadlineMs: Infinity },
  };
  void outcomes.ofShard(0, { outcome, events, motions: undefined });
  assert.deepEqual([published, outcomes.held], [[3], 1]);
});
