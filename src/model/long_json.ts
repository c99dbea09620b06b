import { problemOf } from '../problem.ts';
import { DEPTH_MAX } from './depth.ts';
import { MEMBERS_MAX, parsePart, tooDeep, tooMany, UnsupportedJson } from './json.ts';
import { PROPERTIES, SENSORS } from './lossless_numbers.ts';
import { pathOf } from './error_value_text.ts';

/**
 * Incremental reader of long JSON, which yields to the event loop between parts.
 *
 * One pass over the bytes finds the ends of values. JSON.parse parses many small values at once: a part ends at a comma
 * when it is long enough. Only arrays and objects longer than a part are assembled here. So each byte is scanned once
 * and parsed once, regardless of nesting, and JSON.parse validates all syntax except the few characters between large
 * values.
 */

/** Size of a part in bytes, which takes a third of a millisecond to scan and parse. */
const PART_LENGTH = 1 << 14;
/** Maximum number of arrays and objects: a list of 100,000 positions or 50,000 locations has fewer. */
const CONTAINERS_MAX = 1_000_000;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** An array or an object whose end has not been found yet. */
interface Open {
  isArray: boolean;
  /** Whether all numbers in the container are exact. */
  isExact: boolean;
  /** Offset of the start of the container. */
  start: number;
  /** Offset of the first unparsed byte. */
  rest: number;
  /** Offset of the last comma; less than `rest` before the first one. */
  comma: number;
  /** Members parsed so far; undefined while the container is short. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** Name or index of the container in its parent. */
  name: string;
  members: number;
  /** Whether a large value ends at `rest`, so that a comma or the end must follow. */
  isAfterLarge: boolean;
  /** Whether `rest` follows a comma, so that a value must come next. */
  isAfterComma: boolean;
}

export class LongJson {
  readonly #bytes: Uint8Array;
  readonly #depthMax: number;
  readonly #everywhere: boolean;
  readonly #partLength: number;
  readonly #textMax: number;
  /** Stack of open containers: the first `#depth` entries are open, the others are reused. */
  readonly #open: Open[] = [];
  #depth = 0;
  #containers = 0;
  #at = 0;
  /** End offset of the value, if it was assembled here. */
  #end: number | undefined;
  #value: unknown;

  /** `bytes` are UTF-8 and must not change until reading has finished. */
  constructor(bytes: Uint8Array, options: LongJsonOptions = {}) {
    const { depthMax = DEPTH_MAX, everywhere = false, partLength = PART_LENGTH } = options;
    this.#bytes = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? bytes.subarray(3) : bytes;
    this.#textMax = options.textMax ?? Number.POSITIVE_INFINITY;
    this.#depthMax = depthMax;
    this.#everywhere = everywhere;
    this.#partLength = partLength;
  }

  /** The value. Valid once reading has finished. */
  get value(): unknown {
    return this.#value;
  }

  /**
   * Reads about one part and returns whether it was the last one. Throws a SyntaxError, a TypeError for invalid UTF-8,
   * or an UnsupportedJson for JSON that cannot be stored (see json.ts), including depth and numbers.
   */
  readPart(): boolean {
    const bytes = this.#bytes;
    const until = Math.min(this.#at + this.#partLength, bytes.length);
    let at = this.#at;
    while (at < until) {
      const code = bytes[at] as number;
      if (code === QUOTE) at = this.#endOfText(at);
      else if (code === COMMA) this.#comma(at);
      else if (code === OPEN_ARRAY || code === OPEN_OBJECT) this.#begin(at, code === OPEN_ARRAY);
      else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) this.#close(at, code === CLOSE_ARRAY);
      at++;
    }
    this.#at = at;
    if (at < bytes.length) return false;
    this.#finish();
    return true;
  }

  #begin(start: number, isArray: boolean): void {
    if (this.#depth === this.#depthMax) throw new UnsupportedJson(tooDeep('', this.#depthMax));
    if (++this.#containers > CONTAINERS_MAX) {
      throw new UnsupportedJson(
        problemOf('too_many', { path: 'body', limit: CONTAINERS_MAX, unit: 'containers', found: 'more' }),
      );
    }
    let open = this.#open[this.#depth];
    if (open === undefined) {
      open = { ...NEW };
      this.#open.push(open);
    }
    open.isArray = isArray;
    open.start = start;
    open.rest = start + 1;
    open.comma = start;
    open.value = undefined;
    this.#depth++;
  }

