import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSelections } from '../../src/history/queries/selection.ts';

const SELECTION = { topic: 'locations', fromMs: 0, toMs: 1, keep: 'all', isWhole: false };

test('Selections of another hub are rejected if their fields are not those of a selection', () => {
  const quoted = [{ ...SELECTION, id: ["a'b"], after: { us: '1', id: 'a' } }];
  assert.deepEqual(readSelections(JSON.stringify(quoted)), quoted);
  for (const [field, value] of [
    ['topic', 'secrets'],
    ['fromMs', '0) OR (true'],
    ['count', '1; COPY x TO y'],
    ['sinceUs', '0 OR true'],
    ['after', { us: '0 OR true', id: 'a' }],
    ['entryBeforeMs', '0 OR true'],
    ['stepMs', '1'],
    ['floor', '1 OR true'],
    ['bbox', ['0', 0, 0, 0]],
    ['keep', 'some'],
    ['id', 'a'],
  ] as const) {
    assert.throws(
      () => readSelections(JSON.stringify([SELECTION, { ...SELECTION, [field]: value }])),
      new RegExp(`selections\\[1\\]\\.${field}`),
    );
  }
});
