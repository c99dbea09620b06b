import { type Comparison, type Expression, PROPERTIES, type Property, parseRule } from '../../../core/rules/parse.ts';
import { t } from '../../languages/language.ts';

/**
 * Expressions of locating rules as the builder displays them: conditions on one property each, joined by AND or by OR. Other
 * expressions, such as those with brackets or sums, are edited as text.
 */
export type Operator = Comparison | 'LIKE' | 'NOT LIKE' | 'IS NULL' | 'IS NOT NULL';

export interface Condition {
  readonly property: Property;
  readonly by: Operator;
  /** Value as typed, without quotes. */
  readonly value: string;
}

export interface Conditions {
  readonly join: 'all' | 'any';
  readonly list: readonly Condition[];
}

export const TEXT_PROPERTIES: ReadonlySet<Property> = new Set(['provider_id', 'type', 'source']);
export const ALL_PROPERTIES = PROPERTIES;

/** Operators that apply to a property. */
export function operatorsOf(property: Property): readonly Operator[] {
  return TEXT_PROPERTIES.has(property)
    ? ['=', '!=', 'LIKE', 'NOT LIKE', 'IS NULL', 'IS NOT NULL']
    : ['=', '!=', '<', '<=', '>', '>=', 'IS NULL', 'IS NOT NULL'];
}

/** Whether an operator takes a value. */
export function hasValue(by: Operator): boolean {
  return by !== 'IS NULL' && by !== 'IS NOT NULL';
}

/** Parses an expression to conditions; undefined if it is invalid or more complex. */
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

/** Expression of conditions. */
export function expressionOf({ join, list }: Conditions): string {
  return list.map(conditionText).join(join === 'all' ? ' AND ' : ' OR ');
}

/** Problem with the value of a condition; undefined if it is valid. */
export function problemOf({ property, by, value }: Condition): string | undefined {
  if (!hasValue(by)) return undefined;
  if (value.trim() === '') return t('Enter a value to compare with');
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
  // The builder would change the type of any other value.
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
