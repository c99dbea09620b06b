import { guarded } from '../../model/csv.ts';
import { parseExactJson } from '../../model/json.ts';
import type { CellType } from './table_columns.ts';
import { type DecimalSign, numberOfText, textOfNumber } from './written_numbers.ts';

/** Parses a cell; undefined if it is invalid for the member. */
export function readCell(
  text: string,
  { as, sign }: { readonly as: CellType; readonly sign: DecimalSign | undefined },
): unknown {
  if (typeof as !== 'string') return as.includes(text) ? text : undefined;
  switch (as) {
    case 'text':
      return text;
    case 'number':
      return numberOfText(text, sign);
    case 'boolean':
      return BOOLEANS.get(text.trim().toLowerCase());
    case 'list':
      return idsOf(text);
    case 'json':
      return jsonOf(text)?.value;
    case 'data':
      return (jsonOf(text) ?? { value: text }).value;
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', '1', 'wahr', 'ja'].map((word) => [word, true] as const),
  ...['false', 'no', '0', 'falsch', 'nein'].map((word) => [word, false] as const),
]);

/** Parses JSON with lossless numbers; undefined if invalid or out of range. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    const value = parseExactJson(text);
    return typeof value === 'number' && !Number.isFinite(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** Inverse of `readCell`; empty for undefined. */
export function cellOf(value: unknown, reading: CellType): string {
  if (reading === 'data' && value !== undefined) return dataText(value);
  if (value === undefined || value === null) return '';
  if (reading === 'list') return guarded(textOfIds(value as readonly string[]));
  if (reading === 'number') return textOfNumber(value as number);
  return typeof value === 'string' ? guarded(value) : JSON.stringify(value);
}

/** Serializes as JSON; strings stay as they are unless they would parse as JSON. */
function dataText(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== '' && jsonOf(value) === undefined;
  return isPlain ? guarded(value) : JSON.stringify(value);
}

const SEPARATOR = /[,;|\r\n]/;

/**
 * Parses the ids of a cell: a JSON list, or ids separated by commas, semicolons, bars or line ends, optionally quoted. Ids
 * are trimmed, but may contain spaces.
 */
export function idsOf(text: string): readonly string[] {
  return listOf(text) ?? [...partsOf(text)].filter((id) => id !== '');
}

/** Parses a JSON list of strings or numbers, with all digits of numbers; undefined otherwise. */
function listOf(text: string): readonly string[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : `"${token}"`,
    );
    const list: unknown = JSON.parse(quoted);
    return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

function* partsOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length; ) {
    const [quoted, inside] = /^\s*"((?:[^"]|"")*)"\s*(?=[,;|]|$)/.exec(text.slice(at)) ?? [];
    if (quoted !== undefined && inside !== undefined) {
      yield inside.replaceAll('""', '"');
      at += quoted.length + 1;
      continue;
    }
    const length = text.slice(at).search(SEPARATOR);
    const end = length === -1 ? text.length : at + length;
    yield text.slice(at, end).trim();
    at = end + 1;
  }
}

/** Inverse of `idsOf`: separated by semicolons if possible, else JSON. Empty for no ids. */
export function textOfIds(ids: readonly string[]): string {
  const isPlain = (id: string): boolean => id === id.trim() && id !== '' && !SEPARATOR.test(id) && !/["[]/.test(id);
  if (ids.length === 0) return '';
  return ids.every(isPlain) ? ids.join(';') : JSON.stringify(ids);
}
