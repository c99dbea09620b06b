import type { ErrorReason } from '../reasons.ts';
import { problemOf, Problem } from '../problem.ts';
import { isUnset } from '../model/id.ts';
import { parsePointer, isObject } from '../model/json_tree.ts';
import { show } from '../model/error_value_text.ts';
import type { EntityBody } from './body.ts';
import type { EntityKindName } from './entity_lookup.ts';

/**
 * All entities as one JSON document:
 *
 *     { "format": "location-hub-entities", "version": 1, "exported_at": "2026-11-21T03:04:52.000Z",
 *       "anchors": […], "zones": […], "trackables": […], "providers": […], "fences": […], "locating_rules": […],
 *       "alert_rules": […], "views": […], "sinks": […], "sources": […] }
 *
 * Entities have the format of the API. A document contains only the members to change (see merge.ts). A local fence
 * whose zone was deleted has the plane of that zone in `former_zone`. A missing list changes nothing. `members` lists,
 * for each list, the members that the source of the document can provide, as JSON Pointers. An import that deletes
 * missing members deletes only these. Default: all members.
 */
export const FORMAT = 'location-hub-entities';
export const FORMAT_VERSION = 1;

/** The lists, in the order of dependencies, and the kind of each. */
export const LISTS = [
  ['anchors', 'anchor'],
  ['trackables', 'trackable'],
  ['zones', 'zone'],
  ['providers', 'provider'],
  ['fences', 'fence'],
] as const satisfies readonly (readonly [string, EntityKindName])[];
export type ListName = (typeof LISTS)[number][0];

/** Lists of documents defined in the page. */
export const DEFINED_NAMES = ['alert_rules', 'views', 'sinks', 'sources'] as const;
export type DefinedName = (typeof DEFINED_NAMES)[number];

/** A member of a list of a document, with its path: `fences[3]`. */
export interface ListedMember {
  readonly place: string;
  readonly id: string;
  readonly body: EntityBody;
}

/** An entity of a document. */
export interface Listed extends ListedMember {
  readonly kind: EntityKindName;
}

export interface EntityDocument {
  /** In the order of LISTS. */
  readonly entities: readonly Listed[];
  /** The kinds with a list, even an empty one. */
  readonly kinds: ReadonlySet<EntityKindName>;
  /** Undefined if the document has none. */
  readonly locatingRules: unknown;
  /** The lists of documents. */
  readonly defined: ReadonlyMap<DefinedName, readonly ListedMember[]>;
  /** JSON Pointers of the members available in the source of the document, for the lists that declare them. */
  readonly scopes: ReadonlyMap<ListName, ReadonlySet<string>>;
}

/** Effect of an import on a list. */
export interface ImportCounts {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
}

/** A problem of a document: `place` is the path of the field, `message` the error and the value found. */
export interface DocumentProblem extends ErrorReason {
  /** Path of a field: `fences[3].region.coordinates[0]`. */
  readonly place: string;
  readonly message: string;
  /** Id of the entity. */
  readonly id?: string;
}

const MEMBERS = [
  'format',
  'version',
  'exported_at',
  ...LISTS.map(([name]) => name),
  'locating_rules',
  ...DEFINED_NAMES,
  'members',
];

/** Parses a document; its entities are checked later. Returns the problems instead, if there are any. */
export function readDocument(value: EntityBody): EntityDocument | readonly DocumentProblem[] {
  const { format, version } = value;
  if (format !== FORMAT)
    return [problemAt('format', problemOf('not_value', { expected: show(FORMAT), found: show(format) }))];
  if (version !== FORMAT_VERSION) {
    return [problemAt('version', problemOf('not_value', { expected: show(FORMAT_VERSION), found: show(version) }))];
  }
  const problems: DocumentProblem[] = Object.keys(value).flatMap((name) =>
    MEMBERS.includes(name) ? [] : [problemAt(name, problemOf('unknown_list'))],
  );
  const entities = LISTS.flatMap(([name, kind]) => {
    return listed(value[name], { name, problems }).map((each) => ({ kind, ...each }));
  });
  const defined = new Map(
    DEFINED_NAMES.filter((name) => value[name] !== undefined).map((name) => {
      return [name, listed(value[name], { name, problems })] as const;
    }),
  );
  const scopes = scopesIn(value['members'], problems);
  if (problems.length > 0) return problems;
  const kinds = new Set(LISTS.filter(([name]) => value[name] !== undefined).map(([, kind]) => kind));
  return { entities, kinds, locatingRules: value['locating_rules'], defined, scopes };
}

function scopesIn(value: unknown, problems: DocumentProblem[]): EntityDocument['scopes'] {
  const scopes = new Map<ListName, ReadonlySet<string>>();
  if (value === undefined) return scopes;
  if (!isObject(value)) {
    problems.push(problemAt('members', problemOf('not_an_object', { found: show(value) })));
    return scopes;
  }
  for (const [name, pointers] of Object.entries(value)) {
    const list = LISTS.find(([each]) => each === name)?.[0];
    const place = `members.${name}`;
    if (list === undefined) problems.push(problemAt(place, problemOf('unknown_list')));
    else if (!Array.isArray(pointers) || !pointers.every(isPointer))
      problems.push(problemAt(place, problemOf('not_json_pointers', { found: show(pointers) })));
    else scopes.set(list, new Set(pointers as readonly string[]));
  }
  return scopes;
}

function isPointer(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && parsePointer(value) !== undefined;
}

function listed(
  list: unknown,
  { name, problems }: { name: ListName | DefinedName; problems: DocumentProblem[] },
): readonly ListedMember[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    problems.push(problemAt(name, problemOf('not_an_array', { found: show(list) })));
    return [];
  }
  return list.flatMap((body: unknown, index): ListedMember[] => {
    const place = `${name}[${index}]`;
    const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
    // Without ids, importing twice would create every entity twice.
    if (typeof id === 'string' && !isUnset(id)) return [{ place, id, body: body as EntityBody }];
    problems.push(problemAt(`${place}.id`, problemOf('missing_entity_id', { found: show(id) })));
    return [];
  });
}

/** A problem of a field, with the path of the field in the document. */
export function problemAt(place: string, { reason, params: { path, ...params } }: ErrorReason): DocumentProblem {
  const field = path === undefined || path === 'body' ? [] : [String(path)];
  const message = String(new Problem({ reason, params }));
  return { place: [place, ...field].filter((part) => part !== '').join('.'), message, reason, params };
}
