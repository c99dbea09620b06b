import { compileExpression, type RuleFacts, significant } from '../../../core/rules/evaluate.ts';
import { truth } from '../../../core/rules/operators.ts';
import { parseRule } from '../../../core/rules/parse.ts';
import type { Location } from '../../../model/location.ts';
import type { LocatingRule } from '../../../model/rule.ts';

/** Location of a trackable, with its priority by the rules. */
export interface RankedLocation {
  readonly location: Location;
  readonly facts: RuleFacts;
  readonly priority: number;
  /** Expression of the matching rule; undefined if none matches. */
  readonly rule: string | undefined;
  readonly isWinner: boolean;
}

/** Why a location wins. */
export type WinningReason = 'only' | 'rule' | 'newest' | 'newest_of_equals';

export interface Ranked {
  /** The winner first, then by priority, then newest first. */
  readonly candidates: readonly RankedLocation[];
  readonly why: WinningReason | undefined;
}

/** Properties of a location that rules can test. */
export function factsOf(location: Location, nowMs: number): RuleFacts {
  const { provider_id, provider_type, source, accuracy, floor, speed } = location;
  const atMs = Date.parse(location.timestamp_generated ?? '');
  return {
    timestamp_diff: Number.isFinite(atMs) ? nowMs - atMs : undefined,
    ...{ accuracy, provider_id, type: provider_type, source, floor, speed },
  };
}

/** Whether a location matches an expression; undefined if the expression is invalid. */
export function holdsOf(expression: string, facts: RuleFacts): boolean | undefined {
  try {
    return truth(compileExpression(parseRule(expression))(facts)) === true;
  } catch {
    return undefined;
  }
}

/** Ranks the locations of a trackable by rules, with the algorithm of the hub. */
export function ranked(locations: readonly Location[], rules: readonly LocatingRule[], nowMs: number): Ranked {
  const byPriority = rules.toSorted((one, other) => other.priority - one.priority);
  const all = locations.map((location) => {
    const facts = factsOf(location, nowMs);
    const rule = byPriority.find(({ expression }) => holdsOf(expression, facts) === true);
    const eventTimeMs = nowMs - (facts.timestamp_diff ?? Number.POSITIVE_INFINITY);
    return { location, facts, priority: rule?.priority ?? 0, rule: rule?.expression, eventTimeMs };
  });
  const winner = significant(
    all.map((each) => ({ facts: each.facts, eventTimeMs: each.eventTimeMs, value: each })),
    (facts) => all.find((each) => each.facts === facts)?.priority ?? 0,
  );
  const candidates = all
    .toSorted((one, other) => Number(other === winner) - Number(one === winner) || betterOf(one, other))
    .map(({ eventTimeMs: _, ...each }) => ({ ...each, isWinner: each.location === winner?.location }));
  return { candidates, why: winner && whyOf(all, winner) };
}

interface Rated {
  readonly priority: number;
  readonly eventTimeMs: number;
}

function betterOf(one: Rated, other: Rated): number {
  return other.priority - one.priority || other.eventTimeMs - one.eventTimeMs;
}

function whyOf(
  all: readonly { readonly priority: number }[],
  winner: { readonly priority: number; readonly rule: string | undefined },
): WinningReason {
  if (all.length === 1) return 'only';
  const equals = all.filter(({ priority }) => priority === winner.priority).length;
  if (equals === 1) return 'rule';
  return winner.rule === undefined ? 'newest' : 'newest_of_equals';
}
