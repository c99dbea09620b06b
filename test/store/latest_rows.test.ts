import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartupError } from '../../src/errors.ts';
import { storedByKind } from '../../src/store/entity_json.ts';
import { row, sorted } from './rows.ts';
import { always, settled, setUp } from './writer_setting.ts';

test('StoreWriter.latest prefers rows in flight and waiting rows to those of the store', async () => {
  const { store, writer } = setUp();
  const stored = [row(1), row(2), row(3), row(4)];
  assert.deepEqual(writer.latest(stored), stored);
  const release = store.hold();
  const first = writer.writeRows([row(2, { atMs: 5 }), row(3, { atMs: 5 }), row(6)]);
  await settled();
  const second = writer.writeRows([row(3, { atMs: 6 }), { kind: 'provider', id: 'tag-4', gone: true }]);
  const expected = [row(1), row(2, { atMs: 5 }), row(3, { atMs: 6 }), row(6)];
  assert.deepEqual(sorted(writer.latest(stored)), sorted(expected));
  release();
  await Promise.all([first, second]);
  assert.deepEqual(writer.latest([row(9)]), [row(9)]);
});

test('StoreWriter.latest includes the rows that the store rejects', async () => {
  const { store, writer } = setUp();
  store.refuses = always;
  void writer.writeRows([row(1, { atMs: 5 })]);
  await settled();
  void writer.writeRows([row(2)]);
  assert.deepEqual(sorted(writer.latest([row(1)])), sorted([row(1, { atMs: 5 }), row(2)]));
});

test('storedByKind reads the entities of a kind in order', () => {
  const kept = [
    { kind: 'zone', id: 'b', text: '{"id":"b"}' },
    { kind: 'fence', id: 'a', text: '{"id":"a"}' },
    { kind: 'zone', id: 'a', text: '{"id":"a"}' },
  ] as const;
  assert.deepEqual(storedByKind(kept).zone, [{ id: 'b' }, { id: 'a' }]);
});

test('storedByKind names an entity with damaged JSON', () => {
  assert.throws(
    () => storedByKind([{ kind: 'zone', id: 'hall', text: '{"id":' }]),
    (error) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, /^Cannot read zone "hall" from the database: [^\n]+$/);
      return true;
    },
  );
});
