import { targetsOf } from '../targets.ts';
import type { Result } from './result.ts';
import { shortened } from './table.ts';

/** A target and the measured values. */
export interface Verdict {
  readonly profile: string;
  readonly wanted: string;
  readonly found: string;
  readonly isMet: boolean;
}

/** Found if the result is older than the target, and lacks a number. */
export const NOT_MEASURED = 'not measured';

/** Compares a result with its targets. Some need the results of other profiles. */
export function judge(result: Result, all: readonly Result[]): readonly Verdict[] {
  return targetsOf(result).map((target) => {
    const numbers = target.read(result, all);
    const texts = Object.entries(numbers).map(([name, value]) => `${name} ${shortened(value).toLocaleString('en')}`);
    const { profile, wanted } = target;
    const found = Object.values(numbers).some(Number.isNaN) ? NOT_MEASURED : texts.join(', ');
    return { profile, wanted, found, isMet: target.isMet(numbers) };
  });
}
