import type { Problem } from '../problem.ts';
import { Location } from '../model/location.ts';

const FIELDS: ReadonlySet<string> = new Set(Object.keys(Location.properties));

/**
 * Counts rejected values by reason. The number of reasons is limited: one for each member of a location, and a few
 * more.
 */
export class Rejections {
  readonly #counts = new Map<string, number>();

  count(reason: string, values: number): void {
    if (values > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + values);
  }

  /** Counts a value by the field that its problem names after `at`; `shape` if it names none. */
  countProblem({ params }: Problem, at: string): void {
    const field = /^\.?([a-z_]+)/.exec(String(params['path'] ?? '').slice(at.length))?.[1] ?? '';
    this.count(FIELDS.has(field) ? field : 'shape', 1);
  }

  /** Values by reason: a member of a location, shape, list, full. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
