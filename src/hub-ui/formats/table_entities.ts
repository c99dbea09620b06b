import { unguarded } from '../../model/csv.ts';
import { isUuid } from '../../model/id.ts';
import { pointerOf } from '../../model/json_tree.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { t } from '../languages/language.ts';
import { labelOfMember } from '../problems/sentences.ts';
import { csvText, type Table } from './csv.ts';
import type { DocumentNote, HubDocument, EntityMembers } from './entity_document.ts';
import { stableId } from './stable_id.ts';
import { cellOf, readCell } from './table_cells.ts';
import {
  headingOf,
  MEMBERS,
  type Meaning,
  meaningsOf,
  propertyOf,
  OPTIONAL_COLUMNS,
  type TableKind,
} from './table_columns.ts';
import { type DecimalSign, type Detected, detectSign } from './written_numbers.ts';

export interface Matching {
  readonly kind: TableKind;
  readonly meanings: readonly Meaning[];
  /** Decimal sign, detected or selected. */
  readonly sign: DecimalSign | undefined;
  /** Name of the file, from which ids of rows without id and name are derived. */
  readonly name: string;
}

/** Detects the decimal sign from the columns with numbers. */
export function signOf({ rows }: Table, { kind, meanings }: Pick<Matching, 'kind' | 'meanings'>): Detected {
  const isNumber = meanings.map((meaning) => MEMBERS[kind][meaning] === 'number');
  return detectSign(rows.flatMap((row) => row.filter((cell, i) => isNumber[i] === true && cell !== '')));
}

/** Reason why columns conflict, because two would set the same value; undefined without a conflict. */
export function whyNoMatch({ columns }: Table, { meanings }: Pick<Matching, 'meanings'>): string | undefined {
  const taken = new Map<string, string>();
  for (const [i, column] of columns.entries()) {
    const meaning = meanings[i] ?? 'none';
    if (meaning === 'none' || meaning === 'location_providers') continue;
    const key = meaning === 'property' ? pointerOf('properties', propertyOf(column).name) : meaning;
    const other = taken.get(key);
    if (other !== undefined)
      return t('The columns {one} and {other} mean the same. Skip one of them.', { one: other, other: column });
    taken.set(key, column);
  }
  return undefined;
}

/**
 * Converts each row to an entity with the members of its non-empty cells. Invalid values become properties, with a note. The
 * hub validates the rest.
 */
export function entitiesOfTable(table: Table, matching: Matching): HubDocument {
  const { kind, meanings } = matching;
  const rows = table.rows.map((row, index) =>
    readRow(row, { table, matching, number: table.numbers[index] ?? index + 2 }),
  );
  const ids = new RowIds(
    matching,
    new Set(rows.flatMap(({ members }) => (typeof members['id'] === 'string' ? [members['id']] : []))),
  );
  const forNew = new Map<string, EntityMembers>();
  const origins = new Map<string, string>();
  const notes: DocumentNote[] = [];
  const list = rows.map((row) => {
    const { where, members, properties } = row;
    notes.push(...row.notes);
    const { id: _as, parent: _carrier, ...rest } = members;
    const { id, parent, preserved, warning } = ids.of(row);
    for (const [name, what] of preserved) {
      properties[name] = String(members[name]);
      notes.push({ where, what });
    }
    if (warning !== undefined) notes.push({ where, what: warning });
    forNew.set(id, { type: kind === 'trackables' ? 'omlox' : 'uwb' });
    if (!origins.has(id)) origins.set(id, where);
    const has = Object.keys(properties).length > 0;
    return { id, ...rest, ...(parent !== undefined && { parent }), ...(has && { properties }) };
  });
  const scope = table.columns.flatMap((column, i) => {
    const meaning = meanings[i] ?? 'none';
    if (meaning === 'none') return [];
    return meaning === 'property' ? pointerOf('properties', propertyOf(column).name) : pointerOf(meaning);
  });
  return {
    lists: new Map([[kind, list as never]]),
    rules: undefined,
    forNew: new Map([[kind, forNew]]),
    scopes: new Map([[kind, scope]]),
    origins,
    notes,
  };
}

interface Row {
  readonly number: number;
  /** Label of the row, such as `Row 3, Cart 1`. */
  readonly where: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly properties: Record<string, unknown>;
  readonly notes: readonly DocumentNote[];
}

interface RowReading {
  readonly table: Table;
  readonly matching: Matching;
  readonly number: number;
}

