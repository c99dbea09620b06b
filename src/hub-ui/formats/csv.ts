import { quoted } from '../../model/csv.ts';
import { t } from '../languages/language.ts';

/** A table of texts. */
export interface Table {
  readonly columns: readonly string[];
  /** Each as long as there are columns. */
  readonly rows: readonly (readonly string[])[];
  /** The number of each row, as a spreadsheet shows it. */
  readonly numbers: readonly number[];
}

const SEPARATORS = [',', ';', '\t', '|'] as const;

/**
 * Reads a table with a row of headings. Fields are separated by commas, semicolons, tabs or bars, or by the character that a
 * first line `sep=;` names; records end with LF, CRLF or CR. A field in quotes is taken as it is, others without the blanks
 * at their ends. Throws an Error that names the row where the text is no table.
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

/** The separator by which the headings are the most. */
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

/** The records of a text, one by one. */
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
      // A separator at the end of the text has an empty field behind it.
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
  /** Of the record, for messages. */
  readonly number: number;
}

/** The field that begins there, and where the separator or the end of the record behind it is. */
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
  if (close === -1) throw new Error(t('Row {number} has a quote that does not end', { number }));
  let end = close + 1;
  while (isBlank(text.charAt(end), separator)) end++;
  if (!isEnd(text.charAt(end))) throw new Error(t('Row {number} has text behind a quoted field', { number }));
  return { value: text.slice(start + 1, close).replaceAll('""', '"'), end };
}

function isBlank(char: string, separator: string): boolean {
  return char !== separator && (char === ' ' || char === '\t');
}

/** Rows as a file that other programs read: with commas, CRLF, and quotes where they are needed. */
export function csvText({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  return [columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}
