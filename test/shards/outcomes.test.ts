import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LastKnownRow } from '../../src/core/item.ts';
import { OutcomeDispatcher } from '../../src/hub/outcome_dispatcher.ts';
import { lend } from '../../src/model/borrowed.ts';
import { newCounts } from '../../src/operation/counts.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

const row = (id: string): LastKnownRow => {
  return { kind: 'provider', id, receivedMs: 1, eventTimeMs: 1, location: '{}', memberships: [] };
};

test('callers that wait for a batch get the failure of one of its commits, and no other caller does', async () => {
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
    const counts = { processed: 2, outdated: 0, rejected: 0, entries: 1, exits: 0, motions: 0 };
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

test('only the outcomes of the collision stage wait for its commits', () => {
  const never = new Promise<void>(() => undefined);
  const outcomes = new OutcomeDispatcher({
    shards: 1,
    counts: newCounts(),
    publish: () => undefined,
    tellsOfMemberships: () => false,
    keep: () => undefined,
    keepPairs: () => undefined,
    // Nothing can be kept for now: while that lasts the stage goes on looking at what is due.
    released: () => never,
    motions: () => undefined,
    moveZones: () => undefined,
    wakeAt: () => undefined,
  });
  const found = { started: 0, colliding: 0, ended: 0, nextDeadlineMs: Infinity, waiting: 0, held: [] };
  const evaluated = { beforeMs: 0, others: [] };
  assert.equal(outcomes.ofCollisions({ ...found, rows: [], events: [] }, evaluated), undefined);
  assert.notEqual(outcomes.ofCollisions({ ...found, rows: [row('pair')], events: [] } as never, evaluated), undefined);
});
