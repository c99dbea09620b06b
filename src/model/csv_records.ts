/** Why a record of a CSV file is invalid. */
export type CsvFault = 'unterminated_quote' | 'text_after_quote';

/** An invalid record. `number` counts from 1. */
export class CsvError extends Error {
  override name = 'CsvError';
  readonly fault: CsvFault;
  readonly number: number;

  constructor(fault: CsvFault, number: number) {
    super(`Record ${number}: ${fault.replaceAll('_', ' ')}`);
    this.fault = fault;
    this.number = number;
  }
}

const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Returns the separator that yields the most fields in the first record that is not empty. */
export function separatorOf(text: string): string {
  const counts = SEPARATORS.map((separator) => ({ separator, count: headingsBy(text, separator) }));
  return counts.reduce((best, each) => (each.count > best.count ? each : best)).separator;
}

function headingsBy(text: string, separator: string): number {
  try {
    for (const record of csvRecords(text, separator)) if (record.some((field) => field !== '')) return record.length;
    return 0;
  } catch {
    return 0;
  }
}

/**
 * Iterates over the records of a CSV file (RFC 4180), which end with LF, CRLF or CR. Unquoted fields are trimmed. Throws a
 * CsvError.
 */
export function* csvRecords(text: string, separator: string): Generator<string[]> {
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
  if (close === -1) throw new CsvError('unterminated_quote', number);
  let end = close + 1;
  while (isBlank(text.charAt(end), separator)) end++;
  if (!isEnd(text.charAt(end))) throw new CsvError('text_after_quote', number);
  return { value: text.slice(start + 1, close).replaceAll('""', '"'), end };
}

function isBlank(char: string, separator: string): boolean {
  return char !== separator && (char === ' ' || char === '\t');
}
