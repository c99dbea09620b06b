import { messageOf } from '../errors.ts';
import { CsvError, csvRecords, separatorOf } from '../model/csv_records.ts';
import { parseExactJson, UnsupportedJson } from '../model/json.ts';
import type { Source } from '../model/source.ts';
import { Problem, problemOf } from '../problem.ts';
import { readNmea } from './nmea.ts';

/** How a payload is parsed. */
export interface PayloadFormat {
  readonly format: Source['format'];
  /** Names of the columns of CSV; undefined: the first record has them. */
  readonly columns: readonly string[] | undefined;
}

/** Rows of CSV and fixes of NMEA are lists of objects. Returns a Problem if the payload is malformed. */
export function decodePayload(text: string, { format, columns }: PayloadFormat, receivedMs: number): unknown {
  if (format === 'nmea') return readNmea(text, receivedMs);
  return format === 'csv' ? readRows(text, columns) : readJson(text);
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof UnsupportedJson) return new Problem(error.problem);
    return problemOf('not_json', { path: '$' }, messageOf(error));
  }
}

function readRows(text: string, columns: readonly string[] | undefined): unknown {
  const source = text.replace(/^\uFEFF/, '');
  const rows: object[] = [];
  let names = columns;
  try {
    for (const record of csvRecords(source, separatorOf(source))) {
      if (record.every((field) => field === '')) continue;
      if (names === undefined) names = record;
      else rows.push(Object.fromEntries(names.map((name, i) => [name, record[i] ?? ''])));
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return problemOf('not_csv', { path: `$/${error.number - 1}` }, error.message);
  }
  return rows;
}
