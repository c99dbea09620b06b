import type { LocatingRule } from '../../model/rule.ts';
import {
  type Affinity,
  adapt,
  applyBinary,
  applySign,
  compare,
  fromTruth,
  matches,
  truth,
  type Value,
} from './operators.ts';
import { type Expression, type Property, parseRule } from './parse.ts';

/** The properties of a location that rules speak of; undefined or null where it has none. */
export interface RuleFacts {
  /** Age of the location in milliseconds. */
  readonly timestamp_diff: number | null | undefined;
  /** Metres. */
  readonly accuracy: number | null | undefined;
  readonly provider_id: string | null | undefined;
  /** Type of the provider. */
  readonly type: string | null | undefined;
  readonly source: string | null | undefined;
  readonly floor: number | null | undefined;
  /** Metres per second. */
  readonly speed: number | null | undefined;
}

/** Finds the priority of a location. */
export type Ranking = (facts: RuleFacts) => number;

/** The ranking without rules: all locations are equal. */
export const UNRANKED: Ranking = () => 0;

/**
 * Compiles rules to a ranking: the highest priority of all rules that are true of a location, 0 when none is.
 * Throws HUB_BAD_REQUEST naming the rule under `field` when an expression cannot be parsed.
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
 * Compiles an expression to a function of the facts, with SQL's three-valued logic: what depends on a missing property
 * is NULL, which is neither true nor false.
 */
export function compileExpression(expression: Expression): (facts: RuleFacts) => Value {
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

/** OR is decided by the first true term, AND by the first false one; otherwise one NULL makes the whole NULL. */
function compileJunction(terms: readonly Expression[], decisive: boolean): (facts: RuleFacts) => Value {
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

function compileComparison(expression: Extract<Expression, { kind: 'compare' }>): (facts: RuleFacts) => Value {
  const { by } = expression;
  const left = compileExpression(expression.left);
  const right = compileExpression(expression.right);
  const leftBecomes = affinityFor(expression.left, expression.right);
  const rightBecomes = affinityFor(expression.right, expression.left);
  return (facts) => compare(by, adapt(left(facts), leftBecomes), adapt(right(facts), rightBecomes));
}

/** What `operand` becomes when it is compared with `other`: a number beats a text, and both beat no type at all. */
function affinityFor(operand: Expression, other: Expression): Affinity {
  const own = affinityOf(operand);
  const theirs = affinityOf(other);
  if (theirs === 'numeric' && own !== 'numeric') return 'numeric';
  if (theirs === 'text' && own === undefined) return 'text';
  return undefined;
}

function affinityOf(expression: Expression): Affinity {
  if (expression.kind !== 'property') return undefined;
  return TEXTS.has(expression.name) ? 'text' : 'numeric';
}

const TEXTS: ReadonlySet<Property> = new Set(['provider_id', 'type', 'source']);

function compileChain(expression: Extract<Expression, { kind: 'chain' }>): (facts: RuleFacts) => Value {
  const first = compileExpression(expression.first);
  const rest = expression.rest.map(({ by, term }) => ({ by, term: compileExpression(term) }));
  return (facts) => {
    let value = first(facts);
    for (const { by, term } of rest) value = applyBinary(by, value, term(facts));
    return value;
  };
}

function negated(value: Value): Value {
  const found = truth(value);
  return fromTruth(found === undefined ? undefined : !found);
}

/** A current location of one of a trackable's providers. */
export interface Candidate<T> {
  readonly facts: RuleFacts;
  /** Event time of the location in milliseconds. */
  readonly eventTimeMs: number;
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
      if (priority === bestPriority && candidate.eventTimeMs < best.eventTimeMs) continue;
    }
    best = candidate;
    bestPriority = priority;
  }
  return best?.value;
}
