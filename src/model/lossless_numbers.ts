import { DEPTH_MAX } from './depth.ts';

/**
 * Exact numbers in application data.
 *
 * JSON.parse converts every number to a double: 723413320329068590 would be written back as 723413320329068500, and
 * 21.0 as 21. Members of `properties` and `sensors` belong to the client, so a number there that a double would change
 * is stored with its digits, in an ExactNumber. JSON.stringify writes these digits, and src/wire/messages.ts transfers
 * them between threads. All other numbers stay as JSON.parse makes them, as do all numbers elsewhere, since the hub
 * calculates with those.
 */

/** A number with its original digits. */
export class ExactNumber {
  readonly #text: string;

  /** `text` is a JSON number within the range of a double. */
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

/** Node 22 and current browsers support JSON.rawJSON; TypeScript does not know it yet. Older browsers round. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/**
 * Returns a JSON number, exact if a double would be written differently. A number beyond the range becomes infinite and
 * is rejected later.
 */
export function exactNumberOf(text: string): number | ExactNumber {
  const number = Number(text);
  if (String(number) === text || !Number.isFinite(number)) return number;
  return new ExactNumber(text.length < SLICE_MIN ? text : copied(text));
}

/** From this length on, a slice in V8 retains the whole source string in memory. */
const SLICE_MIN = 13;

function copied(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/** Whether two numbers have exactly the same value: 1.50 equals 15e-1, and 723413320329068590 equals only itself. */
export function isSameNumber(a: number | ExactNumber, b: number | ExactNumber): boolean {
  return a === b || normalized(a) === normalized(b);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Longer exponents are compared as written, since a double cannot represent them. */
const EXPONENT_DIGITS_MAX = 15;

/** Returns the canonical form of a number: the digits without leading and trailing zeros, and an exponent. */
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

/** Names of the members whose numbers are exact. */
export const PROPERTIES = 'properties';
export const SENSORS = 'sensors';

/** Replaces all exact numbers with ordinary ones. */
export function ordinary(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordinary);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ordinary(member)]));
}

/** Replaces exact numbers with ordinary ones everywhere except in properties and sensors. */
export function exactInProperties(entity: unknown): unknown {
  if (typeof entity !== 'object' || entity === null || Array.isArray(entity)) return ordinary(entity);
  if (entity instanceof ExactNumber) return ordinary(entity);
  const members = Object.entries(entity).map(([name, member]) => {
    // Properties that are a number are invalid and rejected later.
    const isExact = name === SENSORS || (name === PROPERTIES && !(member instanceof ExactNumber));
    return [name, isExact ? member : ordinary(member)];
  });
  return Object.fromEntries(members);
}

/**
 * Parser of exact numbers.
 *
 * Exact numbers are rare, and most input is locations at a high rate. So one search decides whether a string may
 * contain any; only then is it read a second time, in parallel with the value of JSON.parse, and ExactNumbers are put
 * into that value.
 *
 * A reviver of JSON.parse with `context.source` would be shorter, but is called for every value: it takes 10 µs instead
 * of 3 µs for a location, and 200 ms instead of 50 ms for a list of 200,000 numbers.
 */

const SPACE = '[ \\t\\r\\n]*';
const NAMES = `"(?:${PROPERTIES}|${SENSORS})"`;
const STRING = '"[^"\\\\]*(?:\\\\.[^"\\\\]*){0,15}"';
/** Numbers that JSON.stringify writes unchanged: up to 15 digits, without trailing zeros and exponent. */
const PLAIN_NUMBER = '(?:0|-?[1-9]\\d{0,14}|-?(?:0|[1-9]\\d{0,8})\\.\\d{0,5}[1-9])(?![\\d.eE])';
const SCALAR = `(?:${STRING}|${PLAIN_NUMBER}|true|false|null)`;
const SHALLOW = `(?:${SCALAR}|${arrayOf(SCALAR)}|${objectOf(SCALAR)})`;

/** Repetitions are bounded, because a failing search backtracks over them with limited memory. */
function arrayOf(value: string): string {
  return `\\[${SPACE}(?:${value}${SPACE}(?:,${SPACE}${value}${SPACE}){0,63})?\\]`;
}

function objectOf(value: string): string {
  const member = `${STRING}${SPACE}:${SPACE}${value}${SPACE}`;
  return `\\{${SPACE}(?:${member}(?:,${SPACE}${member}){0,63})?\\}`;
}

/**
 * Source of a search for properties and sensors that may contain an exact number: all but small ones that certainly
 * contain none. It does not match names with escapes.
 */
export const MAY_HAVE_EXACT = `${NAMES}(?!${SPACE}:${SPACE}${objectOf(SHALLOW)})`;

const UNSURE = new RegExp(`${MAY_HAVE_EXACT}|\\\\u00[67]`);

/** JSON.parse with exact numbers in members called properties and sensors, without further checks. */
export function parseLossless(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return UNSURE.test(text) ? restoreExactNumbers(text, value) : value;
}

/**
 * Puts ExactNumbers into `value`, the result of JSON.parse of `text`: in members called properties and sensors, or
 * `everywhere`. Returns the value.
 */
export function restoreExactNumbers(text: string, value: unknown, { everywhere = false } = {}): unknown {
  const root = { value };
  new NumberReader(text).member(root, 'value', { isExact: everywhere, levels: LEVELS_MAX });
  return root.value;
}

type Container = Record<string | number, unknown>;

interface ReadingContext {
  /** Whether numbers are exact here. */
  readonly isExact: boolean;
  /** Remaining levels of nesting. */
  readonly levels: number;
}

/** Deeper data is rejected. The additional levels are for the list or the frame around it. */
const LEVELS_MAX = DEPTH_MAX + 8;
const IN_DATA: ReadingContext = { isExact: true, levels: LEVELS_MAX };

/** A string that is neither of the names and has no escapes with which it might be. */
const OTHER_STRING = `(?!${NAMES})"[^"\\\\]*"`;
/** A scalar, an array of numbers, or an object of both without properties and sensors. */
const WITHOUT_DATA = `(?:"[^"\\\\]*"|\\[[^"{}[\\]]*\\]|\\{[^"{}]*(?:${OTHER_STRING}[^"{}]*){0,31}\\}|[^"{}[\\], \\t\\r\\n]+)`;
const MEMBERS_WITHOUT_DATA = new RegExp(
  `(?:${OTHER_STRING}${SPACE}:${SPACE}${WITHOUT_DATA}${SPACE},${SPACE}){0,63}`,
  'y',
);

/**
 * Reads valid JSON in parallel with its value. If several members have the same name, the value contains the last one.
 */
class NumberReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a member. Without a parent, the member is not in the value. */
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
      // Properties that are a number are invalid and rejected later.
      const isData = !isExact && (name === SENSORS || (name === PROPERTIES && !startsNumber(code)));
      this.member(object, name, isData ? IN_DATA : where);
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
  }

  /** Skips white space and returns the code of the next character. */
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

  /** Skips members that contain no data, except the last one. */
  #skipMembersWithoutData(): void {
    MEMBERS_WITHOUT_DATA.lastIndex = this.#at;
    MEMBERS_WITHOUT_DATA.test(this.#text);
    this.#at = MEMBERS_WITHOUT_DATA.lastIndex;
  }

  /** Skips a number, true, false or null. */
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

/** Returns the array or object with a name; undefined if another value has replaced it. */
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
