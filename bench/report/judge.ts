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

/** Compares a result with its targets. Some need the results of other profiles. */
export function judge(result: Result, all: readonly Result[]): readonly Verdict[] {
  return targetsOf(result).map((target) => {
    const numbers = target.read(result, all);
    const texts = Object.entries(numbers).map(([name, value]) => `${name} ${shortened(value).toLocaleString('en')}`);
    const { profile, wanted } = target;
    return { profile, wanted, found: texts.join(', '), isMet: target.isMet(numbers) };
  });
}