  #comma(at: number): void {
    const open = this.#open[this.#depth - 1];
    if (this.#depth === 0 || open === undefined) return;
    open.comma = at;
    if (open.value !== undefined && open.isAfterLarge) {
      this.#expectBlank(open.rest, at);
      open.rest = at + 1;
      open.isAfterLarge = false;
      open.isAfterComma = true;
    } else if (at - open.rest > this.#partLength) this.#takeUpTo(at, this.#depth - 1);
  }

  #close(at: number, isArray: boolean): void {
    const level = this.#depth - 1;
    const open = this.#open[level];
    if (level < 0 || open === undefined || open.isArray !== isArray) throw this.#unexpected(at);
    if (open.value !== undefined || at - open.start > this.#partLength) {
      this.#build(level);
      if (open.isAfterLarge) this.#expectBlank(open.rest, at);
      else if (this.#parse(open, level, at) === 0 && open.isAfterComma) throw this.#unexpected(at);
      const around = this.#open[level - 1];
      if (level === 0 || around === undefined) {
        this.#value = open.value;
        this.#end = at + 1;
      } else {
        around.rest = at + 1;
        around.isAfterLarge = true;
      }
    }
    this.#depth--;
  }

  #finish(): void {
    if (this.#depth > 0) throw new SyntaxError('Unexpected end of JSON input');
    if (this.#end !== undefined) this.#expectBlank(this.#end, this.#bytes.length);
    else {
      const text = utf8.decode(this.#bytes);
      const placeOf = (path: readonly string[]) => path;
      const [everywhere, depthMax] = [this.#everywhere, this.#depthMax];
      this.#value = parsePart(text, { everywhere, depthMax, levels: depthMax, fullPath: placeOf });
    }
  }

  /** Parses the values that end with the comma at `at`. */
  #takeUpTo(at: number, level: number): void {
    this.#build(level);
    const open = this.#open[level] as Open;
    if (this.#parse(open, level, at) === 0) throw this.#unexpected(at);
    open.rest = at + 1;
    open.isAfterComma = true;
  }

  /** Starts to assemble a large value and its parents. */
  #build(level: number): void {
    let from = level;
    while (from >= 0 && this.#open[from]?.value === undefined) from--;
    for (let i = from + 1; i <= level; i++) this.#buildOne(this.#open[i] as Open, i);
  }

  #buildOne(open: Open, level: number): void {
    open.value = open.isArray ? [] : {};
    open.members = 0;
    open.isAfterLarge = false;
    open.isAfterComma = false;
    const around = this.#open[level - 1];
    if (level === 0 || around === undefined) {
      if (this.#end !== undefined) throw this.#unexpected(open.start);
      this.#expectBlank(0, open.start);
      open.isExact = this.#everywhere;
      return;
    }
    if (around.isAfterLarge) throw this.#unexpected(open.start);
    if (around.comma >= around.rest) this.#takeUpTo(around.comma, level - 1);
    open.name = this.#nameOf(open, around, level);
    open.isExact = around.isExact || open.name === PROPERTIES || open.name === SENSORS;
    if (Array.isArray(around.value)) around.value.push(open.value);
    else if (around.value !== undefined) around.value[open.name] = open.value;
  }

  /** Reads the prefix of a large value: nothing in an array, a name in an object. */
  #nameOf({ start }: Open, around: Open, level: number): string {
    if (Array.isArray(around.value)) {
      this.#expectBlank(around.rest, start);
      return String(around.value.length);
    }
    const head = this.#part(`{${this.#textOf(around.rest, start)}""}`, around, level - 1);
    const [name, ...others] = Object.keys(head as object);
    if (name === undefined || others.length > 0) throw this.#unexpected(start);
    this.#countMembers(around, 1, level - 1);
    return name;
  }

  /** Parses the unparsed values up to `end`. Returns their number. */
  #parse(open: Open, level: number, end: number): number {
    const part = this.#textOf(open.rest, end);
    if (Array.isArray(open.value)) {
      const values = this.#part(`[${part}]`, open, level) as unknown[];
      for (const value of values) open.value.push(value);
      return values.length;
    }
    const members = this.#part(`{${part}}`, open, level) as Record<string, unknown>;
    const into = open.value as Record<string, unknown>;
    let count = 0;
    for (const name in members) {
      into[name] = members[name];
      count++;
    }
    this.#countMembers(open, count, level);
    return count;
  }

  #part(text: string, open: Open, level: number): unknown {
    const known = Array.isArray(open.value) ? open.value.length : 0;
    const levels = this.#depthMax - level;
    const placeOf = ([first = '', ...path]: readonly string[]): readonly string[] => {
      const own = Array.isArray(open.value) ? String(Number(first) + known) : first;
      return [...this.#wayTo(level), own, ...path];
    };
    return parsePart(text, { everywhere: open.isExact, depthMax: this.#depthMax, levels, fullPath: placeOf });
  }

  #countMembers(open: Open, more: number, level: number): void {
    open.members += more;
    if (open.members <= MEMBERS_MAX) return;
    throw new UnsupportedJson(tooMany(pathOf('', this.#wayTo(level)) || 'body', open.members));
  }

  #wayTo(level: number): string[] {
    return this.#open.slice(1, level + 1).map(({ name }) => name);
  }

  #expectBlank(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const code = this.#bytes[at];
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) throw this.#unexpected(at);
    }
  }

  #unexpected(at: number): SyntaxError {
    const [token = ''] = new TextDecoder().decode(this.#bytes.subarray(at, at + 4));
    return new SyntaxError(`Unexpected token ${JSON.stringify(token)} at position ${at}`);
  }

  #textOf(start: number, end: number): string {
    return utf8.decode(this.#bytes.subarray(start, end));
  }

  /** Returns the end of the string that starts at `at`: its closing quote, or the end of the input. */
  #endOfText(at: number): number {
    const end = endOfText(this.#bytes, at);
    const length = end - at - 1;
    if (length <= this.#textMax) return end;
    throw new UnsupportedJson(problemOf('text_too_long', { path: 'body', limit: this.#textMax, found: length }));
  }
}

export interface LongJsonOptions {
  readonly depthMax?: number;
  /** Whether all numbers are exact, instead of only those in properties and sensors. */
  readonly everywhere?: boolean;
  readonly partLength?: number;
  /** Maximum bytes of a string. A longer one is rejected before it is decoded. */
  readonly textMax?: number;
}

function endOfText(bytes: Uint8Array, at: number): number {
  // Scans short strings, which most are, in a loop; the engine's search is faster for long ones.
  const near = Math.min(at + SHORT, bytes.length);
  for (let i = at + 1; i < near; i++) {
    const code = bytes[i];
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  for (let quote = bytes.indexOf(QUOTE, at + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return bytes.length;
}

const SHORT = 48;

const NEW: Open = {
  isArray: false,
  isExact: false,
  start: 0,
  rest: 0,
  comma: 0,
  value: undefined,
  name: '',
  members: 0,
  isAfterLarge: false,
  isAfterComma: false,
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