function readRow(row: readonly string[], { table: { columns }, matching, number }: RowReading): Row {
  const { kind, meanings, sign } = matching;
  const members: Record<string, unknown> = {};
  const properties: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [i, cell] of row.entries()) {
    const meaning = meanings[i] ?? 'none';
    if (cell === '' || meaning === 'none') continue;
    const column = columns[i] ?? '';
    const text = unguarded(cell);
    const property = propertyOf(column);
    if (meaning === 'property') {
      properties[property.name] = readCell(text, { as: property.reading, sign });
      continue;
    }
    const value = readCell(text, { as: MEMBERS[kind][meaning] ?? 'text', sign });
    if (value === undefined) {
      properties[property.name] = text;
      notes.push(
        t('{member} cannot be "{text}": it becomes the property {name}.', {
          member: labelOfMember(meaning),
          text,
          name: property.name,
        }),
      );
    } else if (meaning === 'location_providers') {
      const before = (members[meaning] ?? []) as readonly string[];
      members[meaning] = [...before, ...(value as readonly string[])];
    } else members[meaning] = value;
  }
  const label = t('Row {number}', { number });
  const where = typeof members['name'] === 'string' ? `${label}, ${members['name']}` : label;
  return { number, where, members, properties, notes: notes.map((what) => ({ where, what })) };
}

interface RowIdentity {
  readonly id: string;
  readonly parent: string | undefined;
  /** Members that become properties, each with the reason. */
  readonly preserved: readonly (readonly [member: string, why: string])[];
  /** A warning about the id. */
  readonly warning: string | undefined;
}

/** Assigns ids to rows. */
class RowIds {
  readonly #matching: Matching;
  /** Ids in the file. */
  readonly #named: ReadonlySet<string>;
  readonly #counts = new Map<string, number>();

  constructor(matching: Matching, named: ReadonlySet<string>) {
    this.#matching = matching;
    this.#named = named;
  }

  /** Identity of a row. Trackables have UUIDs, so any other id is hashed to a UUID and preserved as a property. */
  of({ members, number }: Row): RowIdentity {
    const { id, parent, name } = members as Readonly<Record<string, string | undefined>>;
    if (this.#matching.kind === 'providers')
      return { id: id ?? '', parent: undefined, preserved: [], warning: undefined };
    const preserved: [string, string][] = [];
    if (id !== undefined && !isUuid(id)) {
      preserved.push([
        'id',
        t('The id "{id}" is not a UUID. A UUID is derived from it, and the id becomes a property.', { id }),
      ]);
    }
    const isLost = parent !== undefined && !isUuid(parent) && !this.#named.has(parent);
    if (isLost) {
      preserved.push(['parent', t('No row has the id "{id}" of its parent: it becomes a property.', { id: parent })]);
    }
    const anonymous = id === undefined ? this.#anonymous(name, number) : undefined;
    return {
      id: id === undefined ? (anonymous?.id ?? '') : uuidOf(id),
      parent: parent === undefined || isLost ? undefined : uuidOf(parent),
      preserved,
      warning: anonymous?.warning,
    };
  }

  /** Id from the file, the name, and the number of preceding rows with the same name. */
  #anonymous(name: string | undefined, number: number): Pick<RowIdentity, 'id' | 'warning'> {
    const key = `${this.#matching.name} ${name ?? number}`;
    if (name === undefined) {
      const warning = t('It has neither id nor name. The row number identifies the trackable.');
      return { id: stableId(key), warning };
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count === 1) return { id: stableId(key), warning: undefined };
    const warning = t('An earlier row without an id has the same name. This row becomes another trackable.');
    return { id: stableId(`${key} ${count}`), warning };
  }
}

/** UUID of an id, independent of the file, so that another table with the id updates the same trackable. */
function uuidOf(id: string): string {
  return isUuid(id) ? id : stableId(`trackable ${id}`);
}

/** Byte order mark, without which spreadsheets do not read the file as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Serializes trackables or providers: one column per supported member and per property. */
export function entitiesCsv(kind: TableKind, entities: readonly (Trackable | LocationProvider)[]): string {
  const rows = entities as unknown as readonly EntityMembers[];
  const members = meaningsOf(kind)
    .slice(2)
    .filter((name) => !OPTIONAL_COLUMNS.has(name) || rows.some((row) => row[name] != null));
  const properties = [...new Set(entities.flatMap((entity) => Object.keys(entity.properties ?? {})))].sort();
  const table = {
    columns: [...members, ...properties.map(headingOf)],
    rows: entities.map((entity, index) => [
      ...members.map((name) => cellOf(rows[index]?.[name], MEMBERS[kind][name] ?? 'text')),
      ...properties.map((name) => dataCell(entity.properties ?? {}, name)),
    ]),
  };
  return BYTE_ORDER_MARK + csvText(table);
}

/** Serializes a property, which may be null. */
function dataCell(properties: EntityMembers, name: string): string {
  return Object.hasOwn(properties, name) ? cellOf(properties[name], 'data') : '';
}
