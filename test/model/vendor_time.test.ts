import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVendorTime } from '../../src/model/vendor_time.ts';

const READ: readonly (readonly [text: string, expected: string])[] = [
  ['2026-11-20T10:15:30.250+01:00', '2026-11-20T09:15:30.250Z'],
  ['2026-11-20T09:15:31Z', '2026-11-20T09:15:31.000Z'],
  ['2026-11-20T10:15:34:120+1', '2026-11-20T09:15:34.120Z'],
  ['2016-01-12T13:52:31:239+1', '2016-01-12T12:52:31.239Z'],
  ['2026-11-20T09:07:04-08:00', '2026-11-20T17:07:04.000Z'],
  ['2026-11-20T11:04:07.120+0100', '2026-11-20T10:04:07.120Z'],
  ['2026-11-20 10:04:13.468+0000', '2026-11-20T10:04:13.468Z'],
  ['2026-11-20T10:04:13,5', '2026-11-20T10:04:13.500Z'],
  ['2026-11-20T10:04:13', '2026-11-20T10:04:13.000Z'],
  ['2026-11-20T10:04:13.999999Z', '2026-11-20T10:04:13.999Z'],
  ['2026-11-20T10:04:13+130', '2026-11-20T08:34:13.000Z'],
  ['2026-11-20T10:04:13-11', '2026-11-20T21:04:13.000Z'],
];

for (const [text, expected] of READ) {
  test(`readVendorTime parses ${text} as ${expected}`, () => {
    assert.equal(new Date(readVendorTime(text)).toISOString(), expected);
  });
}

for (const text of [
  '',
  '1433877485.930',
  '2026-11-20',
  '2026-13-20T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-11-20T25:00:00Z',
  '2026-11-20T10:04:13+25',
  '2026-11-20T10:04:13.',
  '2026-11-20T10:04:13Zx',
  ' 2026-11-20T10:04:13Z',
  '2026-11-20T10:04Z',
  '9'.repeat(100_000),
]) {
  test(`readVendorTime rejects ${text.slice(0, 40) || 'an empty string'}`, () => {
    assert.equal(readVendorTime(text), Number.NaN);
  });
}
