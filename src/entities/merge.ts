import { isSame, lookUp, parsePointer, pointerOf, isObject } from '../model/json_tree.ts';
import { ExactNumber, PROPERTIES } from '../model/lossless_numbers.ts';
import { show } from '../model/error_value_text.ts';
import type { EntityBody } from './body.ts';

/**
 * Merge of an import: a document changes those members of an existing entity that it contains. `properties` are merged by
 * name; every other member is a single value. Null counts as absent, as in the API.
 *
 *     the hub has        the document has      the result has
 *     a value            another value         the other value
 *     a value            null, or nothing      the value, reported as missing; `deletes` removes it
 *     null, or nothing   null, or nothing      the member of the hub
 */

export interface MergeOptions {
  /** Whether missing values are deleted. */
  readonly deletes: boolean;
  /**
   * JSON Pointers of the members available in the source of the document, such as the columns of a table. Only these
   * can be missing. Undefined: all members.
   */
  readonly scope?: ReadonlySet<string> | undefined;
}

export interface Merged {
  readonly body: EntityBody;
  /** JSON Pointers of values in the hub that the document could contain and does not. */
  readonly missing: readonly string[];
}

/** Required members, and internal ones. */
const NEVER_MISSING: ReadonlySet<string> = new Set(['id', 'type', 'region', 'former_zone']);
/** Members that define the meaning of a region's coordinates. */
const PLANE: readonly string[] = ['crs', 'zone_id'];

/** Merges the members of a document into an existing entity. */
export function merge(before: EntityBody, given: EntityBody, { deletes, scope }: MergeOptions): Merged {
  const missing: string[] = [];
  const body: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(given)) if (!isNothing(value)) body[name] = value;
  for (const [name, value] of Object.entries(before)) {
    if (name === PROPERTIES && hasMembers(value) && (isNothing(given[name]) || hasMembers(given[name]))) {
      const merged = mergeProperties(value, (given[name] ?? {}) as EntityBody, { deletes, scope });
      missing.push(...merged.missing);
      body[name] = merged.body;
      if (deletes && merged.missing.length > 0 && Object.keys(merged.body).length === 0) delete body[name];
      continue;
    }
    if (!isNothing(given[name]) || NEVER_MISSING.has(name) || isEmpty(value)) continue;
    if (PLANE.includes(name) && isNothing(given['region'])) continue;
    const pointer = pointerOf(name);
    if (scope?.has(pointer) === false) continue;
    missing.push(pointer);
    if (deletes) delete body[name];
  }
  return { body, missing };
}

/** Returns the same object if nothing changes, so that values stored under other limits remain valid. */
function mergeProperties(before: EntityBody, given: EntityBody, { deletes, scope }: MergeOptions): Merged {
  const names = Object.keys(before).filter((name) => {
    return !Object.hasOwn(given, name) && scope?.has(pointerOf(PROPERTIES, name)) !== false;
  });
  const missing = names.map((name) => pointerOf(PROPERTIES, name));
  const news = Object.entries(given).filter(([name, value]) => {
    return !Object.hasOwn(before, name) || !isSame(before[name], value);
  });
  const removed = new Set(deletes ? names : []);
  if (news.length === 0 && removed.size === 0) return { body: before, missing };
  const rest = Object.entries(before).filter(([name]) => !removed.has(name));
  return { body: Object.fromEntries([...rest, ...news]), missing };
}

/**
 * Change of one member of an entity, or of one of its properties. The values are JSON, shortened as in error messages.
 */
export interface MergedMemberChange {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** The differences between two versions of an entity, member by member. Without the first, all members are new. */
export function memberChanges(before: EntityBody | undefined, after: EntityBody): readonly MergedMemberChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly MergedMemberChange[] => {
    const [old, next] = [before?.[name], after[name]];
    if (name === PROPERTIES && (hasMembers(old) || hasMembers(next))) {
      const [oldOnes, nextOnes] = [hasMembers(old) ? old : {}, hasMembers(next) ? next : {}];
      const own = new Set([...Object.keys(oldOnes), ...Object.keys(nextOnes)]);
      return [...own].flatMap((each) => changeAt(pointerOf(name, each), oldOnes[each], nextOnes[each]));
    }
    return changeAt(pointerOf(name), old, next);
  });
}

function changeAt(path: string, before: unknown, after: unknown): readonly MergedMemberChange[] {
  if (isSame(before, after)) return [];
  const [old, next] = [before, after].map((value) => (value === undefined ? undefined : show(value)));
  return [{ path, ...(old !== undefined && { before: old }), ...(next !== undefined && { after: next }) }];
}

/** The value at a JSON Pointer of an entity, shortened as in error messages. */
export function shownAt(entity: EntityBody, pointer: string): string {
  return show(lookUp(entity, parsePointer(pointer) ?? []));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Whether removing the value would have no effect. */
function isEmpty(value: unknown): boolean {
  return isNothing(value) || value === '' || (Array.isArray(value) && value.length === 0);
}

function hasMembers(value: unknown): value is EntityBody {
  return isObject(value) && !(value instanceof ExactNumber);
}
