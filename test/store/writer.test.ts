import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredRow } from '../../src/core/item.ts';
import type { PlainBatch } from './failing_store.ts';
import { row, sorted } from './rows.ts';
import { always, isUnavailable, never, settled, setUp, watch, zone } from './writer_setting.ts';

const hasRows = ({ rows }: PlainBatch) => rows.length > 0;
const hasEntities = ({ entities }: PlainBatch) => entities.length > 0;

test('StoreWriter combines the rows of one turn in one commit', async () => {
  const { store, writer } = setUp();
  await Promise.all([writer.writeEntities([zone('a')]), writer.writeRows([row(1)]), writer.writeEntities([zone('b')])]);
  assert.deepEqual(store.kept, [{ entities: [zone('a'), zone('b')], rows: [row(1)] }]);
});

test('StoreWriter has one commit in flight, and collects later rows for the next', async () => {
  const { store, writer } = setUp();
  const release = store.hold();
  const written = [writer.writeEntities([zone('first')])];
  await settled();
  for (let number = 0; number < 50; number++) {
    written.push(writer.writeEntities([zone(`${number}`)]), writer.writeRows([row(number)]));
    await settled();
  }
  release();
  await Promise.all(written);
  assert.equal(store.inFlightMost, 1);
  assert.deepEqual(
    store.kept.map(({ entities, rows }) => [entities.length, rows.length]),
    [
      [1, 0],
      [50, 50],
    ],
  );
});

test('StoreWriter writes the latest row of each object last, and resolves all of its writes', async () => {
  const { store, writer } = setUp();
  const release = store.hold();
  const written = [writer.writeRows([row(1)])];
  await settled();
  for (let at = 1; at <= 9; at++) written.push(writer.writeRows([row(2, { atMs: at }), row(1, { atMs: at })]));
  release();
  await Promise.all(written);
  const latest = new Map(store.kept.flatMap(({ rows }) => rows).map((each) => [each.id, each]));
  assert.deepEqual([...latest.values()], [row(1, { atMs: 9 }), row(2, { atMs: 9 })]);
  assert.deepEqual([store.kept.length, writer.pendingRows], [2, 0]);
});

test('StoreWriter resolves a call only when its own rows are stored', async () => {
  const { store, writer } = setUp();
  const release = store.hold();
  const first = watch(writer.writeRows([row(1)]));
  await settled();
  const second = watch(writer.writeRows([row(1, { atMs: 2 })]));
  store.refuses = ({ rows }) =>
    rows.some(({ id, ...rest }) => id === 'tag-1' && 'eventTimeMs' in rest && rest.eventTimeMs === 1);
  release();
  await settled();
  assert.deepEqual([first.now, second.now], ['kept', 'open']);
});

test('StoreWriter delays deferrable rows until 50 ms have passed, urgent rows arrive, or there are many', async () => {
  const { store, timers, writer } = setUp();
  const mayWait = { mayWait: true };
  const counts = () => store.kept.map(({ rows }) => rows.length);
  const first = watch(writer.writeRows([row(1)], mayWait));
  void writer.writeRows([row(2)], mayWait);
  await settled();
  assert.deepEqual([counts(), timers.delays, first.now], [[], [50], 'open']);
  timers.fire();
  await settled();
  assert.deepEqual([counts(), first.now], [[2], 'kept']);
  void writer.writeRows([row(3)], mayWait);
  await writer.writeRows([row(4)]);
  assert.deepEqual([counts(), timers.waiting], [[2, 2], 0]);
  void writer.writeRows(
    Array.from({ length: 250 }, (_, number) => row(number)),
    mayWait,
  );
  await settled();
  assert.deepEqual([counts(), timers.waiting, writer.pendingRows], [[2, 2, 250], 0, 0]);
  void writer.writeRows([row(5)], mayWait);
  await writer.drain();
  assert.deepEqual([counts(), timers.waiting], [[2, 2, 250, 1], 0]);
});

test('StoreWriter divides many rows into commits of at most 10,000', async () => {
  const { store, writer } = setUp();
  const rows = Array.from({ length: 25_000 }, (_, number) => ({ ...row(0), id: `tag-${number}` }));
  await writer.writeRows(rows);
  assert.deepEqual(
    store.kept.map(({ rows }) => rows.length),
    [10_000, 10_000, 5000],
  );
  assert.deepEqual(
    store.kept.flatMap(({ rows }) => rows),
    rows,
  );
});

test('StoreWriter rejects entities that the store rejects, and stores none of them', async () => {
  const { store, states, writer } = setUp();
  store.refuses = always;
  await assert.rejects(writer.writeEntities([zone('a')]), isUnavailable);
  assert.equal(writer.failing, true);
  store.refuses = never;
  await writer.writeEntities([zone('b')]);
  assert.deepEqual(store.entities, [zone('b')]);
  assert.deepEqual(states, ['failing: the disk is on strike', 'ok']);
});

