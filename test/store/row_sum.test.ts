import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowSum } from '../../src/store/row_sum.ts';

type Row = Parameters<typeof rowSum>;

const ROW: Row = ['provider', 'tag-1', '{"position":[8.4,49]}', '[["fence",1]]', 1_700_000_000_000, 1_700_000_000_001];

const OTHERS: readonly { what: string; row: Row }[] = [
  { what: 'another kind', row: ['trackable', ...tail(ROW)] },
  { what: 'a kind with one different character', row: ['prowider', ...tail(ROW)] },
  { what: 'another id', row: ['provider', 'tag-2', ...tail(tail(ROW))] },
  { what: 'another text', row: ['provider', 'tag-1', '{"position":[8.5,49]}', '[["fence",1]]', ROW[4], ROW[5]] },
  { what: 'no memberships', row: ['provider', 'tag-1', ROW[2], '[]', ROW[4], ROW[5]] },
  { what: 'the other time', row: ['provider', 'tag-1', ROW[2], ROW[3], ROW[5], ROW[4]] },
  { what: 'a border moved', row: ['provider', 'tag-1{', ROW[2].slice(1), ROW[3], ROW[4], ROW[5]] },
];

for (const { what, row } of OTHERS) {
  test(`rowSum differs for a row with ${what}`, () => assert.notEqual(rowSum(...row), rowSum(...ROW)));
}

test('rowSum detects each changed bit of a string, of any length and in any script', () => {
  for (const text of ['', 'a', 'Lager ü 倉庫 🚚', ROW[2], 'n'.repeat(5000)]) {
    const bytes = Buffer.from(text);
    const sum = rowSum('zone', 'a', text);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const said = changed.toString();
      // Invalid UTF-8 is also decoded differently.
      if (said !== text) assert.notEqual(rowSum('zone', 'a', said), sum, `bit ${bit} of ${text.slice(0, 20)}`);
    }
  }
});

test('rowSum ignores changes by SQLite: the sign of zero, and lone surrogates', () => {
  assert.equal(rowSum('zone', 'a', '', '', -0, -0), rowSum('zone', 'a', '', '', 0, 0));
  assert.equal(rowSum('zone', 'a', '\ud800'), rowSum('zone', 'a', '\ufffd'));
});

test('rowSum is unchanged since its first release', () => {
  assert.deepEqual([rowSum(...ROW), rowSum('zone', 'a', 'x'.repeat(100_000))], [1_323_532_339, 65_163_483]);
});

function tail<T extends readonly unknown[]>([, ...rest]: readonly [unknown, ...T]): T {
  return rest as unknown as T;
}
