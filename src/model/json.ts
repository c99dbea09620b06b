import { problemOf, type Problem } from '../problem.ts';
import { DEPTH_MAX } from './depth.ts';
import { ExactNumber, MAY_HAVE_EXACT, PROPERTIES, restoreExactNumbers, SENSORS } from './lossless_numbers.ts';
import { pathOf } from './error_value_text.ts';

/**
 * Parser for JSON from clients. Accepts only values that can be stored and forwarded unchanged, and rejects
 *
 * - deep nesting, on which JSON.stringify, messages between threads and other recursions would overflow the stack;
 * - members called `__proto__`, which messages between threads rename, and which may attack programs that read events;
 * - lone surrogates, which UTF-8 cannot encode;
 * - numbers beyond 1.8e308, which JSON.parse makes infinite and JSON.stringify null;
 * - objects with too many members.
 *
 * JSON.parse would also round numbers of application data, so these are stored exactly (see lossless_numbers.ts).
 */

/** Thrown for JSON that can be parsed but not stored. The message contains the path and the reason. */
export class UnsupportedJson extends Error {
  override name = 'UnsupportedJson';
  readonly #problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(String(problem), options);
    this.#problem = problem;
  }

  /** Why the JSON is rejected. */
  get problem(): Problem {
    return this.#problem;
  }
}

/**
 * Matches the escape of a surrogate, or of a letter of `__proto__`, `properties` or `sensors`. Strings without these
 * rare escapes need no walk.
 */
const SUSPICIOUS_ESCAPE = /\\u(?:d[89a-f]|00[567])/i;
/** Combined search. Each search costs a tenth of JSON.parse, and a search for `__proto__` alone is no faster. */
const SUSPICIOUS = new RegExp(`__proto__|${MAY_HAVE_EXACT}`);

/**
 * Parses JSON, with ExactNumbers in its properties and sensors if needed. Throws a SyntaxError, or an UnsupportedJson
 * for names or strings that cannot be stored. The code that stores the value checks depth and numbers
 * (`unsupportedReason`), since most input is not stored.
 */
export function parseJson(text: string, depthMax = DEPTH_MAX): unknown {
  // hot: once per request and frame
  const value = parseBounded(text, depthMax);
  const isEscaped = hasSuspiciousEscape(text);
  if (!isEscaped && !SUSPICIOUS.test(text)) return value;
  if (isEscaped || text.includes('__proto__')) checkNames(value, depthMax);
  return restoreExactNumbers(text, value);
}

/** Like parseJson, but with ExactNumbers everywhere, for input whose properties are not located yet. */
export function parseExactJson(text: string, depthMax = DEPTH_MAX): unknown {
  const value = parseBounded(text, depthMax);
  if (hasSuspiciousEscape(text) || text.includes('__proto__')) checkNames(value, depthMax);
  return restoreExactNumbers(text, value, { everywhere: true });
}

/**
 * Parses JSON that will be stored, with ExactNumbers in its properties and sensors. Throws a SyntaxError, or an
 * UnsupportedJson that names the invalid member.
 */
export function parseStoredJson(text: string): unknown {
  const value = parseJson(text);
  const problem = unsupportedReason(value);
  if (problem !== undefined) throw new UnsupportedJson(problem);
  return value;
}

export interface JsonPart {
  /** Whether to use ExactNumbers everywhere instead of only in properties and sensors. */
  readonly everywhere: boolean;
  readonly depthMax: number;
  /** Maximum nesting of the part. */
  readonly levels: number;
  /** Full path of a value in the part, for messages. */
  fullPath(path: readonly string[]): readonly string[];
}

/** Parses a part of a JSON document (see long_json.ts). Unlike parseJson, it also checks depth and all numbers. */
export function parsePart(text: string, { everywhere, depthMax, levels, fullPath }: JsonPart): unknown {
  const value = JSON.parse(text) as unknown;
  if (everywhere || mayBeSuspicious(text) || hasSuspiciousEscape(text))
    restoreExactNumbers(text, value, { everywhere });
  const found = walk(value, levels);
  if (found === undefined) return value;
  if (found.problem === 'depth') throw new UnsupportedJson(tooDeep('', depthMax));
  throw new UnsupportedJson(found.problem(pathOf('', fullPath(found.path.toReversed())) || 'body'));
}

