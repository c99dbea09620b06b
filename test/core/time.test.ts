import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTime, parseTime, readableTime } from '../../src/model/time.ts';
import { uniform } from '../support/uniform.ts';

const SEED = { seed: 3339, numRuns: 2000 };
const pad = (value: number, width: number): string => String(value).padStart(width, '0');

describe('parseTime', () => {
  const read: [text: string, expected: number][] = [
    ['1970-01-01T00:00:00Z', 0],
    ['2026-11-20T10:00:00.120Z', Date.UTC(2026, 10, 20, 10, 0, 0, 120)],
    ['2026-11-20t10:00:00z', Date.UTC(2026, 10, 20, 10)],
    ['2026-11-20T10:00:00+05:30', Date.UTC(2026, 10, 20, 4, 30)],
    ['2026-11-20T10:00:00.5-08:00', Date.UTC(2026, 10, 20, 18, 0, 0, 500)],
    ['2026-11-20T10:00:00-00:00', Date.UTC(2026, 10, 20, 10)],
    ['2024-02-29T23:59:59.999Z', Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['0000-01-01T00:00:00Z', -62167219200000],
    ['9999-12-31T23:59:59.999Z', 253402300799999],
    ['1969-12-31T23:59:59.999Z', -1],
  ];
  for (const [text, expected] of read) {
    it(`parses ${text}`, () => assert.equal(parseTime(text), expected));
  }

  it('preserves the fraction of a millisecond', () => {
    const whole = Date.UTC(2026, 10, 20, 10);
    assert.equal(parseTime('2026-11-20T10:00:00.123456Z'), whole + 123.456);
    assert.equal(parseTime('2026-11-20T10:00:00.000000500Z'), whole + 0.0005);
    assert.equal(parseTime(`2026-11-20T10:00:00.25${'0'.repeat(400)}Z`), whole + 250);
  });

  const refused = [
    '',
    'now',
    '2026-11-20',
    '2026-11-20T10:00:00',
    '2026-11-20 10:00:00Z',
    '2026-11-20T10:00Z',
    '2026-11-20T10:00:00.Z',
    '2026-11-20T10:00:00,5Z',
    '2026-11-20T10:00:00Z ',
    ' 2026-11-20T10:00:00Z',
    '2026-11-20T10:00:00+0530',
    '2026-11-20T10:00:00+05',
    '2026-11-20T10:00:00+24:00',
    '2026-11-20T10:00:00+05:60',
    '2026-11-20T10:00:00~05:30',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:00:61Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-11-00T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-1-01T00:00:00Z',
    '+002026-11-20T10:00:00Z',
    '2026-11-20X10:00:00Z',
    '2026/11/20T10:00:00Z',
    '2026-11-20T10.00.00Z',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:60Z',
    '٢٠٢٦-11-20T10:00:00Z',
  ];
  for (const text of refused) it(`rejects ${JSON.stringify(text)}`, () => assert.equal(parseTime(text), Number.NaN));

  it('agrees with Date on everything that Date parses as RFC 3339', () => {
    const day = fc.tuple(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    const clock = fc.tuple(
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 61 }),
      fc.integer({ min: 0, max: 59 }),
    );
    const fraction = fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined });
    const offset = fc.constantFrom('Z', '+00:00', '+14:00', '-03:30', '+23:59');
    const property = fc.property(day, clock, fraction, offset, ([y, mo, d], [h, mi, s], ms, zone) => {
      const date = `${pad(y, 4)}-${pad(mo, 2)}-${pad(d, 2)}`;
      const text = `${date}T${pad(h, 2)}:${pad(mi, 2)}:${pad(s, 2)}${ms === undefined ? '' : `.${pad(ms, 3)}`}${zone}`;
      // Date turns the 30th of February into the 1st or 2nd of March.
      const real = new Date(Date.parse(`${date}T00:00:00Z`)).getUTCDate() === d;
      const expected = real ? Date.parse(text) : Number.NaN;
      const inYears = expected >= -62167219200000 && expected < 253402300800000;
      assert.equal(parseTime(text), inYears ? expected : Number.NaN);
    });
    fc.assert(property, SEED);
  });
});

describe('formatTime', () => {
  it('formats whole milliseconds as Date does', () => {
    const property = fc.property(fc.integer({ min: -62167219200000, max: 253402300799999 }), (ms) => {
      assert.equal(formatTime(ms), new Date(ms).toISOString());
    });
    fc.assert(property, SEED);
  });

  it('formats fractions of a millisecond as microseconds', () => {
    const whole = Date.UTC(2026, 10, 20, 10);
    assert.equal(formatTime(whole + 0.25), '2026-11-20T10:00:00.000250Z');
    assert.equal(formatTime(whole + 999.9996), '2026-11-20T10:00:01.000000Z');
    assert.equal(formatTime(whole + 123.456), '2026-11-20T10:00:00.123456Z');
    assert.equal(formatTime(-0.5), '1969-12-31T23:59:59.999500Z');
    assert.equal(formatTime(-1e-20), '1970-01-01T00:00:00.000000Z');
    assert.equal(formatTime(-0), '1970-01-01T00:00:00.000Z');
  });

  it('formats any number with an error of at most a microsecond', () => {
    const some = uniform(-1e12, 4e12);
    const property = fc.property(some, (ms) => {
      const text = formatTime(ms);
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{3}|\d{6})Z$/);
      assert.ok(Math.abs(parseTime(text) - ms) <= 0.0011, text);
    });
    fc.assert(property, SEED);
  });

  it('inverts parseTime for every microsecond', () => {
    const second = fc.integer({ min: 0, max: 4102444800 });
    const property = fc.property(second, fc.integer({ min: 0, max: 999999 }), (seconds, micros) => {
      const text = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${pad(micros, 6)}Z`;
      const expected = micros % 1000 === 0 ? `${text.slice(0, 23)}Z` : text;
      assert.equal(formatTime(parseTime(text)), expected);
    });
    fc.assert(property, SEED);
  });

  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, -62167219200001, 253402300800000]) {
    it(`rejects ${bad}`, () => assert.throws(() => formatTime(bad), RangeError));
  }
});

describe('readableTime', () => {
  const TEXTS: readonly (readonly [sent: string, written: string])[] = [
    ['2026-11-20T10:00:00.123456789Z', '2026-11-20T10:00:00.123456789Z'],
    ['2026-11-20T10:00:00-08:30', '2026-11-20T10:00:00-08:30'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2016-12-31T15:59:60.25-08:00', '2017-01-01T00:00:00.250Z'],
    ['2026-11-20t10:00:00.1234567z', '2026-11-20T10:00:00.1234567Z'],
    ['2026-11-20t10:00:00+01:00', '2026-11-20T10:00:00+01:00'],
  ];
  for (const [sent, written] of TEXTS) {
    it(`formats ${sent} as ${written}`, () => {
      assert.equal(readableTime(sent), written);
      assert.equal(parseTime(written), parseTime(sent));
    });
  }
});
