import { hubError } from '../../errors.ts';
import Type from 'typebox';
import { parseRule } from '../../core/rules/parse.ts';
import { parseJson } from '../../model/json.ts';
import { RuleSet } from '../../model/rule.ts';
import { Choice } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { type ApiRoute, route, valueRoute } from '../route.ts';

/** JSON forms of an expression. A number alone is a valid expression. */
const RuleExpression = Choice(
  [
    Type.String({ minLength: 1 }),
    Type.Object(
      { expression: Type.String({ minLength: 1, description: 'The expression.' }) },
      { title: 'RuleExpressionObject', description: 'An expression in an object.' },
    ),
    Type.Number(),
  ],
  { title: 'RuleExpression', description: 'The expression: as plain text, as a JSON string, or as {"expression"}.' },
);

export const RULE_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/trackables/rules/locating',
    summary: 'Locating rules of trackables without own rules',
    returns: ['The rules.', RuleSet],
    value: (_call, { rules }) => rules.current,
  }),
  route({
    method: 'PUT',
    path: '/trackables/rules/locating',
    summary: 'Replace the locating rules of trackables without own rules',
    permission: { operation: 'UPDATE' },
    body: RuleSet,
    replies: { 200: { description: 'The stored rules.', schema: RuleSet } },
    async handle({ body, by, reply }, { rules }) {
      return reply.json(JSON.stringify(await rules.replace(body, by())));
    },
  }),
  route({
    method: 'POST',
    path: '/validator/rules/locating',
    summary: 'Check the expression of a locating rule',
    permission: { operation: 'CREATE' },
    body: RuleExpression,
    text: true,
    replies: { 204: { description: 'The expression is valid.' } },
    handle({ body, reply }) {
      parseRule(expressionOf(String(body)));
      return reply.noContent;
    },
  }),
];

/**
 * A body in double quotes is parsed as a JSON string if it is valid: `"type" = "uwb"` is not. No expression begins with
 * a brace, so such a body is JSON.
 */
function expressionOf(body: string): string {
  const isObject = /^\s*\{/.test(body);
  if (!isObject && !/^\s*"/.test(body)) return body;
  const value = isObject ? parsed(body) : stringOr(body);
  const expression = typeof value === 'string' ? value : (value as { readonly expression?: unknown }).expression;
  if (typeof expression === 'string') return expression;
  throw hubError('not_a_string', { path: 'expression', found: show(expression) });
}

function stringOr(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw hubError('not_an_expression', { path: 'body', found: reason }, { cause });
  }
}
