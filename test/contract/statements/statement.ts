import type { CoveredBy } from '../covered_by.ts';

/** A statement of the specification, and the tests that verify it. */
export interface Statement {
  /** Its position, as named by `statementsOf`. */
  readonly at: string;
  /** Short description in our own words. */
  readonly says: string;
  readonly tests: readonly CoveredBy[];
}
