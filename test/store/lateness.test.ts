import assert from 'node:assert/strict';
import { test } from 'node:test';
import { row } from './rows.ts';
import { settled, setUp, watch } from './writer_setting.ts';

const LATE_MS = 2000;
const orFail = { orFail: true };

test('StoreWriter rejects rows that have waited too long, and later ones, until it has caught up', async () => {
  const { store, timers, states, writer } = setUp({ lateMs: LATE_MS });
  const release = store.hold();
  const first = watch(writer.writeRows([row(1)], orFail));
  const patient = watch(writer.writeRows([row(2)]));
  await settled();
  assert.deepEqual([first.now, timers.delays], ['open', [LATE_MS]]);
  timers.fire();
  await settled();
  assert.deepEqual([first.now, patient.now, writer.failing], ['refused', 'open', true]);
  const next = watch(writer.writeRows([row(3)], orFail));
  await settled();
  assert.deepEqual([next.now, timers.waiting, writer.pendingRows], ['refused', 0, 3]);
  release();
  await writer.drain();
  assert.deepEqual([patient.now, writer.failing, writer.pendingRows], ['kept', false, 0]);
  assert.deepEqual(states, [`failing: rows have waited for more than ${LATE_MS} ms`, 'ok']);
  const last = watch(writer.writeRows([row(4)], orFail));
  await writer.drain();
  assert.equal(last.now, 'kept');
});

test('StoreWriter continues to wait for rows that are not late yet', async () => {
  const { store, timers, states, writer } = setUp({ lateMs: LATE_MS });
  await writer.writeRows([row(1)], orFail);
  const release = store.hold();
  const later = watch(writer.writeRows([row(2)], orFail));
  await settled();
  // The timer of the first batch finds the second one waiting, which has its own deadline.
  timers.fire();
  await settled();
  assert.deepEqual([later.now, timers.waiting, states], ['open', 1, []]);
  release();
  await writer.drain();
  timers.fire();
  assert.deepEqual([later.now, timers.waiting, states], ['kept', 0, []]);
});

test('StoreWriter stores late rows when it is closed', async () => {
  const { store, timers, writer } = setUp({ lateMs: LATE_MS });
  const release = store.hold();
  void writer.writeRows([row(1)], orFail).catch(() => undefined);
  await settled();
  timers.fire();
  const closed = writer.close();
  release();
  await closed;
  assert.deepEqual([writer.pendingRows, timers.waiting, store.kept.flatMap(({ rows }) => rows)], [0, 0, [row(1)]]);
});

test('StoreWriter is never late without a deadline', async () => {
  const { timers, writer } = setUp();
  await writer.writeRows([row(1)], orFail);
  assert.deepEqual(timers.delays, []);
});
