import { type Comparison, type Expression, PROPERTIES, type Property, parseRule } from '../../../core/rules/parse.ts';
import { t } from '../../languages/language.ts';

/**
 * Expressions of locating rules as the builder shows them: conditions of one property each, of which all or any must hold.
 * What an expression has beyond that, such as brackets or sums, is written as a text.
 */
export type Operator = Comparison | 'LIKE' | 'NOT LIKE' | 'IS NULL' | 'IS NOT NULL';

export interface Condition {
  readonly property: Property;
  readonly by: Operator;
  /** As it is written, without quotes. */
  readonly value: string;
}

export interface Conditions {
  readonly join: 'all' | 'any';
  readonly list: readonly Condition[];
}

export const TEXT_PROPERTIES: ReadonlySet<Property> = new Set(['provider_id', 'type', 'source']);
export const ALL_PROPERTIES = PROPERTIES;

/** The operators that make sense of a property. */
export function operatorsOf(property: Property): readonly Operator[] {
  return TEXT_PROPERTIES.has(property)
    ? ['=', '!=', 'LIKE', 'NOT LIKE', 'IS NULL', 'IS NOT NULL']
    : ['=', '!=', '<', '<=', '>', '>=', 'IS NULL', 'IS NOT NULL'];
}

/** Whether an operator compares with a value. */
export function hasValue(by: Operator): boolean {
  return by !== 'IS NULL' && by !== 'IS NOT NULL';
}

/** An expression as conditions; undefined where it is not valid, or more than that. */
export function conditionsOf(expression: string): Conditions | undefined {
  let parsed: Expression;
  try {
    parsed = parseRule(expression);
  } catch {
    return undefined;
  }
  const isJunction = parsed.kind === 'any' || parsed.kind === 'all';
  const terms = isJunction ? (parsed as Extract<Expression, { kind: 'any' | 'all' }>).terms : [parsed];
  const list = terms.map(conditionOf);
  if (list.some((each) => each === undefined)) return undefined;
  return { join: parsed.kind === 'any' ? 'any' : 'all', list: list as readonly Condition[] };
}

/** The expression that says the same. */
export function expressionOf({ join, list }: Conditions): string {
  return list.map(conditionText).join(join === 'all' ? ' AND ' : ' OR ');
}

/** What is wrong with the value of a condition; undefined where nothing is. */
export function problemOf({ property, by, value }: Condition): string | undefined {
  if (!hasValue(by)) return undefined;
  if (value.trim() === '') return t('Say what to compare with');
  if (TEXT_PROPERTIES.has(property)) return undefined;
  return Number.isFinite(Number(value)) ? undefined : t('This must be a number');
}

function conditionText({ property, by, value }: Condition): string {
  if (!hasValue(by)) return `${property} ${by}`;
  const isNumber = !TEXT_PROPERTIES.has(property) && value.trim() !== '' && Number.isFinite(Number(value));
  return `${property} ${by} ${isNumber ? Number(value) : `'${value.replaceAll("'", "''")}'`}`;
}

function conditionOf(term: Expression): Condition | undefined {
  if (term.kind === 'null') {
    const property = propertyOf(term.term);
    return property && { property, by: term.wanted ? 'IS NULL' : 'IS NOT NULL', value: '' };
  }
  if (term.kind !== 'compare' && term.kind !== 'like') return undefined;
  const property = propertyOf(term.left);
  const value = literalOf(term.right);
  if (property === undefined || value === undefined) return undefined;
  const by: Operator = term.kind === 'compare' ? term.by : term.wanted ? 'LIKE' : 'NOT LIKE';
  // Another kind of value than the property has would be written otherwise.
  const fits = TEXT_PROPERTIES.has(property) ? typeof value === 'string' : typeof value === 'number';
  return fits && operatorsOf(property).includes(by) ? { property, by, value: String(value) } : undefined;
}

function propertyOf(expression: Expression): Property | undefined {
  return expression.kind === 'property' ? expression.name : undefined;
}

function literalOf(expression: Expression): number | string | undefined {
  if (expression.kind === 'literal') return expression.value;
  if (expression.kind !== 'sign' || expression.by !== '-') return undefined;
  const value = literalOf(expression.term);
  return typeof value === 'number' ? -value : undefined;
}
