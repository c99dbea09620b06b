import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type DecimalSign,
  detectSign,
  evidenceOf,
  numberOfText,
  textOfNumber,
} from '../../src/hub-ui/formats/written_numbers.ts';

const EVIDENCE: readonly [
  text: string,
  evidence: ReturnType<typeof evidenceOf>,
  withPoint?: number | undefined,
  withComma?: number | undefined,
][] = [
  ['60', 'none', 60, 60],
  ['-7', 'none', -7, -7],
  ['−7', 'none', -7, -7],
  ['+7', 'none', 7, 7],
  ['007', 'none', 7, 7],
  ['60,000', 'ambiguous', 60_000, 60],
  ['60.000', 'ambiguous', 60, 60_000],
  ['-1.250', 'ambiguous', -1.25, -1250],
  ['0.125', '.', 0.125, undefined],
  ['0,125', ',', undefined, 0.125],
  ['1.5', '.', 1.5, undefined],
  ['1,5', ',', undefined, 1.5],
  ['.5', '.', 0.5, undefined],
  ['1.1250', '.', 1.125, undefined],
  ['1234,567', ',', undefined, 1234.567],
  ['1,234.56', '.', 1234.56, undefined],
  ['1.234,56', ',', undefined, 1234.56],
  ['1,234,567', '.', 1_234_567, undefined],
  ['1.234.567', ',', undefined, 1_234_567],
  ['12,34,567', '.', 1_234_567, undefined],
  ['60 000', 'none', 60_000, 60_000],
  ['60\u00a0000', 'none', 60_000, 60_000],
  ['60\u202f000,5', ',', undefined, 60_000.5],
  ["1'234'567.5", '.', 1_234_567.5, undefined],
  ['1e3', 'none', 1000, 1000],
  ['1.5e3', '.', 1500, undefined],
  ['wide', undefined],
  ['12 m', undefined],
  ['1.2.3', undefined],
  ['1,2,3', undefined],
  ['60 00', undefined],
  ['', undefined],
  ['Infinity', undefined],
  ['0x10', undefined],
  ['1e999', 'none', undefined, undefined],
];

for (const [text, evidence, withPoint, withComma] of EVIDENCE) {
  test(`${JSON.stringify(text)} is ${withPoint} with a decimal point and ${withComma} with a decimal comma`, () => {
    assert.deepEqual(
      [evidenceOf(text), numberOfText(text, '.'), numberOfText(text, ',')],
      [evidence, withPoint, withComma],
    );
  });
}

const DETECTED: readonly [texts: readonly string[], sign: DecimalSign | undefined, undecided: readonly string[]][] = [
  [['60,000', '1.5'], '.', []],
  [['60,000', '1,5'], ',', []],
  [['60.000', '7'], undefined, ['60.000']],
  [['7', 'wide', ''], undefined, []],
  [['1.5', '2,5', '60.000'], undefined, ['1.5', '2,5']],
];

for (const [texts, sign, undecided] of DETECTED) {
  test(`The decimal sign of ${texts.join(' and ')} is ${sign ?? 'unknown'}`, () => {
    assert.deepEqual(detectSign(texts), { sign, undecided });
  });
}

test('An ambiguous number is rejected without a decimal sign', () => {
  assert.deepEqual([numberOfText('60,000', undefined), numberOfText('60', undefined)], [undefined, 60]);
});

test('Any number alone in its table survives a round trip', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), (number) => {
      const text = textOfNumber(number);
      const { sign, undecided } = detectSign([text]);
      assert.deepEqual([numberOfText(text, sign), undecided], [number === 0 ? 0 : number, []], text);
    }),
    { seed: 60_000, numRuns: 2000, examples: [[1.125], [60.125], [1e21], [1.5e-7], [-0.5]] },
  );
});

for (const locale of ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN', 'pl-PL']) {
  test(`Numbers formatted for ${locale} are parsed, or are ambiguous`, () => {
    const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
    const decimal = format.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value as DecimalSign;
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (thousandths) => {
        const number = thousandths / 1000;
        assert.equal(numberOfText(format.format(number), decimal), number === 0 ? 0 : number, format.format(number));
      }),
      { seed: 7, numRuns: 500 },
    );
  });
}
