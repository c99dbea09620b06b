import { guarded } from '../../model/csv.ts';
import { parseExactJson } from '../../model/json.ts';
import type { Reading } from './table_columns.ts';
import { type DecimalSign, numberOfText, textOfNumber } from './written_numbers.ts';

/** The value of a cell; undefined for a text that the member cannot be. */
export function readCell(
  text: string,
  { as, sign }: { readonly as: Reading; readonly sign: DecimalSign | undefined },
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

/** Undefined for a text that is no JSON, or beyond all numbers. Numbers keep their digits. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    const value = parseExactJson(text);
    return typeof value === 'number' && !Number.isFinite(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** A cell from which `readCell` reads the same value. Empty, where there is none. */
export function cellOf(value: unknown, reading: Reading): string {
  if (reading === 'data' && value !== undefined) return dataText(value);
  if (value === undefined || value === null) return '';
  if (reading === 'list') return guarded(textOfIds(value as readonly string[]));
  if (reading === 'number') return textOfNumber(value as number);
  return typeof value === 'string' ? guarded(value) : JSON.stringify(value);
}

/** JSON, and text as it is unless it would be read as JSON. */
function dataText(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== '' && jsonOf(value) === undefined;
  return isPlain ? guarded(value) : JSON.stringify(value);
}

const SEPARATOR = /[,;|\r\n]/;

/**
 * The ids of a cell: separated by commas, semicolons, bars or line ends, each in quotes where it needs them, or a list of
 * JSON. Blanks are part of an id, but not at its ends.
 */
export function idsOf(text: string): readonly string[] {
  return listOf(text) ?? [...partsOf(text)].filter((id) => id !== '');
}

/** Undefined for a text that is no list of JSON with texts or numbers. Numbers stay digit by digit. */
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

/** A cell from which `idsOf` reads these ids: with semicolons where it can be, else as JSON. Empty for none. */
export function textOfIds(ids: readonly string[]): string {
  const isPlain = (id: string): boolean => id === id.trim() && id !== '' && !SEPARATOR.test(id) && !/["[]/.test(id);
  if (ids.length === 0) return '';
  return ids.every(isPlain) ? ids.join(';') : JSON.stringify(ids);
}
