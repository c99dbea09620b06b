import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesBeyond } from '../../src/model/bounds.ts';

const LENGTH = 50_000;
const UNITS = { ascii: 'a', umlauts: 'ä', ideographs: '日', 'surrogate pairs': '𝄞', 'halves of pairs': '\ud834' };

for (const [what, unit] of Object.entries(UNITS)) {
  test(`bytesBeyond counts the UTF-8 bytes of ${what} at any position`, () => {
    for (const before of ['', 'a', 'aä', '日', '𝄞a']) {
      const text = before + unit.repeat(LENGTH);
      const bytes = Buffer.byteLength(text);
      assert.equal(bytesBeyond(text, bytes - 1), bytes);
      assert.equal(bytesBeyond(text, bytes), undefined);
    }
  });
}
