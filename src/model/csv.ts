/**
 * Text in CSV files (RFC 4180) that people open in spreadsheets. A spreadsheet evaluates a field that begins with one of
 * `= + - @`, a tab or a carriage return as a formula, so such text gets an apostrophe in front, as OWASP recommends. Text
 * that begins with apostrophes before such a character gets one more: readers can take away exactly one.
 */

const guardedText = /^'*[=+\-@\t\r]/;
/** Source of the regular expression of text that gets an apostrophe, for SQL. */
export const GUARDED = guardedText.source;

/** The text as a field that no spreadsheet evaluates. Numbers need no guard. */
export function guarded(text: string): string {
  return guardedText.test(text) ? `'${text}` : text;
}

/** The text of a field, without the guard. */
export function unguarded(field: string): string {
  return field.startsWith("'") && guardedText.test(field) ? field.slice(1) : field;
}

/** The field between separators: in quotes where it needs them. Blanks at its ends are part of a quoted field only. */
export function quoted(field: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
