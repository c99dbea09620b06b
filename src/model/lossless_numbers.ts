import { DEPTH_MAX } from './depth.ts';

/**
 * Numbers of application data, digit by digit.
 *
 * JSON.parse makes a double of every number: 723413320329068590 would be written again as 723413320329068500, and 21.0
 * as 21. What clients send in `properties` and `sensors` is theirs, so a number there that would not be written as it
 * was sent is kept as its text, in a ExactNumber. JSON.stringify writes that text, and src/wire/messages.ts takes it from
 * thread to thread. All other numbers stay as JSON.parse makes them, and so does every number elsewhere, for the hub
 * calculates with those. lossless_numbers.ts finds the ones to be kept.
 */

/** A number as it was sent: one value, with nothing in it that a path could lead to. */
export class ExactNumber {
  readonly #text: string;

  /** From the text of a JSON number within the range of a double. */
  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  toJSON(): unknown {
    return rawJson === undefined ? Number(this.#text) : rawJson(this.#text);
  }
}

/** Node 22 and current browsers have it, TypeScript does not know it yet. Older browsers round. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/** The number of a JSON text, kept where a double would not be written the same. What is infinite stays so, and is refused. */
export function exactNumberOf(text: string): number | ExactNumber {
  const number = Number(text);
  if (String(number) === text || !Number.isFinite(number)) return number;
  return new ExactNumber(text.length < SLICE_MIN ? text : copied(text));
}

/** From this length on, a part of a text keeps the whole text in memory. */
const SLICE_MIN = 13;

function copied(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/** Whether two numbers are equal, to the last digit: 1.50 is 15e-1, and 723413320329068590 is no other than itself. */
export function isSameNumber(a: number | ExactNumber, b: number | ExactNumber): boolean {
  return a === b || normalized(a) === normalized(b);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Exponents of more digits are told apart as they are written: a double holds them no longer. */
const EXPONENT_DIGITS_MAX = 15;

/** A number as an exponent and the digits before it, which neither begin nor end with zeros. */
function normalized(number: number | ExactNumber): string {
  const text = number instanceof ExactNumber ? number.text : String(number);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === '0') start++;
  while (start < end && digits[end - 1] === '0') end--;
  if (start === end) return '0';
  if (exponent.length > EXPONENT_DIGITS_MAX) return text;
  return `${sign}${digits.slice(start, end)}e${Number(exponent) + whole.length - end}`;
}

/** Names of the members whose numbers are kept. */
export const PROPERTIES = 'properties';
export const SENSORS = 'sensors';

/** The value with ordinary numbers everywhere. */
export function ordinary(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordinary);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ordinary(member)]));
}

/** An entity with ordinary numbers everywhere but in its properties and sensors. */
export function exactInProperties(entity: unknown): unknown {
  if (typeof entity !== 'object' || entity === null || Array.isArray(entity)) return ordinary(entity);
  if (entity instanceof ExactNumber) return ordinary(entity);
  const members = Object.entries(entity).map(([name, member]) => {
    // Properties that are a number are none, and to be refused.
    const isExact = name === SENSORS || (name === PROPERTIES && !(member instanceof ExactNumber));
    return [name, isExact ? member : ordinary(member)];
  });
  return Object.fromEntries(members);
}

/**
 * Finds the numbers of a JSON text that are to be kept (see lossless_numbers.ts).
 *
 * They are rare, and most texts are locations at a high rate. So one search looks whether a text may have any; only then
 * is the text read a second time, beside the value that JSON.parse has made of it, and ExactNumbers are put into that.
 */

const SPACE = '[ \\t\\r\\n]*';
const NAMES = `"(?:${PROPERTIES}|${SENSORS})"`;
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*){0,15}"';
/** Numbers that are surely written the same again: up to 15 digits, without zeros at the end and without an exponent. */
const PLAIN_NUMBER = '(?:0|-?[1-9]\\d{0,14}|-?(?:0|[1-9]\\d{0,8})\\.\\d{0,5}[1-9])(?![\\d.eE])';
const SCALAR = `(?:${STRING}|${PLAIN_NUMBER}|true|false|null)`;
const SHALLOW = `(?:${SCALAR}|${arrayOf(SCALAR)}|${objectOf(SCALAR)})`;

/** Repetitions are bounded, for a search that fails goes back over them, and remembers so much only. */
function arrayOf(value: string): string {
  return `\\[${SPACE}(?:${value}${SPACE}(?:,${SPACE}${value}${SPACE}){0,63})?\\]`;
}

function objectOf(value: string): string {
  const member = `${STRING}${SPACE}:${SPACE}${value}${SPACE}`;
  return `\\{${SPACE}(?:${member}(?:,${SPACE}${member}){0,63})?\\}`;
}

/**
 * Source of a search for properties and sensors that may hold a number to be kept: all but small ones that surely hold
 * none. It does not see names that are written with escapes.
 */
export const MAY_HAVE_EXACT = `${NAMES}(?!${SPACE}:${SPACE}${objectOf(SHALLOW)})`;

const UNSURE = new RegExp(`${MAY_HAVE_EXACT}|\\\\u00[67]`);

