import type { Binary, Comparison, Sign } from './parse.ts';

/** Value of an expression. Truth is 1 and 0; null is SQL's NULL, "unknown". */
export type RuleValue = number | string | null;

/** Type that an operand is compared as: properties have one, other operands adapt to them. */
export type OperandType = 'numeric' | 'text' | undefined;

/** Whether a value counts as true; undefined for NULL. A string counts as the number that it starts with. */
export function truth(value: RuleValue): boolean | undefined {
  if (value === null) return undefined;
  return numeric(value) !== 0;
}

export function fromTruth(value: boolean | undefined): RuleValue {
  if (value === undefined) return null;
  return value ? 1 : 0;
}

/** Compares two values. Numbers precede strings; a comparison with NULL is NULL. */
export function compare(by: Comparison, left: RuleValue, right: RuleValue): RuleValue {
  if (left === null || right === null) return null;
  const order = orderOf(left, right);
  switch (by) {
    case '<':
      return fromTruth(order < 0);
    case '<=':
      return fromTruth(order <= 0);
    case '>':
      return fromTruth(order > 0);
    case '>=':
      return fromTruth(order >= 0);
    case '=':
      return fromTruth(order === 0);
    case '!=':
      return fromTruth(order !== 0);
  }
}

/** SQL's LIKE; numbers are matched as strings. */
export function matches(left: RuleValue, right: RuleValue): RuleValue {
  if (left === null || right === null) return null;
  return fromTruth(like(String(left), String(right)));
}

/** Converts an operand to the type of the property that it is compared with, as SQLite does for columns. */
export function adapt(value: RuleValue, type: OperandType): RuleValue {
  if (type === 'text' && typeof value === 'number') return String(value);
  if (type === 'numeric' && typeof value === 'string' && WHOLE_NUMBER.test(value)) return Number(value);
  return value;
}

export function applySign(by: Sign, value: RuleValue): RuleValue {
  if (value === null) return null;
  switch (by) {
    case '+':
      return value;
    case '-':
      return -numeric(value);
    case '~':
      return Number(~integer(value));
  }
}

/** Arithmetic on numbers; bit operations and remainders on 64-bit integers. Undefined results are NULL. */
export function applyBinary(by: Binary, left: RuleValue, right: RuleValue): RuleValue {
  if (left === null || right === null) return null;
  switch (by) {
    case '+':
      return defined(numeric(left) + numeric(right));
    case '-':
      return defined(numeric(left) - numeric(right));
    case '*':
      return defined(numeric(left) * numeric(right));
    case '/':
      return numeric(right) === 0 ? null : defined(numeric(left) / numeric(right));
    case '%':
      return integer(right) === 0n ? null : Number(integer(left) % integer(right));
    case '&':
      return Number(integer(left) & integer(right));
    case '|':
      return Number(integer(left) | integer(right));
    case '<<':
      return shift(integer(left), integer(right));
    case '>>':
      return shift(integer(left), -integer(right));
  }
}

function orderOf(left: number | string, right: number | string): number {
  if (typeof left === 'number') {
    if (typeof right === 'string') return -1;
    return left - right || Number(left > right) - Number(left < right);
  }
  if (typeof right === 'number') return 1;
  return Number(left > right) - Number(left < right);
}

const WHOLE_NUMBER = /^[ \t\r\n]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t\r\n]*$/;
const LEADING_NUMBER = /^[ \t\r\n]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/;

function numeric(value: number | string): number {
  if (typeof value === 'number') return value;
  return Number(LEADING_NUMBER.exec(value)?.[0] ?? 0);
}

/** Truncates towards zero and clamps to 64 bits. */
function integer(value: number | string): bigint {
  const number = numeric(value);
  if (number >= 2 ** 63) return 2n ** 63n - 1n;
  if (number <= -(2 ** 63)) return -(2n ** 63n);
  return BigInt(Math.trunc(number));
}

/** Shifts left by `count` bits, right if it is negative; a right shift copies the sign bit. */
function shift(value: bigint, count: bigint): number {
  if (count >= 64n) return 0;
  if (count >= 0n) return Number(BigInt.asIntN(64, value << count));
  if (count <= -64n) return value < 0n ? -1 : 0;
  return Number(value >> -count);
}

function defined(value: number): RuleValue {
  return Number.isNaN(value) ? null : value;
}

/**
 * Whether a string matches a LIKE pattern: `%` stands for any sequence of characters, `_` for one; ASCII letters match
 * in either case. On a mismatch only the last `%` consumes one more character; an earlier `%` never needs to grow,
 * since the last one can skip the same characters. So the time is bounded by the product of the two lengths.
 */
export function like(text: string, pattern: string): boolean {
  let at = 0;
  let wanted = 0;
  let resumeAt = -1;
  let resumeWanted = -1;
  while (at < text.length) {
    const code = wanted < pattern.length ? pattern.charCodeAt(wanted) : -1;
    if (code === PERCENT) {
      resumeAt = at;
      resumeWanted = ++wanted;
    } else if (code === UNDERSCORE) {
      at += characterLength(text, at);
      wanted++;
    } else if (code !== -1 && folded(code) === folded(text.charCodeAt(at))) {
      at++;
      wanted++;
    } else {
      if (resumeWanted < 0) return false;
      resumeAt += characterLength(text, resumeAt);
      at = resumeAt;
      wanted = resumeWanted;
    }
  }
  while (wanted < pattern.length && pattern.charCodeAt(wanted) === PERCENT) wanted++;
  return wanted === pattern.length;
}

const PERCENT = 0x25;
const UNDERSCORE = 0x5f;

function folded(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

/** Returns the code units of the character at an index: 2 for a surrogate pair. */
function characterLength(text: string, index: number): number {
  return (text.codePointAt(index) as number) > 0xffff ? 2 : 1;
}
