import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { type Borrowed, lend } from '../../src/model/borrowed.ts';
import { MemoryStepLog } from '../../src/shards/step_log.ts';
import { packStep } from '../../src/wire/journal_record.ts';

function opened() {
  const journal = new MemoryStepLog();
  // They are only lent.
  const lent = (text: string, use: (bytes: Borrowed) => void): void => {
    const bytes = Buffer.from(text);
    use(lend(bytes));
    bytes.fill(0);
  };
  const hold = (batch: string): void => lent(batch, (bytes) => journal.hold(bytes));
  const step = (batch: string, effects: string): void => {
    hold(batch);
    lent(effects, (bytes) => journal.append(bytes));
  };
  const record = (batch: string, effects: string): void => {
    const bytes = packStep({
      nowMs: 1,
      config: 0,
      clockSteps: [{ toMs: 1, byMs: 2 }],
      batch: lend(Buffer.from(batch)),
      effects: lend(Buffer.from(effects)),
    });
    const packed = zstdCompressSync(bytes);
    journal.hold(lend(new Uint8Array(0)));
    journal.appendRecord(lend(packed));
    packed.fill(0);
  };
  const found = (): string[] =>
    journal.steps().map(({ batch, effects }) => `${Buffer.from(batch)}>${Buffer.from(effects)}`);
  return { journal, hold, step, record, found };
}

test('A journal keeps each step in its order, and none without effects', () => {
  const { hold, step, found } = opened();
  const long = 'x'.repeat(3 << 20);
  step('one', 'first');
  step('two', '');
  step('', 'second');
  hold('never done');
  step(long, 'third');
  step('four', long);
  step('five', 'last');
  assert.deepEqual(found(), ['one>first', '>second', `${long}>third`, `four>${long}`, 'five>last']);
});

test('A journal gives a step that was kept as a record with the running times of this hub', () => {
  const { journal, record } = opened();
  record('one', 'first');
  assert.deepEqual(
    journal.steps().map(({ clockSteps }) => clockSteps),
    [undefined],
  );
});

test('A step log stores steps as records, next to others', () => {
  const { journal, step, record, found } = opened();
  record('one', 'first');
  step('two', 'second');
  journal.mark();
  record('', 'third');
  record('four', 'fourth');
  step('', 'fifth');
  assert.deepEqual(found(), ['one>first', 'two>second', '>third', 'four>fourth', '>fifth']);
  journal.dropMarked();
  assert.deepEqual(found(), ['>third', 'four>fourth', '>fifth']);
});

test('A step log drops the steps before the mark when its rows are emitted, and none sooner', () => {
  const { journal, step, found } = opened();
  step('1', 'a');
  journal.mark();
  step('2', 'b');
  assert.deepEqual(found(), ['1>a', '2>b']);
  journal.mark();
  step('3', 'c');
  assert.deepEqual(found(), ['1>a', '2>b', '3>c'], 'the first round is not over');
  journal.dropMarked();
  assert.deepEqual(found(), ['2>b', '3>c']);
  journal.mark();
  journal.dropMarked();
  assert.deepEqual(found(), []);
});

test('A step log drops all steps when all rows are emitted', () => {
  const { journal, step, found } = opened();
  step('1', 'a');
  journal.mark();
  step('2', 'b');
  journal.clear();
  assert.deepEqual(found(), []);
  step('3', 'c');
  assert.deepEqual(found(), ['3>c']);
});