/** JSON.parse for a text that needs no other look, with its numbers kept in members called properties and sensors. */
export function parseLossless(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return UNSURE.test(text) ? restoreExactNumbers(text, value) : value;
}

/**
 * Puts ExactNumbers into the value that JSON.parse has made of a text: in members called properties and sensors, or
 * `everywhere`. Returns the value.
 */
export function restoreExactNumbers(text: string, value: unknown, { everywhere = false } = {}): unknown {
  const root = { value };
  new NumberReader(text).member(root, 'value', { isExact: everywhere, levels: LEVELS_MAX });
  return root.value;
}

type Container = Record<string | number, unknown>;

interface ReadingContext {
  /** Whether numbers are kept here. */
  readonly isExact: boolean;
  /** Levels that may follow. */
  readonly levels: number;
}

/** Data that is nested more deeply is refused. What is more is for the list or the frame around it. */
const LEVELS_MAX = DEPTH_MAX + 8;
const IN_DATA: ReadingContext = { isExact: true, levels: LEVELS_MAX };

/** A text that is neither of the names, nor has escapes with which it might be. */
const OTHER_STRING = `(?!${NAMES})"[^"\\\\]*"`;
/** A scalar, an array of numbers, or an object of both without properties and sensors. */
const WITHOUT_DATA = `(?:"[^"\\\\]*"|\\[[^"{}[\\]]*\\]|\\{[^"{}]*(?:${OTHER_STRING}[^"{}]*){0,31}\\}|[^"{}[\\], \\t\\r\\n]+)`;
const MEMBERS_WITHOUT_DATA = new RegExp(
  `(?:${OTHER_STRING}${SPACE}:${SPACE}${WITHOUT_DATA}${SPACE},${SPACE}){0,63}`,
  'y',
);

/** Reads a text that is known to be JSON. Where members have the same name, the last one is in the value. */
class NumberReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the member of that name; without a parent, one that has no part in the value. */
  member(parent: Container | undefined, name: string | number, where: ReadingContext): void {
    const code = this.#next();
    if (code === QUOTE) this.#skipText();
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (where.levels === 0) this.#skipContainer();
      else if (code === OPEN_ARRAY) this.#array(containerIn(parent, name), where);
      else this.#object(containerIn(parent, name), where);
    } else if (where.isExact && startsNumber(code) && parent !== undefined) this.#number(parent, name);
    else this.#skipScalar();
  }

  #number(parent: Container, name: string | number): void {
    const start = this.#at;
    this.#skipScalar();
    if (!Object.hasOwn(parent, name)) return;
    const value = parent[name];
    if (typeof value !== 'number' && !(value instanceof ExactNumber)) return;
    parent[name] = exactNumberOf(this.#text.slice(start, this.#at));
  }

  #array(array: Container | undefined, { isExact, levels }: ReadingContext): void {
    const where = { isExact, levels: levels - 1 };
    this.#at++;
    for (let index = 0; this.#next() !== CLOSE_ARRAY; index++) {
      this.member(array, index, where);
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
  }

  #object(object: Container | undefined, { isExact, levels }: ReadingContext): void {
    const where = { isExact, levels: levels - 1 };
    this.#at++;
    while (this.#next() !== CLOSE_OBJECT) {
      if (!isExact) this.#skipMembersWithoutData();
      const name = this.#name();
      this.#next();
      this.#at++;
      const code = this.#next();
      // Properties that are a number are none, and to be refused.
      const isData = !isExact && (name === SENSORS || (name === PROPERTIES && !startsNumber(code)));
      this.member(object, name, isData ? IN_DATA : where);
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
  }

  /** The code of the next character that is no white space, to which it goes. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > BLANK) return code;
      this.#at++;
    }
  }

  #name(): string {
    const start = this.#at;
    this.#skipText();
    const quoted = this.#text.slice(start, this.#at);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }

  #skipText(): void {
    const text = this.#text;
    let at = this.#at + 1;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
    this.#at = at + 1;
  }

  /** Goes to the first member that may be data or have some in it, or to the last one. */
  #skipMembersWithoutData(): void {
    MEMBERS_WITHOUT_DATA.lastIndex = this.#at;
    MEMBERS_WITHOUT_DATA.test(this.#text);
    this.#at = MEMBERS_WITHOUT_DATA.lastIndex;
  }

  /** A number, true, false or null. */
  #skipScalar(): void {
    const text = this.#text;
    let at = this.#at;
    let code: number;
    do code = text.charCodeAt(++at);
    while (code > BLANK && code !== COMMA && code !== CLOSE_OBJECT && code !== CLOSE_ARRAY);
    this.#at = at;
  }

  #skipContainer(): void {
    let depth = 0;
    do {
      const code = this.#next();
      if (code === QUOTE) {
        this.#skipText();
        continue;
      }
      if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++;
      else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
      this.#at++;
    } while (depth > 0);
  }
}

function startsNumber(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= NINE);
}

/** The array or object of that name; undefined where another value has taken its place. */
function containerIn(parent: Container | undefined, name: string | number): Container | undefined {
  if (parent === undefined || !Object.hasOwn(parent, name)) return undefined;
  const value = parent[name];
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return undefined;
  return value as Container;
}

const BLANK = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
