import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  COORDINATE_BYTES,
  COORDINATE_SLOT,
  findSlots,
  STAMP_BYTES,
  Stamp,
  writeCoordinate,
} from '../../bench/load/slots.ts';

test('writeCoordinate writes a JSON number with exactly this value, in a fixed width', () => {
  const bytes = Buffer.alloc(COORDINATE_BYTES + 2, '#');
  fc.assert(
    fc.property(fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }), (units) => {
      writeCoordinate(bytes, 1, units);
      const text = bytes.toString('latin1');
      assert.equal(text[0] + (text.at(-1) ?? ''), '##');
      assert.equal(JSON.parse(text.slice(1, -1)), units / 1e7);
    }),
    { seed: 1, examples: [[0], [1], [-1], [9_999_999], [10_000_000], [-1_800_000_000], [1_800_000_000]] },
  );
});

test('Stamp writes the time to the microsecond, and never a whole millisecond', () => {
  const stamp = new Stamp();
  assert.equal(stamp.bytes.length, STAMP_BYTES);
  const cases: [us: number, text: string][] = [
    [1_800_000_000_123_456, '2027-01-15T08:00:00.123456Z'],
    [1_800_000_000_123_000, '2027-01-15T08:00:00.123001Z'],
    [1_800_000_000_000_001, '2027-01-15T08:00:00.000001Z'],
    [1_800_000_059_999_999, '2027-01-15T08:00:59.999999Z'],
  ];
  for (const [us, text] of cases) {
    stamp.set(us);
    assert.equal(stamp.bytes.toString(), text);
  }
});

test('findSlots names the missing parts of a body', () => {
  assert.throws(() => findSlots(Buffer.from(`[${COORDINATE_SLOT}]`), [0]), /too few slots.*after byte 13/);
});
