/**
 * Strings in CSV files (RFC 4180) for spreadsheets. A spreadsheet evaluates a field that starts with one of `= + - @`,
 * a tab or a carriage return as a formula. So such a string gets a leading apostrophe, as OWASP recommends. A string
 * with apostrophes before such a character gets one more, so that readers can always remove exactly one.
 */

/** Regular expression of strings that get an apostrophe; GUARDED is its source, also for SQL. */
const guardedText = /^'*[=+\-@\t\r]/;
export const GUARDED = guardedText.source;

/** Returns a string as a field that spreadsheets do not evaluate. Numbers need no guard. */
export function guarded(text: string): string {
  return guardedText.test(text) ? `'${text}` : text;
}

/** Returns the string of a field, without the guard. */
export function unguarded(field: string): string {
  return field.startsWith("'") && guardedText.test(field) ? field.slice(1) : field;
}

/** Returns a field, quoted if necessary. Leading and trailing blanks are significant only in a quoted field. */
export function quoted(field: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
