import type { LocatingRule } from '../../model/rule.ts';
import {
  type OperandType,
  adapt,
  applyBinary,
  applySign,
  compare,
  fromTruth,
  matches,
  truth,
  type RuleValue,
} from './operators.ts';
import { type Expression, type Property, parseRule } from './parse.ts';

/** Properties of a location that rules can use; undefined or null if missing. */
export interface RuleFacts {
  /** Age of the location in milliseconds. */
  readonly timestamp_diff: number | null | undefined;
  /** Meters. */
  readonly accuracy: number | null | undefined;
  readonly provider_id: string | null | undefined;
  /** Type of the provider. */
  readonly type: string | null | undefined;
  readonly source: string | null | undefined;
  readonly floor: number | null | undefined;
  /** Meters per second. */
  readonly speed: number | null | undefined;
}

/** Returns the priority of a location. */
export type Ranking = (facts: RuleFacts) => number;

/** Ranking without rules: all locations are equal. */
export const UNRANKED: Ranking = () => 0;

/**
 * Compiles rules to a ranking: the highest priority of all rules that are true of a location, 0 without one.
 * Throws HUB_BAD_REQUEST naming the rule under `field` if an expression cannot be parsed.
 */
export function compileRules(rules: readonly LocatingRule[], field = 'locating_rules'): Ranking {
  if (rules.length === 0) return UNRANKED;
  const compiled = rules
    .map(({ expression, priority }, index) => ({
      holds: compileExpression(parseRule(expression, `${field}[${index}].expression`)),
      priority,
    }))
    .sort((a, b) => b.priority - a.priority);
  return (facts) => {
    for (const { holds, priority } of compiled) {
      if (truth(holds(facts)) === true) return priority;
    }
    return 0;
  };
}

/**
 * Compiles an expression to a function of the facts, with SQL's three-valued logic: a result that depends on a missing
 * property is NULL, neither true nor false.
 */
export function compileExpression(expression: Expression): (facts: RuleFacts) => RuleValue {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'property': {
      const { name } = expression;
      return (facts) => facts[name] ?? null;
    }
    case 'any':
      return compileJunction(expression.terms, true);
    case 'all':
      return compileJunction(expression.terms, false);
    case 'not': {
      const term = compileExpression(expression.term);
      return (facts) => negated(term(facts));
    }
    case 'null': {
      const { wanted } = expression;
      const term = compileExpression(expression.term);
      return (facts) => fromTruth((term(facts) === null) === wanted);
    }
    case 'compare':
      return compileComparison(expression);
    case 'like': {
      const { wanted } = expression;
      const left = compileExpression(expression.left);
      const right = compileExpression(expression.right);
      return (facts) => (wanted ? matches(left(facts), right(facts)) : negated(matches(left(facts), right(facts))));
    }
    case 'sign': {
      const { by } = expression;
      const term = compileExpression(expression.term);
      return (facts) => applySign(by, term(facts));
    }
    case 'chain':
      return compileChain(expression);
  }
}

/** The first true term decides OR, the first false term decides AND; otherwise one NULL makes the result NULL. */
function compileJunction(terms: readonly Expression[], decisive: boolean): (facts: RuleFacts) => RuleValue {
  const compiled = terms.map(compileExpression);
  return (facts) => {
    let result: boolean | undefined = !decisive;
    for (const term of compiled) {
      const found = truth(term(facts));
      if (found === decisive) return fromTruth(decisive);
      if (found === undefined) result = undefined;
    }
    return fromTruth(result);
  };
}

function compileComparison(expression: Extract<Expression, { kind: 'compare' }>): (facts: RuleFacts) => RuleValue {
  const { by } = expression;
  const left = compileExpression(expression.left);
  const right = compileExpression(expression.right);
  const leftBecomes = comparisonType(expression.left, expression.right);
  const rightBecomes = comparisonType(expression.right, expression.left);
  return (facts) => compare(by, adapt(left(facts), leftBecomes), adapt(right(facts), rightBecomes));
}

/**
 * Returns the type to which `operand` is converted for a comparison with `other`: numeric takes precedence over text,
 * text over none.
 */
function comparisonType(operand: Expression, other: Expression): OperandType {
  const own = typeOf(operand);
  const theirs = typeOf(other);
  if (theirs === 'numeric' && own !== 'numeric') return 'numeric';
  if (theirs === 'text' && own === undefined) return 'text';
  return undefined;
}

function typeOf(expression: Expression): OperandType {
  if (expression.kind !== 'property') return undefined;
  return TEXTS.has(expression.name) ? 'text' : 'numeric';
}

const TEXTS: ReadonlySet<Property> = new Set(['provider_id', 'type', 'source']);

function compileChain(expression: Extract<Expression, { kind: 'chain' }>): (facts: RuleFacts) => RuleValue {
  const first = compileExpression(expression.first);
  const rest = expression.rest.map(({ by, term }) => ({ by, term: compileExpression(term) }));
  return (facts) => {
    let value = first(facts);
    for (const { by, term } of rest) value = applyBinary(by, value, term(facts));
    return value;
  };
}

function negated(value: RuleValue): RuleValue {
  const found = truth(value);
  return fromTruth(found === undefined ? undefined : !found);
}

/** Current location of one of a trackable's providers. */
export interface LocationCandidate<T> {
  readonly facts: RuleFacts;
  /** Event time of the location in milliseconds. */
  readonly eventTimeMs: number;
  readonly value: T;
}

/**
 * Returns the significant location of a trackable: the one with the highest priority, among equals the newest, among
 * these the last of the list. Undefined for an empty list.
 */
export function significant<T>(candidates: readonly LocationCandidate<T>[], ranking: Ranking): T | undefined {
  let best: LocationCandidate<T> | undefined;
  let bestPriority = 0;
  for (const candidate of candidates) {
    const priority = ranking(candidate.facts);
    if (best !== undefined) {
      if (priority < bestPriority) continue;
      if (priority === bestPriority && candidate.eventTimeMs < best.eventTimeMs) continue;
    }
    best = candidate;
    bestPriority = priority;
  }
  return best?.value;
}
