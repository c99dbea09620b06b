import { HubError } from '../../errors.ts';
import { describe, type Token, tokenize } from './tokens.ts';

/**
 * The expressions of locating rules: comparisons of a location's properties, joined with AND, OR and NOT.
 *
 *   expression := all (OR all)*                       all     := negation (AND negation)*
 *   negation   := NOT negation | test                 bits    := sum ((& | "|" | << | >>) sum)*
 *   test       := bits (comparison bits | nullity)?   sum     := product ((+ | -) product)*
 *   comparison := < <= > >= = == != <> [NOT] LIKE     product := unary ((* | / | %) unary)*
 *   nullity    := ISNULL | NOTNULL | NOT NULL         unary   := (+ | - | ~) unary | value
 *                 | IS [NOT] NULL                     value   := number | 'string' | property | ( expression )
 *
 * Keywords and properties are case-insensitive. timestamp_diff may be written as a call, timestamp_diff(). As in SQLite,
 * what stands in double quotes is a property if there is one of that name, else a string.
 * A chain of operators is one node with a list, so only nesting deepens the tree, and nesting is bounded.
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
  | { readonly kind: 'chain'; readonly first: Expression; readonly rest: readonly Link[] };

/** An operator of a chain with its right operand. */
export type Link = { readonly by: Binary; readonly term: Expression };

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
 * Parses the expression of a locating rule. Throws HUB_BAD_REQUEST, naming `field`, the column (from 1), what was
 * expected there and what was found, for text outside the grammar, longer than 4096 characters or nested deeper than 64.
 */
export function parseRule(expression: string, field = 'expression'): Expression {
  if (expression.length > LENGTH_MAX) {
    throw new HubError(
      'HUB_BAD_REQUEST',
      `${field}: must have at most ${LENGTH_MAX} characters, found ${expression.length}`,
    );
  }
  const words = new Words(tokenize(expression, field), field);
  const parsed = parseAny(words);
  if (words.current.kind !== 'end') words.fail('AND, OR or the end');
  return parsed;
}

/** The words that are still to be parsed. */
class Words {
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

  /** Steps over the current word when it is this keyword or operator. */
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
    if (!this.take(sign)) this.fail(sign);
  }

  /** Parses one level deeper. The bound keeps hostile expressions from exhausting the stack. */
  nested(parse: (words: Words) => Expression): Expression {
    if (++this.#depth > DEPTH_MAX) this.fail(`at most ${DEPTH_MAX} nested levels`);
    const parsed = parse(this);
    this.#depth--;
    return parsed;
  }

  fail(expected: string): never {
    const token = this.current;
    throw new HubError(
      'HUB_BAD_REQUEST',
      `${this.#field}: expected ${expected} at column ${token.column}, found ${describe(token)}`,
    );
  }
}

function parseAny(words: Words): Expression {
  const terms = [parseAll(words)];
  while (words.take('OR')) terms.push(parseAll(words));
  return terms.length === 1 ? (terms[0] as Expression) : { kind: 'any', terms };
}

function parseAll(words: Words): Expression {
  const terms = [parseNegation(words)];
  while (words.take('AND')) terms.push(parseNegation(words));
  return terms.length === 1 ? (terms[0] as Expression) : { kind: 'all', terms };
}

function parseNegation(words: Words): Expression {
  if (words.take('NOT')) return { kind: 'not', term: words.nested(parseNegation) };
  return parseTest(words);
}

function parseTest(words: Words): Expression {
  const left = parseBits(words);
  if (words.current.kind !== 'sign') return left;
  const by = COMPARISONS[words.current.sign];
  if (by !== undefined) {
    words.advance();
    return { kind: 'compare', by, left, right: parseBits(words) };
  }
  if (words.take('LIKE')) return { kind: 'like', wanted: true, left, right: parseBits(words) };
  if (words.take('ISNULL')) return { kind: 'null', wanted: true, term: left };
  if (words.take('NOTNULL')) return { kind: 'null', wanted: false, term: left };
  if (words.take('IS')) {
    const wanted = !words.take('NOT');
    words.expect('NULL');
    return { kind: 'null', wanted, term: left };
  }
  if (words.take('NOT')) {
    if (words.take('LIKE')) return { kind: 'like', wanted: false, left, right: parseBits(words) };
    if (!words.take('NULL')) words.fail('LIKE or NULL after NOT');
    return { kind: 'null', wanted: false, term: left };
  }
  return left;
}

function parseBits(words: Words): Expression {
  return parseChain(words, BITS, parseSum);
}

function parseSum(words: Words): Expression {
  return parseChain(words, SUMS, parseProduct);
}

function parseProduct(words: Words): Expression {
  return parseChain(words, PRODUCTS, parseUnary);
}

function parseChain(words: Words, operators: ReadonlySet<string>, parseTerm: (words: Words) => Expression): Expression {
  const first = parseTerm(words);
  const rest: Link[] = [];
  for (;;) {
    const by = words.takeOneOf(operators);
    if (by === undefined) break;
    rest.push({ by: by as Binary, term: parseTerm(words) });
  }
  return rest.length === 0 ? first : { kind: 'chain', first, rest };
}

function parseUnary(words: Words): Expression {
  const by = words.takeOneOf(SIGNS);
  if (by !== undefined) return { kind: 'sign', by: by as Sign, term: words.nested(parseUnary) };
  return parseValue(words);
}

function parseValue(words: Words): Expression {
  const token = words.current;
  if (token.kind === 'number' || token.kind === 'string') {
    words.advance();
    return { kind: 'literal', value: token.value };
  }
  if (token.kind === 'name') return parseProperty(words, propertyNamed(token.name));
  if (token.kind === 'quoted') {
    const property = propertyNamed(token.value);
    if (property !== undefined) return parseProperty(words, property);
    words.advance();
    return { kind: 'literal', value: token.value };
  }
  if (!words.take('(')) words.fail('a value');
  const inner = words.nested(parseAny);
  words.expect(')');
  return inner;
}

function propertyNamed(written: string): Property | undefined {
  const lower = written.toLowerCase();
  return PROPERTIES.find((property) => property === lower);
}

function parseProperty(words: Words, name: Property | undefined): Expression {
  if (name === undefined) return words.fail(`one of ${PROPERTIES.join(', ')}`);
  words.advance();
  if (name === 'timestamp_diff' && words.take('(')) words.expect(')');
  return { kind: 'property', name };
}
