import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lend } from '../../src/model/borrowed.ts';
import { MemoryJournal } from '../../src/shards/journal.ts';

function opened() {
  const journal = new MemoryJournal();
  const append = (...texts: readonly string[]): void => {
    for (const text of texts) {
      const bytes = Buffer.from(text);
      journal.append(lend(bytes));
      // They were only lent.
      bytes.fill(0);
    }
  };
  return { journal, append, found: () => journal.effects().map(String) };
}

test('A journal keeps the effects of each step in their order, and none of a step without', () => {
  const { append, found } = opened();
  append('first', '', 'second', 'x'.repeat(3 << 20), 'last');
  assert.deepEqual(found(), ['first', 'second', 'x'.repeat(3 << 20), 'last']);
});

test('A journal drops what came before the mark when its rows are handed out, and nothing sooner', () => {
  const { journal, append, found } = opened();
  append('a');
  journal.mark();
  append('b');
  assert.deepEqual(found(), ['a', 'b']);
  journal.mark();
  append('c');
  assert.deepEqual(found(), ['a', 'b', 'c'], 'the first round is not over');
  journal.dropMarked();
  assert.deepEqual(found(), ['b', 'c']);
  journal.mark();
  journal.dropMarked();
  assert.deepEqual(found(), []);
});

test('A journal forgets everything when all rows are handed out', () => {
  const { journal, append, found } = opened();
  append('a');
  journal.mark();
  append('b');
  journal.clear();
  assert.deepEqual(found(), []);
  append('c');
  assert.deepEqual(found(), ['c']);
});
