import assert from 'node:assert/strict';
import { test } from 'node:test';
import { row } from './rows.ts';
import { always, isUnavailable, settled, setUp, watch, zone } from './writer_setting.ts';

test('StoreWriter.drain waits for rows that are waiting now, and not for later ones', async () => {
  const { store, writer } = setUp();
  let number = 0;
  const written = [writer.writeRows([row(number)]), writer.writeEntities([zone('a')])];
  // Each commit adds the next row, so that the writer is never idle.
  store.refuses = () => {
    if (number < 1000) void writer.writeRows([row(++number)]);
    return false;
  };
  const seen = written.map(watch);
  await writer.drain();
  assert.deepEqual(
    seen.map(({ now }) => now),
    ['kept', 'kept'],
  );
  assert.ok(number < 10, `waited for ${number} rows`);
});

test('StoreWriter.drain makes one attempt if the store fails', async () => {
  const { store, timers, writer } = setUp();
  store.refuses = always;
  void writer.writeRows([row(1)]);
  await settled();
  const { attempts } = store;
  await writer.drain();
  assert.deepEqual([store.attempts, timers.waiting, writer.pendingRows], [attempts + 1, 1, 1]);
});

test('StoreWriter.close writes waiting rows', async () => {
  const { store, timers, writer } = setUp();
  const release = store.hold();
  const written = [writer.writeRows([row(1)]), writer.writeEntities([zone('a')]), writer.writeRows([row(2)])];
  const closed = writer.close();
  release();
  await Promise.all([closed, ...written]);
  assert.deepEqual([writer.pendingRows, timers.waiting], [0, 0]);
  await assert.rejects(writer.writeEntities([zone('b')]), isUnavailable);
});

test('StoreWriter.close gives up after its retries, and attempts nothing afterwards', async () => {
  const { store, timers, writer } = setUp({ retryMs: [100, 500] });
  store.refuses = always;
  void writer.writeRows([row(1)]);
  const closed = watch(writer.close());
  for (let retry = 0; retry < 2; retry++) {
    await settled();
    assert.equal(closed.now, 'open');
    timers.fire();
  }
  await settled();
  assert.deepEqual([closed.now, writer.pendingRows, timers.waiting], ['kept', 1, 0]);
  const { attempts } = store;
  void writer.writeRows([row(2)]);
  await writer.drain();
  await settled();
  assert.equal(store.attempts, attempts);
});
