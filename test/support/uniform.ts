import fc from 'fast-check';

const STEPS = 2 ** 31 - 1;

/**
 * Arbitrary of numbers uniformly distributed from `min` to `max`. `fc.double` distributes bit patterns uniformly
 * instead, so most of its numbers are tiny.
 */
export function uniform(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: STEPS }).map((step) => min + ((max - min) * step) / STEPS);
}
