import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { COLUMNS, sqlText } from '../../history/columns.ts';
import type { HistoryTopic } from '../../model/history.ts';
import { CliError } from '../command_error.ts';

/** Columns with ids of objects and events. Ids of fences and zones identify no person. */
export const ID_COLUMNS: readonly string[] = [
  ...['id', 'provider_id', 'object_id', 'trackable_id', 'trackable_1', 'trackable_2'],
];
/** Columns with free content, or JSON with ids: they are empty in a pseudonymized export. */
export const OMITTED_COLUMNS: readonly string[] = ['properties', 'trackables', 'event'];

/** Minimum length of a key file, in bytes. */
const KEY_BYTES = 32;

/**
 * Returns a table expression with pseudonyms instead of ids: the first 128 bits of a keyed hash, as hexadecimal digits. Equal ids
 * have equal pseudonyms under the same key.
 */
export function pseudonymized(table: string, topic: HistoryTopic, key: Uint8Array): string {
  const [inner, outer] = ['inner', 'outer'].map((use) => sqlText(createHmac('sha256', key).update(use).digest('hex')));
  const replaced = Object.keys(COLUMNS[topic]).flatMap((column) => {
    if (ID_COLUMNS.includes(column))
      return [`left(sha256(${outer} || sha256(${inner} || ${column})), 32) AS ${column}`];
    return OMITTED_COLUMNS.includes(column) ? [`NULL::VARCHAR AS ${column}`] : [];
  });
  return `(SELECT * REPLACE (${replaced.join()}) FROM ${table})`;
}

/** Returns the key of a file; without a file, a random key. Throws a CliError if the file is not usable. */
export function keyOf(file: string | undefined): Uint8Array {
  if (file === undefined) return randomBytes(KEY_BYTES);
  let key: Uint8Array;
  try {
    key = readFileSync(file);
  } catch (error) {
    throw new CliError(`Cannot read the key ${file}: ${(error as Error).message}`);
  }
  if (key.length >= KEY_BYTES) return key;
  throw new CliError(`The key ${file} must have at least ${KEY_BYTES} bytes, found ${key.length}`);
}