/** Like SUSPICIOUS, for long input, for which separate searches are faster. */
function mayBeSuspicious(text: string): boolean {
  if (!text.includes('__proto__') && !text.includes(`"${PROPERTIES}"`) && !text.includes(`"${SENSORS}"`)) return false;
  return SUSPICIOUS.test(text);
}

function parseBounded(text: string, depthMax: number): unknown {
  if (text.length > LONG && hasManyArrays(text) && isTextDeeper(text, depthMax)) {
    throw new UnsupportedJson(tooDeep('', depthMax));
  }
  return JSON.parse(text) as unknown;
}

function hasSuspiciousEscape(text: string): boolean {
  return text.includes('\\u') && SUSPICIOUS_ESCAPE.test(text);
}

function checkNames(value: unknown, depthMax: number): void {
  const problem = unsupportedReason(value, { depthMax });
  if (problem !== undefined) throw new UnsupportedJson(problem);
}

/** Returns why a value from JSON cannot be stored, with its path under `root`; undefined if it can. */
export function unsupportedReason(value: unknown, { root = '', depthMax = DEPTH_MAX } = {}): Problem | undefined {
  const found = walk(value, depthMax);
  if (found === undefined) return undefined;
  if (found.problem === 'depth') return tooDeep(root, depthMax);
  return found.problem(pathOf(root, found.path.toReversed()) || 'body');
}

interface Found {
  /** Creates the problem of the value at a path. */
  readonly problem: 'depth' | ((path: string) => Problem);
  /** Names from the innermost to the outermost. */
  readonly path: string[];
}

function walk(value: unknown, levels: number): Found | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : { problem: loneSurrogate, path: [] };
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { problem: tooLarge, path: [] };
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return value instanceof ExactNumber ? undefined : { problem: 'depth', path: [] };
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = walk(value[i], levels - 1);
      if (found !== undefined) return within(found, String(i));
    }
    return undefined;
  }
  const members = Object.entries(value);
  if (members.length > MEMBERS_MAX) return { problem: (path) => tooMany(path, members.length), path: [] };
  for (const [name, member] of members) {
    if (name === '__proto__') return { problem: (path) => problemOf('reserved_name', { path }), path: [name] };
    if (!name.isWellFormed()) return { problem: loneSurrogate, path: [name.toWellFormed()] };
    const found = walk(member, levels - 1);
    if (found !== undefined) return within(found, name);
  }
  return undefined;
}

/**
 * Maximum number of members of one object. An engine treats names that look like numbers as numbers, and spends more
 * than a second on a million of them; msgpack treats objects with the same members as records.
 */
export const MEMBERS_MAX = 10_000;

/** Returns the problem of an object with too many members. */
export function tooMany(path: string, members: number): Problem {
  return problemOf('too_many', { path, limit: MEMBERS_MAX, unit: 'members', found: members });
}

function loneSurrogate(path: string): Problem {
  return problemOf('not_well_formed', { path });
}

function tooLarge(path: string): Problem {
  return problemOf('number_too_large', { path });
}

function within(found: Found, name: string): Found {
  found.path.push(name);
  return found;
}

export function tooDeep(root: string, depthMax: number): Problem {
  return problemOf('too_deep', { path: root || 'body', limit: depthMax });
}

/** JSON.parse takes 1.4 s and 300 MB for 10 MB of brackets, so long input with many of them is scanned first. */
const LONG = 1_000_000;
/** Characters per opening bracket. Lists of coordinates have as few, and pass the full scan. */
const CHARACTERS_PER_ARRAY = 16;

function hasManyArrays(text: string): boolean {
  let left = text.length / CHARACTERS_PER_ARRAY;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) {
    if (--left < 0) return true;
  }
  return false;
}

function isTextDeeper(text: string, depthMax: number): boolean {
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isInText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > depthMax) return true;
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
