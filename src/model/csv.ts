/**
 * Strings in CSV files (RFC 4180) that people open in spreadsheets. A spreadsheet evaluates a field that begins with
 * one of `= + - @`, a tab or a carriage return as a formula, so such a string gets a leading apostrophe, as OWASP
 * recommends. A string that begins with apostrophes before such a character gets one more, so readers can remove
 * exactly one.
 */

/** Source of the regular expression of strings that get an apostrophe, also for SQL. */
const guardedText = /^'*[=+\-@\t\r]/;
export const GUARDED = guardedText.source;

/** The string as a field that no spreadsheet evaluates. Numbers need no guard. */
export function guarded(text: string): string {
  return guardedText.test(text) ? `'${text}` : text;
}

/** The string of a field, without the guard. */
export function unguarded(field: string): string {
  return field.startsWith("'") && guardedText.test(field) ? field.slice(1) : field;
}

/**
 * The field between separators, quoted if necessary. Leading and trailing blanks are significant only in a quoted
 * field.
 */
export function quoted(field: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
