import type { Ranking, RuleFacts } from './evaluate.ts';

/** A current location of one of a trackable's providers. */
export interface Candidate<T> {
  readonly facts: RuleFacts;
  /** Order key of the location in milliseconds. */
  readonly keyMs: number;
  readonly value: T;
}

/**
 * The location that a trackable is at: the one of the highest priority, among equals the newest, among these the last
 * of the list. Undefined for an empty list.
 */
export function significant<T>(candidates: readonly Candidate<T>[], ranking: Ranking): T | undefined {
  let best: Candidate<T> | undefined;
  let bestPriority = 0;
  for (const candidate of candidates) {
    const priority = ranking(candidate.facts);
    if (best !== undefined) {
      if (priority < bestPriority) continue;
      if (priority === bestPriority && candidate.keyMs < best.keyMs) continue;
    }
    best = candidate;
    bestPriority = priority;
  }
  return best?.value;
}
