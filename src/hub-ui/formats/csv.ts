import { t } from '../languages/language.ts';
/** A table of texts. */
export interface Table {
  readonly columns: readonly string[];
  /** Each as long as there are columns. */
  readonly rows: readonly (readonly string[])[];
}

const SEPARATORS = [',', ';', '\t'] as const;

/**
 * Reads a table with a line of headings, whose fields are separated by commas, semicolons or tabs, and may be in quotes.
 * Throws an Error that names the line where it is none.
 */
export function readCsv(text: string): Table {
  const source = text.replace(/^\uFEFF/, '');
  const [heading = ''] = source.split(/\r?\n/, 1);
  const separator = SEPARATORS.toSorted((a, b) => heading.split(b).length - heading.split(a).length)[0] ?? ',';
  const [columns = [], ...rows] = recordsOf(source, separator).filter((record) => record.some((field) => field !== ''));
  if (columns.length === 0) throw new Error(t('The file is empty'));
  const names = columns.map((name) => name.trim());
  const unnamed = names.indexOf('');
  if (unnamed !== -1) throw new Error(t('Column {number} has no heading', { number: unnamed + 1 }));
  const long = rows.findIndex(({ length }) => length > names.length);
  if (long !== -1) throw new Error(t('Row {number} has more fields than there are headings', { number: long + 2 }));
  return { columns: names, rows: rows.map((row) => names.map((_, i) => (row[i] ?? '').trim())) };
}

function recordsOf(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text.charAt(i + 1) === '"') {
        field += char;
        i++;
      } else isQuoted = false;
    } else if (char === '"' && field === '') isQuoted = true;
    else if (char === separator) {
      record.push(field);
      field = '';
    } else if (char === '\n') {
      records.push([...record, field.replace(/\r$/, '')]);
      record = [];
      field = '';
    } else field += char;
  }
  if (isQuoted) throw new Error(t('Row {number} has a quote that does not end', { number: records.length + 1 }));
  if (field !== '' || record.length > 0) records.push([...record, field]);
  return records;
}

/** Rows as a file that other programs read: with commas, CRLF, and quotes where they are needed. */
export function csvText({ columns, rows }: Table): string {
  const written = (field: string): string => {
    // A program for tables would take such a text for a formula.
    const safe = /^[=+\-@\t]/.test(field) && Number.isNaN(Number(field)) ? `'${field}` : field;
    return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((row) => `${row.map(written).join(',')}\r\n`).join('');
}
