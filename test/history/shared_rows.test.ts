import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSelection } from '../../src/history/queries/shared_rows.ts';

const SELECTION = { topic: 'locations', fromMs: 0, toMs: 1, keep: 'all', isWhole: false };

test('A selection of another hub is refused whose fields are not those of a selection', () => {
  assert.deepEqual(readSelection(JSON.stringify({ ...SELECTION, id: ["a'b"] })), { ...SELECTION, id: ["a'b"] });
  for (const [field, value] of [
    ['topic', 'secrets'],
    ['fromMs', '0) OR (true'],
    ['count', '1; COPY x TO y'],
    ['sinceUs', '0 OR true'],
    ['stepMs', '1'],
    ['floor', '1 OR true'],
    ['bbox', ['0', 0, 0, 0]],
    ['keep', 'some'],
    ['id', 'a'],
  ] as const) {
    assert.throws(
      () => readSelection(JSON.stringify({ ...SELECTION, [field]: value })),
      new RegExp(`selection\\.${field}`),
    );
  }
});
