import { hubError, type HubError } from '../../errors.ts';
import { show } from '../../model/error_value_text.ts';

/** Token of a rule's expression. `column` is that of its first character, counted from 1. */
export type Token =
  | { readonly kind: 'number'; readonly column: number; readonly value: number }
  | { readonly kind: 'string'; readonly column: number; readonly value: string }
  /** A word in double quotes: a property if there is one of that name, otherwise a string. */
  | { readonly kind: 'quoted'; readonly column: number; readonly value: string }
  /** A keyword (in upper case) or an operator. */
  | { readonly kind: 'sign'; readonly column: number; readonly sign: string }
  | { readonly kind: 'name'; readonly column: number; readonly name: string }
  | { readonly kind: 'end'; readonly column: number };

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'LIKE', 'IS', 'NULL', 'ISNULL', 'NOTNULL']);

const SPACE = /[ \t\r\n]+/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const STRING = /'(?:[^']|'')*'/y;
const QUOTED = /"(?:[^"]|"")*"/y;
/** Longer operators come first, so that `<=` is not read as `<`. */
const OPERATOR = /<<|>>|<=|>=|<>|==|!=|[<>=&|+\-*/%~()]/y;

/**
 * Splits an expression into tokens; the last one is `end`. Throws HUB_BAD_REQUEST at the first unsupported character.
 */
export function tokenize(text: string, field: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < text.length) {
    if (take(SPACE) !== undefined) continue;
    tokens.push(next(text, at + 1, take, field));
  }
  tokens.push({ kind: 'end', column: text.length + 1 });
  return tokens;
}

function next(text: string, column: number, take: (pattern: RegExp) => string | undefined, field: string): Token {
  const word = take(WORD);
  if (word !== undefined) return named(word, column);
  const digits = take(NUMBER);
  if (digits !== undefined) return number(digits, { column, follows: take(WORD), field });
  const string = take(STRING);
  if (string !== undefined) return { kind: 'string', column, value: string.slice(1, -1).replaceAll("''", "'") };
  const quoted = take(QUOTED);
  if (quoted !== undefined) return { kind: 'quoted', column, value: quoted.slice(1, -1).replaceAll('""', '"') };
  const operator = take(OPERATOR);
  if (operator !== undefined) return { kind: 'sign', column, sign: operator };
  throw unreadable(text, { path: field, column });
}

function named(word: string, column: number): Token {
  const upper = word.toUpperCase();
  if (KEYWORDS.has(upper)) return { kind: 'sign', column, sign: upper };
  return { kind: 'name', column, name: word };
}

/**
 * Returns a number token. Rejects `10ms`, since reading it as 10 and a name would report the error at a confusing
 * position.
 */
function number(digits: string, position: { column: number; follows: string | undefined; field: string }): Token {
  const value = Number(digits);
  if (position.follows !== undefined || !Number.isFinite(value)) {
    const found = show(digits + (position.follows ?? ''));
    throw hubError('expected_here', { path: position.field, token: 'number', column: position.column, found });
  }
  return { kind: 'number', column: position.column, value };
}

function unreadable(text: string, where: { readonly path: string; readonly column: number }): HubError {
  const character = String.fromCodePoint(text.codePointAt(where.column - 1) as number);
  if (character === "'" || character === '"') return hubError('unclosed_string', where);
  return hubError('expected_here', { ...where, token: 'value_or_operator', found: show(character) });
}

/** A token as an error shows it: as JSON, `nothing` for the end. */
export function shownToken(token: Token): string {
  if (token.kind === 'end') return 'nothing';
  if (token.kind === 'sign') return show(token.sign);
  return show(token.kind === 'name' ? token.name : token.value);
}
