import fc from 'fast-check';

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });

/** JSON numbers within the range of a double, with everything that a double would lose. */
export const anyNumber: fc.Arbitrary<string> = fc.oneof(
  fc.maxSafeInteger().map(String),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(
        fc.constant('0'),
        digits(20).map((text) => `1${text}`),
      ),
      fc.option(digits(20), { nil: '' }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.integer({ min: 0, max: 250 })), { nil: [] }),
    )
    .map(([sign, whole, fraction, exponent]) => sign + whole + (fraction && `.${fraction}`) + exponent.join('')),
);

const anyText = fc.oneof(
  fc.string().filter((text) => text !== '__proto__'),
  fc.constantFrom('properties', 'sensors', '"properties', '":1.0', '\\', '}', ',', ']', 'é', '\u2028'),
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t');

/** JSON objects of such numbers, with white space. Names may be duplicates. */
export const anyJson: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyNumber,
    fc.oneof(
      anyText.map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'false', 'null'),
    ),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
      .map(([list, gap]) => `[${gap}${list.join(`${gap},${gap}`)}${gap}]`),
    tie('object'),
  ),
  object: fc.tuple(fc.array(fc.tuple(anyText, tie('value')), { maxLength: 4 }), space).map(([members, gap]) => {
    const texts = members.map(([name, value]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${value}${gap}`);
    return `{${texts.join(',')}}`;
  }),
})).object;

/** JSON as JSON.stringify would write it, but with all numbers unchanged. */
export function exactly(text: string): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const keep = (_: string, value: unknown, { source }: { source?: string } = {}): unknown => {
    return typeof value === 'number' ? rawJSON(source as string) : value;
  };
  return JSON.stringify(JSON.parse(text, keep as (name: string, value: unknown) => unknown));
}
