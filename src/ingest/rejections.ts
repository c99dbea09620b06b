import type { Problem } from '../problem.ts';
import { Location } from '../model/location.ts';

const FIELDS: ReadonlySet<string> = new Set(Object.keys(Location.properties));

/** Counts rejected values by reason. The set of reasons is fixed: the members of a location, and a few more. */
export class Rejections {
  readonly #counts = new Map<string, number>();

  count(reason: string, values: number): void {
    if (values > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + values);
  }

  /** Counts a value by the field in its problem's path after `at`; `shape` without a field. */
  countProblem({ params }: Problem, at: string): void {
    const field = /^\.?([a-z_]+)/.exec(String(params['path'] ?? '').slice(at.length))?.[1] ?? '';
    this.count(FIELDS.has(field) ? field : 'shape', 1);
  }

  /** Returns the number of values by reason: a member of a location, shape, list, or full. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
