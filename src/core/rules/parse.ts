import { hubError, HubError } from '../../errors.ts';
import { Problem } from '../../problem.ts';
import type { Reason, ReasonParams } from '../../reasons.ts';
import { shownToken, type Token, tokenize } from './tokens.ts';

/**
 * Expressions of locating rules: comparisons of a location's properties, joined with AND, OR and NOT.
 *
 *   expression := all (OR all)*                       all     := negation (AND negation)*
 *   negation   := NOT negation | test                 bits    := sum ((& | "|" | << | >>) sum)*
 *   test       := bits (comparison bits | nullity)?   sum     := product ((+ | -) product)*
 *   comparison := < <= > >= = == != <> [NOT] LIKE     product := unary ((* | / | %) unary)*
 *   nullity    := ISNULL | NOTNULL | NOT NULL         unary   := (+ | - | ~) unary | value
 *                 | IS [NOT] NULL                     value   := number | 'string' | property | ( expression )
 *
 * Keywords and properties are case-insensitive. timestamp_diff may be written as a call, timestamp_diff(). As in
 * SQLite, a word in double quotes is a property if there is one of that name, otherwise a string. A chain of operators
 * is one node with a list, so only nesting deepens the tree, and nesting is bounded.
 */
export type Expression =
  | { readonly kind: 'literal'; readonly value: number | string }
  | { readonly kind: 'property'; readonly name: Property }
  | { readonly kind: 'any' | 'all'; readonly terms: readonly Expression[] }
  | { readonly kind: 'not'; readonly term: Expression }
  | { readonly kind: 'null'; readonly wanted: boolean; readonly term: Expression }
  | { readonly kind: 'compare'; readonly by: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'like'; readonly wanted: boolean; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'sign'; readonly by: Sign; readonly term: Expression }
  | { readonly kind: 'chain'; readonly first: Expression; readonly rest: readonly ChainLink[] };

/** An operator of a chain and its right operand. */
export type ChainLink = { readonly by: Binary; readonly term: Expression };

export type Comparison = '<' | '<=' | '>' | '>=' | '=' | '!=';
export type Sign = '+' | '-' | '~';
export type Binary = '&' | '|' | '<<' | '>>' | '+' | '-' | '*' | '/' | '%';

export const PROPERTIES = ['timestamp_diff', 'accuracy', 'provider_id', 'type', 'source', 'floor', 'speed'] as const;
export type Property = (typeof PROPERTIES)[number];

const LENGTH_MAX = 4096;
const DEPTH_MAX = 64;

const BITS: ReadonlySet<string> = new Set(['&', '|', '<<', '>>']);
const SUMS: ReadonlySet<string> = new Set(['+', '-']);
const PRODUCTS: ReadonlySet<string> = new Set(['*', '/', '%']);
const SIGNS: ReadonlySet<string> = new Set(['+', '-', '~']);
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
};

/**
 * Parses the expression of a locating rule. Throws HUB_BAD_REQUEST for input outside the grammar, longer than 4096
 * characters or nested deeper than 64. The message names `field`, the column (from 1), what was expected there and what
 * was found.
 */
export function parseRule(expression: string, field = 'expression'): Expression {
  if (expression.length > LENGTH_MAX) {
    throw hubError('too_many', { path: field, limit: LENGTH_MAX, unit: 'characters', found: expression.length });
  }
  const tokens = new TokenStream(tokenize(expression, field), field);
  const parsed = parseAny(tokens);
  if (tokens.current.kind !== 'end') tokens.fail('expected_here', { token: 'end' });
  return parsed;
}

type ExpectedReason = Extract<Reason, `expected_${string}` | 'nested_too_deep'>;