test('StoreWriter retains rows while the store fails, and writes them when it recovers', async () => {
  const { store, timers, states, writer } = setUp();
  store.refuses = always;
  const first = watch(writer.writeRows([row(1), row(2)]));
  await settled();
  const later = watch(writer.writeRows([row(1, { atMs: 5 }), row(3)]));
  for (let retry = 0; retry < 4; retry++) {
    timers.fire();
    await settled();
  }
  assert.deepEqual(timers.delays, [100, 500, 2000, 2000, 2000]);
  assert.deepEqual([first.now, later.now], ['open', 'open']);
  store.refuses = never;
  timers.fire();
  await settled();
  assert.deepEqual([first.now, later.now], ['kept', 'kept']);
  assert.deepEqual(sorted(store.kept.flatMap(({ rows }) => rows)), sorted([row(1, { atMs: 5 }), row(2), row(3)]));
  assert.deepEqual([states, timers.waiting], [['failing: the disk is on strike', 'ok'], 0]);
});

test('StoreWriter restarts with the shortest delay after a recovery', async () => {
  const { store, timers, writer } = setUp();
  for (const refuses of [always, always, never, always]) {
    store.refuses = refuses;
    void writer.writeRows([row(1)]);
    timers.fire();
    await settled();
  }
  assert.deepEqual(timers.delays, [100, 500, 100]);
});

test('StoreWriter retains one row of each object, and those since the last attempt, however long the store fails', async () => {
  const { store, timers, writer } = setUp();
  const release = store.hold();
  store.refuses = always;
  for (let turn = 0; turn < 200; turn++) {
    void writer.writeRows([row(turn % 3), row(turn % 2)]);
    if (turn === 20) release();
    if (turn % 10 === 0) timers.fire();
    await settled();
  }
  assert.ok(writer.pendingRows <= 3 + 2 * 10, `${writer.pendingRows} rows wait`);
});

test('StoreWriter reports a failure of rows at once on request, and retains the rows', async () => {
  const { store, timers, writer } = setUp();
  store.refuses = always;
  const patient = watch(writer.writeRows([row(1)]));
  await assert.rejects(writer.writeRows([row(2)], { orFail: true }), isUnavailable);
  const { attempts } = store;
  // It is considered failed until the retry is due.
  await assert.rejects(writer.writeRows([row(3)], { orFail: true }), isUnavailable);
  assert.equal(store.attempts, attempts);
  store.refuses = never;
  timers.fire();
  await settled();
  assert.equal(patient.now, 'kept');
  assert.deepEqual(sorted(store.kept.flatMap(({ rows }) => rows)), [row(2), row(1), row(3)]);
});

test('StoreWriter retains rows that arrive together with rejected entities', async () => {
  const { store, states, writer } = setUp();
  store.refuses = hasEntities;
  const rows = writer.writeRows([row(1)]);
  await assert.rejects(writer.writeEntities([zone('a')]), isUnavailable);
  await rows;
  assert.deepEqual(store.kept, [{ entities: [], rows: [row(1)] }]);
  assert.deepEqual(states, []);
});

test('StoreWriter stores entities while the store rejects rows, and reports one failure', async () => {
  const { store, timers, states, writer } = setUp();
  store.refuses = hasRows;
  const rows = watch(writer.writeRows([row(1)]));
  await writer.writeEntities([zone('a')]);
  await settled();
  await writer.writeEntities([zone('b')]);
  await settled();
  assert.deepEqual(store.entities, [zone('a'), zone('b')]);
  assert.deepEqual([rows.now, writer.failing, states.length], ['open', true, 1]);
  store.refuses = never;
  timers.fire();
  await settled();
  assert.deepEqual([rows.now, writer.failing, states.at(-1)], ['kept', false, 'ok']);
});

test('StoreWriter retries rows as soon as the store has accepted entities', async () => {
  const { store, timers, writer } = setUp();
  store.refuses = always;
  const rows = watch(writer.writeRows([row(1)]));
  await settled();
  store.refuses = never;
  await writer.writeEntities([zone('a')]);
  await settled();
  assert.deepEqual([rows.now, timers.waiting, writer.failing], ['kept', 0, false]);
});

test('StoreWriter loses no row and never overwrites one with an older one, whatever fails', async () => {
  const step = fc.record({ objects: fc.array(fc.nat(4), { maxLength: 4 }), fails: fc.boolean(), fires: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { store, timers, writer } = setUp();
      const latest = new Map<string, StoredRow>();
      for (const [index, { objects, fails, fires }] of steps.entries()) {
        store.refuses = fails ? always : never;
        const rows = objects.map((number) => row(number, { atMs: index * 1000 }));
        for (const written of rows) latest.set(written.id, written);
        void writer.writeRows(rows);
        if (fires) timers.fire();
        if (index % 3 > 0) await settled();
      }
      store.refuses = never;
      await writer.drain();
      const kept = new Map<string, StoredRow>();
      for (const written of store.kept.flatMap(({ rows }) => rows)) {
        const before = kept.get(written.id);
        assert.ok(before === undefined || receivedMs(before) <= receivedMs(written), 'an older row arrived after');
        kept.set(written.id, written);
      }
      assert.deepEqual(sorted([...kept.values()]), sorted([...latest.values()]));
    }),
    { numRuns: 150, seed: 20240505 },
  );
});

function receivedMs(row: StoredRow): number {
  return row.gone || row.kind === 'collision' ? Number.NaN : row.receivedMs;
}
