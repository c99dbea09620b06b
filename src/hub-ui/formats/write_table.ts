import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { csvText } from './csv.ts';
import { meaningsOf, type TableKind } from './table_entities.ts';

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
