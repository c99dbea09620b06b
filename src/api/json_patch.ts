import { hubError, HubError } from '../errors.ts';
import { problemOf, type Problem } from '../problem.ts';
import Type, { type Static } from 'typebox';
import { checker } from '../model/check.ts';
import { DEPTH_MAX } from '../model/depth.ts';
import { clone, insert, isSame, lookUp, parsePointer, remove, weigh } from '../model/json_tree.ts';
import { AnyType, Choice, documented, OneOf } from '../model/schema.ts';
import { pathOf, show } from '../model/error_value_text.ts';

/**
 * JSON Patch (RFC 6902): atomic operations on a JSON value, in order.
 *
 * Implemented here, because available packages modify their input and have their own error messages. A patch is a small
 * program, so its cost is bounded: the number of operations, the depth of the result, and the total of added values,
 * since copies of copies grow without end.
 */

const OPERATIONS_MAX = 1000;
const WEIGHT_MAX = 10_000_000;

function Pointer(description: string) {
  return Type.String({ description, ...documented({ format: 'json-pointer' }) });
}

const PatchKind = OneOf(['add', 'remove', 'replace', 'move', 'copy', 'test'], {
  title: 'JsonPatchOp',
  description: 'Kind of an operation.',
});

const Operation = Type.Object(
  {
    op: PatchKind,
    path: Pointer('JSON Pointer (RFC 6901) to a member; `-` is the end of an array.'),
    from: Type.Optional(Pointer('JSON Pointer to the moved or copied value.')),
    value: Type.Optional(AnyType),
  },
  {
    title: 'JsonPatchOperation',
    description: 'An operation, with the value that it adds, sets, or tests for.',
  },
);
type Operation = Static<typeof Operation>;

const Operations = Type.Array(Operation, {
  maxItems: OPERATIONS_MAX,
  title: 'JsonPatchOperations',
  description: `At most ${OPERATIONS_MAX} operations, in their order.`,
});

/** One operation, or several. */
export const JsonPatch = Choice([Operation, Operations], {
  title: 'JsonPatch',
  description: 'JSON Patch (RFC 6902): one operation, or several in order. All are applied, or none.',
});

const operation = checker(Operation);

/**
 * Applies the operations of a request's body; the given value is not modified. Throws HUB_BAD_REQUEST naming the failed
 * operation and its member.
 */
export function patched(value: unknown, patch: unknown): unknown {
  const single = !Array.isArray(patch);
  const operations: readonly unknown[] = single ? [patch] : patch;
  if (operations.length > OPERATIONS_MAX) {
    throw hubError('too_many', { path: 'patch', limit: OPERATIONS_MAX, unit: 'operations', found: operations.length });
  }
  const work: Work = { document: clone(value), weight: 0 };
  for (const [i, given] of operations.entries()) {
    const root = single ? '' : pathOf('patch', [String(i)]);
    apply(work, operation.parse(given, root), (member, problem) => new HubError(problem.at(pathOf(root, [member]))));
  }
  return work.document;
}

/** A private copy of the value, and the weight of all added values. */
interface Work {
  document: unknown;
  weight: number;
}

type Refuse = (member: keyof Operation, problem: Problem) => HubError;

function apply(work: Work, { op, path, from, value }: Operation, refuse: Refuse): void {
  const at = pointer('path', path, refuse);
  switch (op) {
    case 'add':
      put(work, at, given(value, refuse), refuse);
      return;
    case 'remove':
      take(work, 'path', at, refuse);
      return;
    case 'replace':
      find(work, 'path', at, refuse);
      // A member of an object is replaced in place; an element of an array would be shifted.
      if (Array.isArray(lookUp(work.document, at.slice(0, -1)))) take(work, 'path', at, refuse);
      put(work, at, given(value, refuse), refuse);
      return;
    case 'test': {
      const wanted = given(value, refuse);
      const found = find(work, 'path', at, refuse);
      if (!isSame(found, wanted))
        throw refuse('value', problemOf('patch_differs', { pointer: path, found: show(found) }));
      return;
    }
    case 'copy': {
      const copied = find(work, 'from', source(from, refuse), refuse);
      put(work, at, copied, refuse);
      return;
    }
    case 'move': {
      const origin = source(from, refuse);
      if (origin.length < at.length && origin.every((segment, i) => segment === at[i])) {
        throw refuse('from', problemOf('patch_into_itself', { found: show(from) }));
      }
      put(work, at, take(work, 'from', origin, refuse), refuse);
      return;
    }
  }
}

/** Inserted values are cloned: the patch and copied values are not modified. */
function put(work: Work, at: readonly string[], value: unknown, refuse: Refuse): void {
  const weight = weigh(value, DEPTH_MAX - at.length);
  if (weight === undefined) throw refuse('path', problemOf('patch_too_deep', { limit: DEPTH_MAX }));
  work.weight += weight;
  if (work.weight > WEIGHT_MAX) throw refuse('value', problemOf('patch_too_large'));
  const own = clone(value);
  if (at.length === 0) {
    work.document = own;
    return;
  }
  const parent = find(work, 'path', at.slice(0, -1), refuse);
  const problem = insert(parent, at.at(-1) ?? '', own);
  if (problem !== undefined) throw refuse('path', problem);
}

function take(work: Work, member: 'path' | 'from', at: readonly string[], refuse: Refuse): unknown {
  const found = find(work, member, at, refuse);
  if (at.length === 0) work.document = undefined;
  else remove(find(work, member, at.slice(0, -1), refuse), at.at(-1) ?? '');
  return found;
}

function find(work: Work, member: 'path' | 'from', at: readonly string[], refuse: Refuse): unknown {
  const found = lookUp(work.document, at);
  if (found !== undefined) return found;
  const deepest = at.findIndex((_, i) => lookUp(work.document, at.slice(0, i + 1)) === undefined);
  throw refuse(member, problemOf('patch_leads_nowhere', { pointer: at[deepest] ?? '' }));
}

function pointer(member: 'path' | 'from', text: string, refuse: Refuse): readonly string[] {
  const parsed = parsePointer(text);
  if (parsed === undefined) throw refuse(member, problemOf('not_a_json_pointer', { found: show(text) }));
  return parsed;
}

function source(from: string | undefined, refuse: Refuse): readonly string[] {
  if (from === undefined) throw refuse('from', problemOf('missing'));
  return pointer('from', from, refuse);
}

function given(value: unknown, refuse: Refuse): unknown {
  if (value === undefined) throw refuse('value', problemOf('missing'));
  return value;
}
