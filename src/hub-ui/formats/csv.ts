import { quoted } from '../../model/csv.ts';
import { t } from '../languages/language.ts';

/** Table of strings. */
export interface Table {
  readonly columns: readonly string[];
  /** Each row has one field per column. */
  readonly rows: readonly (readonly string[])[];
  /** Row numbers, as in a spreadsheet. */
  readonly numbers: readonly number[];
}

const SEPARATORS = [',', ';', '\t', '|'] as const;

/**
 * Parses a table with a row of headings. Commas, semicolons, tabs or bars separate fields, or the character that a first
 * line such as `sep=;` declares; records end with LF, CRLF or CR. Unquoted fields are trimmed. Throws an Error that names
 * the invalid row.
 */
export function readCsv(text: string): Table {
  const source = text.replace(/^\uFEFF/, '');
  const [declaration = '', declared] = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r|$)/i.exec(source) ?? [];
  const body = source.slice(declaration.length);
  const separator = declared ?? separatorOf(body);
  const records = [...recordsOf(body, separator)];
  const [heading, ...rows] = records
    .map((record, index) => ({ record, number: index + 1 }))
    .filter(({ record }) => record.some((field) => field !== ''));
  if (heading === undefined) throw new Error(t('The file is empty'));
  const width =
    heading.record.findLastIndex((name, i) => name !== '' || rows.some(({ record }) => (record[i] ?? '') !== '')) + 1;
  const columns = heading.record.slice(0, width);
  const unnamed = columns.indexOf('');
  if (unnamed !== -1) throw new Error(t('Column {number} has no heading', { number: unnamed + 1 }));
  const long = rows.find(({ record }) => record.slice(width).some((field) => field !== ''));
  if (long !== undefined)
    throw new Error(t('Row {number} has more fields than there are headings', { number: long.number }));
  return {
    columns,
    rows: rows.map(({ record }) => columns.map((_, i) => record[i] ?? '')),
    numbers: rows.map(({ number }) => number),
  };
}

/** Separator that yields the most headings. */
function separatorOf(text: string): string {
  const counts = SEPARATORS.map((separator) => ({ separator, count: headingsBy(text, separator) }));
  return counts.reduce((best, each) => (each.count > best.count ? each : best)).separator;
}

function headingsBy(text: string, separator: string): number {
  try {
    for (const record of recordsOf(text, separator)) if (record.some((field) => field !== '')) return record.length;
    return 0;
  } catch {
    return 0;
  }
}

/** Iterates over the records of a file. */
function* recordsOf(text: string, separator: string): Generator<string[]> {
  let record: string[] = [];
  let number = 1;
  for (let at = 0; at < text.length; ) {
    const field = fieldAt(text, { at, separator, number });
    record.push(field.value);
    at = field.end;
    const next = text.charAt(at);
    if (next === separator) {
      at++;
      // A separator at the end of the file is followed by an empty field.
      if (at === text.length) record.push('');
      continue;
    }
    yield record;
    record = [];
    number++;
    at += next === '\r' && text.charAt(at + 1) === '\n' ? 2 : 1;
  }
  if (record.length > 0) yield record;
}

interface Where {
  readonly at: number;
  readonly separator: string;
  /** Number of the record, for errors. */
  readonly number: number;
}

/** Parses the field at a position. `end` is the position of the separator or line end that follows. */
function fieldAt(text: string, { at, separator, number }: Where): { readonly value: string; readonly end: number } {
  const isEnd = (char: string): boolean => char === separator || char === '\n' || char === '\r' || char === '';
  let start = at;
  while (isBlank(text.charAt(start), separator)) start++;
  if (text.charAt(start) !== '"') {
    let end = start;
    while (!isEnd(text.charAt(end))) end++;
    return { value: text.slice(at, end).trim(), end };
  }
  let close = text.indexOf('"', start + 1);
  while (close !== -1 && text.charAt(close + 1) === '"') close = text.indexOf('"', close + 2);
  if (close === -1) throw new Error(t('Row {number} has an unterminated quote', { number }));
  let end = close + 1;
  while (isBlank(text.charAt(end), separator)) end++;
  if (!isEnd(text.charAt(end))) throw new Error(t('Row {number} has text after a quoted field', { number }));
  return { value: text.slice(start + 1, close).replaceAll('""', '"'), end };
}

function isBlank(char: string, separator: string): boolean {
  return char !== separator && (char === ' ' || char === '\t');
}

/** Serializes rows with commas, CRLF, and quotes if needed. */
export function csvText({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  return [columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}
