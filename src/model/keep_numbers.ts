import { DEPTH_MAX } from './depth.ts';
import { KeptNumber, numberOf, PROPERTIES, SENSORS } from './kept_number.ts';

/**
 * Finds the numbers of a JSON text that are to be kept (see kept_number.ts).
 *
 * They are rare, and most texts are locations at a high rate. So one search looks whether a text may have any; only then
 * is the text read a second time, beside the value that JSON.parse has made of it, and KeptNumbers are put into that.
 */

const SPACE = '[ \\t\\r\\n]*';
const NAMES = `"(?:${PROPERTIES}|${SENSORS})"`;
const TEXT = '"[^"\\\\]*(?:\\\\.[^"\\\\]*){0,15}"';
/** Numbers that are surely written the same again: up to 15 digits, without zeros at the end and without an exponent. */
const PLAIN_NUMBER = '(?:0|-?[1-9]\\d{0,14}|-?(?:0|[1-9]\\d{0,8})\\.\\d{0,5}[1-9])(?![\\d.eE])';
const SCALAR = `(?:${TEXT}|${PLAIN_NUMBER}|true|false|null)`;
const SHALLOW = `(?:${SCALAR}|${arrayOf(SCALAR)}|${objectOf(SCALAR)})`;

/** Repetitions are bounded, for a search that fails goes back over them, and remembers so much only. */
function arrayOf(value: string): string {
  return `\\[${SPACE}(?:${value}${SPACE}(?:,${SPACE}${value}${SPACE}){0,63})?\\]`;
}

function objectOf(value: string): string {
  const member = `${TEXT}${SPACE}:${SPACE}${value}${SPACE}`;
  return `\\{${SPACE}(?:${member}(?:,${SPACE}${member}){0,63})?\\}`;
}

/**
 * Source of a search for properties and sensors that may hold a number to be kept: all but small ones that surely hold
 * none. It does not see names that are written with escapes.
 */
export const MAY_KEEP = `${NAMES}(?!${SPACE}:${SPACE}${objectOf(SHALLOW)})`;

const UNSURE = new RegExp(`${MAY_KEEP}|\\\\u00[67]`);

/** JSON.parse for a text that needs no other look, with its numbers kept in members called properties and sensors. */
export function parseKeeping(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return UNSURE.test(text) ? keepNumbers(text, value) : value;
}

/**
 * Puts KeptNumbers into the value that JSON.parse has made of a text: in members called properties and sensors, or
 * `everywhere`. Returns the value.
 */
export function keepNumbers(text: string, value: unknown, { everywhere = false } = {}): unknown {
  const root = { value };
  new SecondReading(text).member(root, 'value', { isKept: everywhere, levels: LEVELS_MAX });
  return root.value;
}

type Container = Record<string | number, unknown>;

interface Where {
  /** Whether numbers are kept here. */
  readonly isKept: boolean;
  /** Levels that may follow. */
  readonly levels: number;
}

/** Data that is nested more deeply is refused. What is more is for the list or the frame around it. */
const LEVELS_MAX = DEPTH_MAX + 8;
const IN_DATA: Where = { isKept: true, levels: LEVELS_MAX };

/** A text that is neither of the names, nor has escapes with which it might be. */
const OTHER_TEXT = `(?!${NAMES})"[^"\\\\]*"`;
/** A scalar, an array of numbers, or an object of both without properties and sensors. */
const WITHOUT_DATA = `(?:"[^"\\\\]*"|\\[[^"{}[\\]]*\\]|\\{[^"{}]*(?:${OTHER_TEXT}[^"{}]*){0,31}\\}|[^"{}[\\], \\t\\r\\n]+)`;
const MEMBERS_WITHOUT_DATA = new RegExp(
  `(?:${OTHER_TEXT}${SPACE}:${SPACE}${WITHOUT_DATA}${SPACE},${SPACE}){0,63}`,
  'y',
);

/** Reads a text that is known to be JSON. Where members have the same name, the last one is in the value. */
class SecondReading {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the member of that name; without a parent, one that has no part in the value. */
  member(parent: Container | undefined, name: string | number, where: Where): void {
    const code = this.#next();
    if (code === QUOTE) this.#skipText();
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (where.levels === 0) this.#skipContainer();
      else if (code === OPEN_ARRAY) this.#array(containerIn(parent, name), where);
      else this.#object(containerIn(parent, name), where);
    } else if (where.isKept && isOfNumber(code) && parent !== undefined) this.#number(parent, name);
    else this.#skipScalar();
  }

  #number(parent: Container, name: string | number): void {
    const start = this.#at;
    this.#skipScalar();
    if (!Object.hasOwn(parent, name)) return;
    const value = parent[name];
    if (typeof value !== 'number' && !(value instanceof KeptNumber)) return;
    parent[name] = numberOf(this.#text.slice(start, this.#at));
  }

  #array(array: Container | undefined, { isKept, levels }: Where): void {
    const where = { isKept, levels: levels - 1 };
    this.#at++;
    for (let index = 0; this.#next() !== CLOSE_ARRAY; index++) {
      this.member(array, index, where);
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
  }

  #object(object: Container | undefined, { isKept, levels }: Where): void {
    const where = { isKept, levels: levels - 1 };
    this.#at++;
    while (this.#next() !== CLOSE_OBJECT) {
      if (!isKept) this.#skipMembersWithoutData();
      const name = this.#name();
      this.#next();
      this.#at++;
      const code = this.#next();
      // Properties that are a number are none, and to be refused.
      const isData = !isKept && (name === SENSORS || (name === PROPERTIES && !isOfNumber(code)));
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

function isOfNumber(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= NINE);
}

/** The array or object of that name; undefined where another value has taken its place. */
function containerIn(parent: Container | undefined, name: string | number): Container | undefined {
  if (parent === undefined || !Object.hasOwn(parent, name)) return undefined;
  const value = parent[name];
  if (typeof value !== 'object' || value === null || value instanceof KeptNumber) return undefined;
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
