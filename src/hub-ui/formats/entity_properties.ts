import { Fence } from '../../model/fence.ts';
import { Zone } from '../../model/zone.ts';

/**
 * Fences and zones as properties of features, from which `exportedEntityOf` restores all their members. The property `hub`
 * marks them. Each member becomes a property of the same name, and so does each property of the entity that GIS programs can
 * display in a column. All other properties are in `properties`.
 */

export type DrawnKind = 'fences' | 'zones';

export interface ExportedEntity {
  readonly kind: DrawnKind;
  /** Members in the file, except for members that derive from the geometry. */
  readonly members: Readonly<Record<string, unknown>>;
}

const MARK = 'hub';
const KINDS: Readonly<Record<string, DrawnKind>> = { fence: 'fences', zone: 'zones' };
const MARKS: Readonly<Record<DrawnKind, string>> = { fences: 'fence', zones: 'zone' };

/**
 * Exported members, and whether each is a string. Exports are in geographic coordinates and have no `crs`. On import, a
 * region keeps the `crs` of its fence on the hub.
 */
const MEMBERS: Readonly<Record<DrawnKind, ReadonlyMap<string, boolean>>> = {
  fences: membersOf(Fence.properties, ['id', 'region', 'crs', 'properties']),
  zones: membersOf(Zone.properties, ['id', 'properties']),
};

function membersOf(
  schemas: Readonly<Record<string, object>>,
  without: readonly string[],
): ReadonlyMap<string, boolean> {
  const members = Object.entries(schemas).filter(([name]) => !without.includes(name));
  return new Map(members.map(([name, schema]) => [name, isText(schema)]));
}

/** Whether a schema, or the first schema of a union with null, is for strings. */
function isText(schema: {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly anyOf?: readonly object[];
}): boolean {
  const [first] = schema.anyOf ?? [];
  return first === undefined ? schema.type === 'string' || schema.enum !== undefined : isText(first);
}

/** Column names that properties of an entity must not use. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['id', MARK, 'properties', 'crs', 'region', 'description'],
  ...MEMBERS.fences.keys(),
  ...MEMBERS.zones.keys(),
]);

type Entity = Readonly<Record<string, unknown>>;

/** Whether a format supports a property of an entity as a column. */
export type IsFlat = (key: string, value: unknown) => boolean;

/** Writes the properties of features for entities of one kind. */
export class EntityProperties {
  readonly #kind: DrawnKind;
  readonly #isFlat: IsFlat;
  /** Properties whose type differs between entities, which a GIS program would convert to one type. */
  readonly #mixed = new Set<string>();

  constructor(kind: DrawnKind, entities: readonly object[], isFlat: IsFlat) {
    this.#kind = kind;
    this.#isFlat = isFlat;
    const types = new Map<string, string>();
    for (const entity of entities) {
      for (const [key, value] of Object.entries((entity as Entity)['properties'] ?? {})) {
        if (types.has(key) && types.get(key) !== typeof value) this.#mixed.add(key);
        types.set(key, typeof value);
      }
    }
  }

  of(entity: object): Readonly<Record<string, unknown>> {
    const written: [string, unknown][] = [[MARK, MARKS[this.#kind]]];
    for (const name of MEMBERS[this.#kind].keys()) {
      const value = (entity as Entity)[name];
      if (value != null) written.push([name, value]);
    }
    const own = (entity as Entity)['properties'];
    if (own != null) {
      const nested: [string, unknown][] = [];
      for (const [key, value] of Object.entries(own)) {
        const isColumn = this.#isFlat(key, value) && !this.#mixed.has(key) && !isReserved(key);
        (isColumn ? written : nested).push([key, value]);
      }
      if (nested.length > 0 || Object.keys(own).length === 0) written.push(['properties', Object.fromEntries(nested)]);
    }
    return Object.fromEntries(written);
  }
}

/** Compares without case: most GIS programs have case-insensitive column names. */
function isReserved(key: string): boolean {
  return key === '' || RESERVED.has(key.toLowerCase());
}

/** Kind of an exported feature; undefined for features of other origin. */
export function exportedKindOf(properties: Entity): DrawnKind | undefined {
  const mark = properties[MARK];
  return typeof mark === 'string' && Object.hasOwn(KINDS, mark) ? KINDS[mark] : undefined;
}

/** Restores the members of an exported entity; undefined for features of other origin. */
export function exportedEntityOf(feature: Entity): ExportedEntity | undefined {
  const kind = exportedKindOf(feature);
  if (kind === undefined) return undefined;
  const members: [string, unknown][] = [];
  const own: [string, unknown][] = [];
  let hasOwn = false;
  for (const [key, value] of Object.entries(feature)) {
    // GIS programs write null for missing columns.
    if (value == null || key === MARK || key === 'id') continue;
    const isText = MEMBERS[kind].get(key);
    if (isText !== undefined) members.push([key, isText ? value : fromJson(value)]);
    else if (key === 'properties') {
      const nested = fromJson(value);
      hasOwn = typeof nested === 'object' && nested !== null;
      own.push(...(hasOwn ? Object.entries(nested as object) : [[key, value] as [string, unknown]]));
    } else own.push([key, value]);
  }
  if (own.length > 0 || hasOwn) members.push(['properties', Object.fromEntries(own)]);
  return { kind, members: Object.fromEntries(members) };
}

/** Parses JSON in strings: KML has only strings, and GIS programs convert lists and objects to strings. */
function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
