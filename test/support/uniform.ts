import fc from 'fast-check';

const STEPS = 2 ** 31 - 1;

/** Numbers spread evenly from `min` to `max`. fc.double spreads its bits evenly instead: most of its numbers are tiny. */
export function uniform(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: STEPS }).map((step) => min + ((max - min) * step) / STEPS);
}
