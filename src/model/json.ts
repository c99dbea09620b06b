import { grouped } from './bounds.ts';
import { DEPTH_MAX } from './depth.ts';
import { ExactNumber, MAY_HAVE_EXACT, PROPERTIES, restoreExactNumbers, SENSORS } from './lossless_numbers.ts';
import { pathOf } from './error_value_text.ts';

/**
 * JSON from clients, as far as it can be kept and handed on without a change. What cannot is refused, instead of being
 * kept as something else:
 *
 * - nesting, since JSON.stringify, the messages between threads and other recursions have a limit, and a stack overflow
 *   is no answer;
 * - members called `__proto__`, which the messages between threads rename, and by which programs that read events may be
 *   attacked;
 * - halves of surrogate pairs, which no UTF-8 can hold;
 * - numbers beyond 1.8e308, which JSON.parse makes infinite and JSON.stringify null;
 * - objects of more members than anybody has use for.
 *
 * What JSON.parse would only change, numbers of application data, is kept as it was sent (see lossless_numbers.ts).
 */

/** JSON that could be parsed, but not kept. The message says where and why. */
export class UnsupportedJson extends Error {
  override name = 'UnsupportedJson';
}

/**
 * Where the escape of a surrogate may stand, or one of a letter of `__proto__`, `properties` or `sensors`. A text without
 * these, which are rare, needs no walk.
 */
const SUSPICIOUS_ESCAPE = /\\u(?:d[89a-f]|00[567])/i;
/** One search, since each costs a tenth of what JSON.parse does; a search for `__proto__` alone is no faster. */
const SUSPICIOUS = new RegExp(`__proto__|${MAY_HAVE_EXACT}`);

/**
 * The value of a JSON text, with ExactNumbers in its properties and sensors where needed. Throws a SyntaxError, or an
 * UnsupportedJson for one with names or texts that cannot be kept. Depth and numbers are looked at by whoever keeps the value
 * (`unsupportedReason`): most of what is sent is not kept.
 */
export function parseJson(text: string, depthMax = DEPTH_MAX): unknown {
  // hot: once per request and frame
  const value = parseBounded(text, depthMax);
  const isEscaped = hasSuspiciousEscape(text);
  if (!isEscaped && !SUSPICIOUS.test(text)) return value;
  if (isEscaped || text.includes('__proto__')) checkNames(value, depthMax);
  return restoreExactNumbers(text, value);
}

/** The same with ExactNumbers everywhere, for a text of which it is not known yet what will be properties. */
export function parseExactJson(text: string, depthMax = DEPTH_MAX): unknown {
  const value = parseBounded(text, depthMax);
  if (hasSuspiciousEscape(text) || text.includes('__proto__')) checkNames(value, depthMax);
  return restoreExactNumbers(text, value, { everywhere: true });
}

/**
 * The value of a JSON text that will be stored, with ExactNumbers in its properties and sensors. Throws a SyntaxError, or an
 * UnsupportedJson that names the member that cannot be stored.
 */
export function parseStoredJson(text: string): unknown {
  const value = parseJson(text);
  const problem = unsupportedReason(value);
  if (problem !== undefined) throw new UnsupportedJson(problem);
  return value;
}

export interface JsonPart {
  /** Whether ExactNumbers stand everywhere, not in properties and sensors alone. */
  readonly everywhere: boolean;
  readonly depthMax: number;
  /** Levels that the part may have. */
  readonly levels: number;
  /** The way from the whole to a place in the part, for messages. */
  fullPath(path: readonly string[]): readonly string[];
}

/** The value of a part of a text (see long_json.ts). Unlike parseJson, it looks at depth and all numbers as well. */
export function parsePart(text: string, { everywhere, depthMax, levels, fullPath }: JsonPart): unknown {
  const value = JSON.parse(text) as unknown;
  if (everywhere || mayBeSuspicious(text) || hasSuspiciousEscape(text))
    restoreExactNumbers(text, value, { everywhere });
  const found = walk(value, levels);
  if (found === undefined) return value;
  if (found.problem === 'depth') throw new UnsupportedJson(tooDeep('', depthMax));
  throw new UnsupportedJson(`${pathOf('', fullPath(found.path.toReversed())) || 'body'}: ${found.problem}`);
}

/** In a text that may be long: to search for one thing after the other is faster there. */
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

/** Why a value from JSON cannot be kept, naming the place under `root`; undefined when it can. */
export function unsupportedReason(value: unknown, { root = '', depthMax = DEPTH_MAX } = {}): string | undefined {
  const found = walk(value, depthMax);
  if (found === undefined) return undefined;
  if (found.problem === 'depth') return tooDeep(root, depthMax);
  return `${pathOf(root, found.path.toReversed()) || 'body'}: ${found.problem}`;
}

interface Found {
  readonly problem: string;
  /** Names from the inside to the outside. */
  readonly path: string[];
}

function walk(value: unknown, levels: number): Found | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : { problem: LONE_SURROGATE, path: [] };
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { problem: TOO_LARGE, path: [] };
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
  if (members.length > MEMBERS_MAX) return { problem: tooMany(members.length), path: [] };
  for (const [name, member] of members) {
    if (name === '__proto__') return { problem: 'is a name that cannot be kept', path: [name] };
    if (!name.isWellFormed()) return { problem: LONE_SURROGATE, path: [name.toWellFormed()] };
    const found = walk(member, levels - 1);
    if (found !== undefined) return within(found, name);
  }
  return undefined;
}

/**
 * Members of one object: an engine takes names that look like numbers for numbers, and spends more than a second on a
 * million of them; a message between threads takes objects of the same members for records.
 */
export const MEMBERS_MAX = 10_000;

/** What is wrong with an object that has more members than that. */
export function tooMany(members: number): string {
  return `must have at most ${grouped(MEMBERS_MAX)} members, found ${grouped(members)}`;
}

const LONE_SURROGATE = 'must be well-formed Unicode, found half of a surrogate pair';
const TOO_LARGE = 'must be a finite number, found one too large';

function within(found: Found, name: string): Found {
  found.path.push(name);
  return found;
}

export function tooDeep(root: string, depthMax: number): string {
  return `${root || 'body'}: must be nested at most ${depthMax} levels deep, found more`;
}

/** JSON.parse takes 1.4 s and 300 MB for 10 MB of brackets, so a long text with many of them is looked at before. */
const LONG = 1_000_000;
/** Characters to each opening bracket. Lists of coordinates have as few, and pass the closer look. */
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
