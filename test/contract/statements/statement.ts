import type { CoveredBy } from '../covered_by.ts';

/** A statement of the specification with the tests that show that it is true of the hub. */
export interface Statement {
  /** Its position, as `statementsOf` names it. */
  readonly at: string;
  /** In short, and in words of our own. */
  readonly says: string;
  readonly tests: readonly CoveredBy[];
}
