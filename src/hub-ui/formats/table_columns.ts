import { isUuid } from '../../model/id.ts';
import { PROVIDER_TYPES } from '../../model/provider_type.ts';
import type { Table } from './csv.ts';

/** Columns of tables of entities, with their members and headings. */

export type TableKind = 'trackables' | 'providers';

/** Meaning of a column: the name of a member, `property`, or `none`. */
export type Meaning = string;

/** Type of a cell. `list` is a list of ids, `data` is JSON or any other text, and an array is an enumeration. */
export type CellType = 'text' | 'number' | 'boolean' | 'list' | 'json' | 'data' | readonly string[];

const TIMING = {
  fence_timeout: 'number',
  timeout: 'number',
  exit_delay: 'number',
  entry_delay: 'number',
  exit_tolerance: 'number',
  tolerance_timeout: 'number',
  entry_tolerance_timeout: 'number',
} as const satisfies Readonly<Record<string, CellType>>;

/** Members of each kind in tables, in the order of the exported columns. */
export const MEMBERS: Readonly<Record<TableKind, Readonly<Record<string, CellType>>>> = {
  trackables: {
    id: 'text',
    name: 'text',
    type: ['omlox', 'virtual'],
    location_providers: 'list',
    radius: 'number',
    extrusion: 'number',
    parent: 'text',
    ...TIMING,
    calculate_collisions: 'boolean',
    locating_rules: 'json',
    geometry: 'json',
  },
  providers: { id: 'text', name: 'text', type: PROVIDER_TYPES, ...TIMING, sensors: 'data' },
};

/** Members that are exported only if an entity has a value. */
export const OPTIONAL_COLUMNS: ReadonlySet<string> = new Set([
  ...['timeout', 'entry_tolerance_timeout', 'calculate_collisions', 'locating_rules', 'geometry'],
]);

/** Headings of columns with provider ids, of a trackable or of the provider itself. */
const CARRIER =
  /^((location|ortungs)_?)?(provider|tag|beacon|transponder|badge|device|sender|mac)s?(_?(id|mac|uid|epc|no|nr|number|nummer|address|adresse)s?)*$/;

/** Synonyms of members. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  uuid: 'id',
  guid: 'id',
  trackable_id: 'id',
  label: 'name',
  asset_name: 'name',
  title: 'name',
  bezeichnung: 'name',
  typ: 'type',
  height: 'extrusion',
  hoehe: 'extrusion',
  parent_id: 'parent',
};

const PROPERTY = 'properties.';

/** Name of a column's property, and the type of its cells: columns of exports may contain JSON. */
export function propertyOf(column: string): { readonly name: string; readonly reading: 'data' | 'text' } {
  if (!column.startsWith(PROPERTY)) return { name: column, reading: 'text' };
  return { name: column.slice(PROPERTY.length), reading: 'data' };
}

/** Heading of a property's column in exports. */
export function headingOf(property: string): string {
  return PROPERTY + property;
}

/** Possible meanings of columns. */
export function meaningsOf(kind: TableKind): readonly Meaning[] {
  return ['none', 'property', ...Object.keys(MEMBERS[kind])];
}

/** Guesses the meaning of each column by its heading. Several columns may have ids of providers. */
export function guessMeanings(columns: readonly string[], kind: TableKind): readonly Meaning[] {
  const used = new Set<string>();
  return columns.map((column) => {
    const meaning = memberNamed(column, kind);
    if (meaning === undefined || (used.has(meaning) && meaning !== 'location_providers')) return 'property';
    used.add(meaning);
    return meaning;
  });
}

function memberNamed(column: string, kind: TableKind): string | undefined {
  if (column.startsWith(PROPERTY)) return undefined;
  const name = normalized(column);
  if (Object.hasOwn(MEMBERS[kind], name)) return name;
  if (CARRIER.test(name.replace(/_\d+$/, ''))) return kind === 'trackables' ? 'location_providers' : 'id';
  if (kind === 'providers' && /^(provider|tag|device)_type$/.test(name)) return 'type';
  const other = OTHER_NAMES[name];
  return other !== undefined && Object.hasOwn(MEMBERS[kind], other) ? other : undefined;
}

/**
 * Normalizes a heading: `Tag-ID` becomes `tag_id`, and `Radius (m)` becomes `radius`. Only the hub's units, meters and
 * milliseconds, are removed.
 */
function normalized(column: string): string {
  const unit = /\b(delay|timeout)\b/i.test(column.replaceAll('_', ' ')) ? /[([]ms[)\]]$/ : /[([]m[)\]]$/;
  const name = column.trim().replace(unit, '').trimEnd();
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('ö', 'oe')
    .replaceAll(/[\s.\-_/#]+/g, '_')
    .replace(/_$/, '');
}

/** Guesses the kind that a table lists, from members that only one kind has, then from types and ids. */
export function guessKind({ columns, rows }: Table): TableKind {
  const names = columns.filter((column) => !column.startsWith(PROPERTY)).map(normalized);
  const cells = (name: string): readonly string[] => {
    const index = columns.findIndex((column) => normalized(column) === name);
    return index === -1 ? [] : rows.map((row) => row[index] ?? '').filter((cell) => cell !== '');
  };
  const [ids, types] = [cells('id'), cells('type')];
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  if (has(/^(location_providers|radius|parent|extrusion|geometry|locating_rules|calculate_collisions)$/))
    return 'trackables';
  if (has(/^sensors$/)) return 'providers';
  if (types.length > 0 && types.every((type) => PROVIDER_TYPES.includes(type as never))) return 'providers';
  if (types.some((type) => MEMBERS.trackables['type']?.includes(type))) return 'trackables';
  if (ids.length > 0) return ids.every(isUuid) || has(CARRIER) ? 'trackables' : 'providers';
  return has(CARRIER) && !has(/^(name|label|title|bezeichnung|asset_name)$/) ? 'providers' : 'trackables';
}
