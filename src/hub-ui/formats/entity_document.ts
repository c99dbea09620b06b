import { problemError } from '../hub/rest.ts';
import type { Reason, ReasonParams } from '../../reasons.ts';
import { show } from '../../model/error_value_text.ts';
import { idKey } from '../../model/id.ts';
import { parseStoredJson, UnsupportedJson } from '../../model/json.ts';
import { pointerOf } from '../../model/json_tree.ts';
import type { LocatingRule } from '../../model/rule.ts';
import { DEFINITION_NAMES, type DefinitionName } from '../hub/definitions.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import type { ImportBody } from '../hub/import_job.ts';
import { t } from '../languages/language.ts';
import { loadMessages } from '../problems/sentences.ts';
import { notJsonError } from './json_error.ts';

await loadMessages();

/** Format of the file that contains all entities; `hub export` and `hub import` use it, too. */
const FORMAT = 'location-hub-entities';
const VERSION = 1;

/** Order of dependencies: a zone may follow a trackable, a fence may reference a zone. */
export const NEEDED_ORDER: readonly Kind[] = ['anchors', 'trackables', 'zones', 'providers', 'fences'];

type Any = Entities[Kind];

export type EntityMembers = Readonly<Record<string, unknown>>;

/**
 * Contents of an import file. A missing list changes nothing. An entity has only the members that the file contains, and
 * the import changes only these members.
 */
export interface HubDocument {
  readonly lists: ReadonlyMap<Kind, readonly Any[]>;
  readonly rules: readonly LocatingRule[] | undefined;
  /** Alert rules and saved views; the hub validates them. */
  readonly defined?: Readonly<Partial<Record<DefinitionName, readonly unknown[]>>>;
  /** Members that the reader adds to an entity that the hub does not have yet, by kind and id. */
  readonly forNew?: ReadonlyMap<Kind, ReadonlyMap<string, EntityMembers>>;
  /** JSON Pointers of the members that the file can contain, by kind; undefined for all members. */
  readonly scopes?: ReadonlyMap<Kind, readonly string[]>;
  /** Part of the file that an entity comes from, such as `Row 3`, by id. */
  readonly origins?: ReadonlyMap<string, string>;
  /** Notes about values that the reader could not use unchanged. */
  readonly notes?: readonly DocumentNote[];
}

export interface DocumentNote {
  /** Part of the file, such as `Row 3, Cart 1`. */
  readonly where: string;
  readonly what: string;
}

/** JSON Pointers of the members and properties that at least one entity of the list has. */
export function membersGiven(list: readonly object[]): readonly string[] {
  const pointers = new Set<string>();
  for (const entity of list) {
    for (const [name, value] of Object.entries(entity)) {
      if (name !== 'properties') pointers.add(pointerOf(name));
      else if (typeof value === 'object' && value !== null) {
        for (const property of Object.keys(value)) pointers.add(pointerOf(name, property));
      }
    }
  }
  return [...pointers];
}

/** Serializes the document, one entity, rule or view per line. */
export function documentText({ lists, rules, defined = {} }: HubDocument, exportedAt: string): string {
  const head = JSON.stringify({ format: FORMAT, version: VERSION, exported_at: exportedAt }).slice(0, -1);
  const parts = NEEDED_ORDER.flatMap((kind) => {
    const list = lists.get(kind);
    return list === undefined ? [] : [listText(kind, list)];
  });
  if (rules !== undefined) parts.push(`"locating_rules": ${JSON.stringify(rules)}`);
  for (const [name, list] of Object.entries(defined)) parts.push(listText(name, list));
  return `${[head, ...parts].join(',\n')}}\n`;
}

function listText(name: string, list: readonly unknown[]): string {
  const lines = list.map((each) => JSON.stringify(each)).join(',\n');
  return `"${name}": [${lines === '' ? '' : `\n${lines}`}]`;
}

/** Entities of the hub, by kind and `idKey` of the id. */
export type HubEntities = ReadonlyMap<Kind, ReadonlyMap<string, Any>>;

/** Request body of an import. */
export function bodyOf(
  { lists, rules, defined, forNew, scopes }: HubDocument,
  hub: HubEntities = new Map(),
): ImportBody {
  const ordered = NEEDED_ORDER.flatMap((kind) => {
    const list = lists.get(kind);
    if (list === undefined) return [];
    const added = forNew?.get(kind);
    const exists = (id: string): boolean => hub.get(kind)?.has(idKey(id)) === true;
    return [[kind, list.map((each) => (exists(each.id) ? each : { ...added?.get(each.id), ...each }))] as const];
  });
  return {
    format: FORMAT,
    version: VERSION,
    ...Object.fromEntries(ordered),
    ...(rules !== undefined && { locating_rules: rules }),
    ...defined,
    ...(scopes !== undefined && { members: Object.fromEntries(scopes) }),
  };
}

/** Parses a file. The hub validates the entities. Throws an Error that names the first invalid part. */
export function readDocument(text: string): HubDocument {
  const value = parsed(text);
  if (value['format'] !== FORMAT) throw wrong('format', 'not_value', value['format'], { expected: show(FORMAT) });
  if (value['version'] !== VERSION) throw wrong('version', 'not_value', value['version'], { expected: show(VERSION) });
  const lists = new Map(NEEDED_ORDER.flatMap((kind) => listOf(kind, value[kind])));
  const rules = value['locating_rules'];
  if (rules !== undefined && !Array.isArray(rules)) {
    throw wrong('locating_rules', 'not_an_array', rules);
  }
  const defined = DEFINITION_NAMES.flatMap((name) => {
    const list = value[name];
    if (list === undefined) return [];
    if (!Array.isArray(list)) throw wrong(name, 'not_an_array', list);
    return [[name, list] as const];
  });
  return { lists, rules, ...(defined.length > 0 && { defined: Object.fromEntries(defined) }) };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseStoredJson(text);
  } catch (cause) {
    if (cause instanceof UnsupportedJson) throw cause;
    throw notJsonError(text, cause);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(t('The file must be one JSON object, found {found}', { found: show(value) }));
}

function listOf(kind: Kind, list: unknown): [Kind, readonly Any[]][] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw wrong(kind, 'not_an_array', list);
  for (const [index, entity] of list.entries()) {
    const id: unknown = (entity as { readonly id?: unknown } | null)?.id;
    // Without ids, repeating the import would create duplicates.
    if (typeof id !== 'string' || id === '') throw wrong(`${kind}[${index}].id`, 'not_a_string', id);
  }
  return [[kind, list as readonly Any[]]];
}

function wrong(path: string, reason: Reason, value: unknown, params: ReasonParams = {}): Error {
  return problemError({ reason, params: { path, found: show(value), ...params } });
}
