import { quoted } from '../../model/csv.ts';
import { CsvError, csvRecords, separatorOf } from '../../model/csv_records.ts';
import { t } from '../languages/language.ts';

/** Table of strings. */
export interface Table {
  readonly columns: readonly string[];
  /** Each row has one field per column. */
  readonly rows: readonly (readonly string[])[];
  /** Row numbers, as in a spreadsheet. */
  readonly numbers: readonly number[];
}

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
  const records = [...translatedRecords(body, separator)];
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

/** Iterates over the records of a file. Throws an Error in the language of the page. */
function* translatedRecords(text: string, separator: string): Generator<string[]> {
  try {
    yield* csvRecords(text, separator);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { fault, number } = error;
    throw new Error(
      fault === 'unterminated_quote'
        ? t('Row {number} has an unterminated quote', { number })
        : t('Row {number} has text after a quoted field', { number }),
    );
  }
}

/** Serializes rows with commas, CRLF, and quotes if needed. */
export function csvText({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  return [columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}
