import { problemOf, type Problem } from '../problem.ts';
import { isSameNumber, ExactNumber } from './lossless_numbers.ts';

/** JSON values as trees, addressed by JSON Pointers (RFC 6901). */

/** Returns whether a JSON value is an object, neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the segments of a JSON Pointer; undefined if `text` is not valid. */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the JSON Pointer of segments. */
export function pointerOf(...segments: readonly string[]): string {
  return segments.map((each) => `/${each.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns the value at a path; undefined if the path does not exist. */
export function lookUp(value: unknown, segments: readonly string[]): unknown {
  let found = value;
  for (const segment of segments) found = childOf(found, segment);
  return found;
}

/** Returns the member or element with a name. */
function childOf(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return isIndex(name) ? (parent[Number(name)] as unknown) : undefined;
  if (!isParent(parent) || !Object.hasOwn(parent, name)) return undefined;
  return (parent as Readonly<Record<string, unknown>>)[name];
}

/**
 * Inserts a value into an object, replacing a member with the name, or into an array before the element with the index;
 * `-` is the end. Returns the problem of an invalid name; undefined on success.
 */
export function insert(parent: unknown, name: string, value: unknown): Problem | undefined {
  if (Array.isArray(parent)) {
    const index = name === '-' ? parent.length : isIndex(name) ? Number(name) : Number.NaN;
    if (!(index <= parent.length))
      return problemOf('patch_bad_index', { maximum: parent.length, found: name.slice(0, 80) });
    parent.splice(index, 0, value);
    return undefined;
  }
  if (!isParent(parent)) return problemOf('patch_no_container');
  // An assignment to __proto__ would change the prototype of the object.
  Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
  return undefined;
}

/** Removes a member or element, which must exist. */
export function remove(parent: unknown, name: string): void {
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete (parent as Record<string, unknown>)[name];
}

/** Whether two JSON values are equal, regardless of the order of members and of the notation of numbers. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return isSameNumber(a, b);
  if (!isParent(a) || !isParent(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSame(memberOf(a, name), memberOf(b, name)));
}

/** Returns the approximate size of a JSON value in characters; undefined if it is nested deeper than `levels`. */
export function weigh(value: unknown, levels: number): number | undefined {
  if (typeof value === 'string') return value.length + 2;
  if (value instanceof ExactNumber) return value.text.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (levels <= 0) return undefined;
  let sum = 2;
  for (const [name, member] of Object.entries(value)) {
    const weight = weigh(member, levels - 1);
    if (weight === undefined) return undefined;
    sum += weight + name.length;
  }
  return sum;
}

/** Returns a deep copy. */
export function clone(value: unknown): unknown {
  if (!isParent(value)) return value;
  if (Array.isArray(value)) return value.map(clone);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clone(member)]));
}

function isParent(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

function memberOf(object: object, name: string): unknown {
  return (object as Readonly<Record<string, unknown>>)[name];
}

/** Whether `text` is an array index without a sign or leading zeros. */
function isIndex(text: string): boolean {
  return /^(0|[1-9]\d{0,9})$/.test(text);
}
