import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { EntityDocument } from '../lists/entity_document.ts';
import { csvText, type Table } from './csv.ts';
import { stableId } from './stable_id.ts';

export type TableKind = 'trackables' | 'providers';

/** What a column means: a member, `property`, or `none`. */
export type Meaning = string;

/** A list of ids, numbers, or texts. */
const MEMBERS: Readonly<Record<TableKind, Readonly<Record<string, 'text' | 'number' | 'list'>>>> = {
  trackables: {
    id: 'text',
    name: 'text',
    type: 'text',
    location_providers: 'list',
    radius: 'number',
    extrusion: 'number',
    parent: 'text',
    fence_timeout: 'number',
    exit_delay: 'number',
    entry_delay: 'number',
    exit_tolerance: 'number',
    tolerance_timeout: 'number',
  },
  providers: {
    id: 'text',
    name: 'text',
    type: 'text',
    fence_timeout: 'number',
    exit_delay: 'number',
    entry_delay: 'number',
    exit_tolerance: 'number',
    tolerance_timeout: 'number',
  },
};

/** Other headings that mean a member. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  providers: 'location_providers',
  provider: 'location_providers',
  tags: 'location_providers',
  tag: 'location_providers',
  uuid: 'id',
  mac: 'id',
  label: 'name',
  height: 'extrusion',
};

/** What columns can mean for a kind. */
export function meaningsOf(kind: TableKind): readonly Meaning[] {
  return ['none', 'property', ...Object.keys(MEMBERS[kind])];
}

/** What each column most likely means, by its heading. */
export function guessMeanings(columns: readonly string[], kind: TableKind): readonly Meaning[] {
  const used = new Set<string>();
  return columns.map((column) => {
    const name = column.toLowerCase().replaceAll(/[\s-]+/g, '_');
    const other = OTHER_NAMES[name];
    const meaning = name in MEMBERS[kind] ? name : other !== undefined && other in MEMBERS[kind] ? other : 'property';
    if (meaning !== 'property' && used.has(meaning)) return 'property';
    used.add(meaning);
    return meaning;
  });
}

/** Guesses what a table has: where a column says what is carried, these are trackables. */
export function guessKind(columns: readonly string[]): TableKind {
  const names = columns.map((column) => column.toLowerCase());
  return names.some((name) => /provider|tag|radius|parent/.test(name)) ? 'trackables' : 'providers';
}

interface Matching {
  readonly kind: TableKind;
  readonly meanings: readonly Meaning[];
  /** Of the file: rows without an id get one by it. */
  readonly name: string;
}

/** The entities of a table, a row each. Whether they fit is for the hub to say. */
export function entitiesOfTable({ columns, rows }: Table, { kind, meanings, name }: Matching): EntityDocument {
  const list = rows.map((row, index) => {
    const members: Record<string, unknown> = {};
    const properties: Record<string, unknown> = {};
    for (const [i, text] of row.entries()) {
      const meaning = meanings[i] ?? 'none';
      if (text === '' || meaning === 'none') continue;
      if (meaning === 'property') properties[columns[i] ?? ''] = text;
      else members[meaning] = readValue(text, MEMBERS[kind][meaning]);
    }
    const key = String(members['name'] ?? index);
    if (kind === 'trackables') members['id'] ??= stableId(`${name} ${key}`);
    members['type'] ??= kind === 'trackables' ? 'omlox' : 'uwb';
    const { id = '', ...rest } = members;
    return { id, ...rest, ...(Object.keys(properties).length > 0 && { properties }) };
  });
  return { lists: new Map([[kind, list as never]]), rules: undefined };
}

/** What is no number stays a text, which the hub refuses with its place. */
function readValue(text: string, as: 'text' | 'number' | 'list' | undefined): unknown {
  if (as === 'list') return text.split(/[;|\s]+/).filter((each) => each !== '');
  if (as !== 'number') return text;
  const number = Number(text.replace(',', '.'));
  return Number.isNaN(number) ? text : number;
}

/** Trackables or providers as a table: a column for each member that a table can have, and for each property. */
export function entitiesCsv(kind: TableKind, entities: readonly (Trackable | LocationProvider)[]): string {
  const members = meaningsOf(kind).slice(2);
  const properties = new Set(entities.flatMap(({ properties }) => Object.keys(properties ?? {})));
  const own = [...properties].filter((name) => !members.includes(name)).sort();
  const rows = entities.map((entity) => {
    const its = entity as unknown as Readonly<Record<string, unknown>>;
    return [...members.map((name) => textOf(its[name])), ...own.map((name) => textOf(entity.properties?.[name]))];
  });
  return csvText({ columns: [...members, ...own], rows });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(';');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
