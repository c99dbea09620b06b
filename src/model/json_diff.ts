import { isObject, isSame, pointerOf } from './json_tree.ts';
import { ExactNumber } from './lossless_numbers.ts';

/** An operation of a JSON Patch (RFC 6902) between two values. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Returns the JSON Patch from one JSON value to another; undefined for none. Members of objects are compared one by one. An array
 * is replaced as a whole: most arrays are coordinates, whose elements mean little on their own.
 */
export function patchBetween(before: unknown, after: unknown): readonly PatchOperation[] {
  const patch: PatchOperation[] = [];
  compare(before, after, { path: '', patch });
  return patch;
}

function compare(
  before: unknown,
  after: unknown,
  at: { readonly path: string; readonly patch: PatchOperation[] },
): void {
  const { path, patch } = at;
  if (after === undefined) {
    if (before !== undefined) patch.push({ op: 'remove', path });
  } else if (before === undefined) patch.push({ op: 'add', path, value: after });
  else if (hasMembers(before) && hasMembers(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(memberOf(before, name), memberOf(after, name), { path: path + pointerOf(name), patch });
    }
  } else if (!isSame(before, after)) patch.push({ op: 'replace', path, value: after });
}

function hasMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof ExactNumber);
}

function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