/** Remaining tokens of an expression. */
class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #field: string;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], field: string) {
    this.#tokens = tokens;
    this.#field = field;
  }

  get current(): Token {
    return this.#tokens[this.#at] as Token;
  }

  advance(): void {
    this.#at++;
  }

  /** Consumes the current token if it is this keyword or operator. */
  take(sign: string): boolean {
    const token = this.current;
    if (token.kind !== 'sign' || token.sign !== sign) return false;
    this.#at++;
    return true;
  }

  takeOneOf(signs: ReadonlySet<string>): string | undefined {
    const token = this.current;
    if (token.kind !== 'sign' || !signs.has(token.sign)) return undefined;
    this.#at++;
    return token.sign;
  }

  expect(sign: string): void {
    if (!this.take(sign)) this.fail('expected_sign', { sign });
  }

  /** Parses one level deeper. The limit keeps hostile expressions from exhausting the stack. */
  nested(parse: (tokens: TokenStream) => Expression): Expression {
    if (++this.#depth > DEPTH_MAX) this.fail('nested_too_deep', { limit: DEPTH_MAX });
    const parsed = parse(this);
    this.#depth--;
    return parsed;
  }

  /** Rejects the current token. */
  fail(reason: ExpectedReason, params: ReasonParams = {}): never {
    const { column } = this.current;
    const where = { path: this.#field, column, found: shownToken(this.current) };
    throw new HubError(new Problem({ reason, params: { ...where, ...params } }));
  }
}

function parseAny(tokens: TokenStream): Expression {
  const terms = [parseAll(tokens)];
  while (tokens.take('OR')) terms.push(parseAll(tokens));
  return terms.length === 1 ? (terms[0] as Expression) : { kind: 'any', terms };
}

function parseAll(tokens: TokenStream): Expression {
  const terms = [parseNegation(tokens)];
  while (tokens.take('AND')) terms.push(parseNegation(tokens));
  return terms.length === 1 ? (terms[0] as Expression) : { kind: 'all', terms };
}

function parseNegation(tokens: TokenStream): Expression {
  if (tokens.take('NOT')) return { kind: 'not', term: tokens.nested(parseNegation) };
  return parseTest(tokens);
}

function parseTest(tokens: TokenStream): Expression {
  const left = parseBits(tokens);
  if (tokens.current.kind !== 'sign') return left;
  const by = COMPARISONS[tokens.current.sign];
  if (by !== undefined) {
    tokens.advance();
    return { kind: 'compare', by, left, right: parseBits(tokens) };
  }
  if (tokens.take('LIKE')) return { kind: 'like', wanted: true, left, right: parseBits(tokens) };
  if (tokens.take('ISNULL')) return { kind: 'null', wanted: true, term: left };
  if (tokens.take('NOTNULL')) return { kind: 'null', wanted: false, term: left };
  if (tokens.take('IS')) {
    const wanted = !tokens.take('NOT');
    tokens.expect('NULL');
    return { kind: 'null', wanted, term: left };
  }
  if (tokens.take('NOT')) {
    if (tokens.take('LIKE')) return { kind: 'like', wanted: false, left, right: parseBits(tokens) };
    if (!tokens.take('NULL')) tokens.fail('expected_here', { token: 'like_or_null' });
    return { kind: 'null', wanted: false, term: left };
  }
  return left;
}

function parseBits(tokens: TokenStream): Expression {
  return parseChain(tokens, BITS, parseSum);
}

function parseSum(tokens: TokenStream): Expression {
  return parseChain(tokens, SUMS, parseProduct);
}

function parseProduct(tokens: TokenStream): Expression {
  return parseChain(tokens, PRODUCTS, parseUnary);
}

function parseChain(
  tokens: TokenStream,
  operators: ReadonlySet<string>,
  parseTerm: (tokens: TokenStream) => Expression,
): Expression {
  const first = parseTerm(tokens);
  const rest: ChainLink[] = [];
  for (;;) {
    const by = tokens.takeOneOf(operators);
    if (by === undefined) break;
    rest.push({ by: by as Binary, term: parseTerm(tokens) });
  }
  return rest.length === 0 ? first : { kind: 'chain', first, rest };
}

function parseUnary(tokens: TokenStream): Expression {
  const by = tokens.takeOneOf(SIGNS);
  if (by !== undefined) return { kind: 'sign', by: by as Sign, term: tokens.nested(parseUnary) };
  return parseValue(tokens);
}

function parseValue(tokens: TokenStream): Expression {
  const token = tokens.current;
  if (token.kind === 'number' || token.kind === 'string') {
    tokens.advance();
    return { kind: 'literal', value: token.value };
  }
  if (token.kind === 'name') return parseProperty(tokens, propertyNamed(token.name));
  if (token.kind === 'quoted') {
    const property = propertyNamed(token.value);
    if (property !== undefined) return parseProperty(tokens, property);
    tokens.advance();
    return { kind: 'literal', value: token.value };
  }
  if (!tokens.take('(')) tokens.fail('expected_here', { token: 'value' });
  const inner = tokens.nested(parseAny);
  tokens.expect(')');
  return inner;
}

function propertyNamed(written: string): Property | undefined {
  const lower = written.toLowerCase();
  return PROPERTIES.find((property) => property === lower);
}

function parseProperty(tokens: TokenStream, name: Property | undefined): Expression {
  if (name === undefined) return tokens.fail('expected_property', { allowed: PROPERTIES });
  tokens.advance();
  if (name === 'timestamp_diff' && tokens.take('(')) tokens.expect(')');
  return { kind: 'property', name };
}
