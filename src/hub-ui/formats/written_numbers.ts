/**
 * Numbers in localized formats, such as 1,234.56 and 1.234,56. The decimal sign is detected from all numbers of a table
 * together. Ambiguous numbers such as 60,000, which may be 60, are never guessed.
 */

/** Decimal sign. */
export type DecimalSign = '.' | ',';

/** Evidence of a number for the decimal sign. */
type Evidence = DecimalSign | 'none' | 'ambiguous';

/** Groups of three digits, separated by spaces or apostrophes, which are never a decimal sign. */
const SPACED = /^\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?=[.,]|$)/;

/** Evidence of a string for the decimal sign; undefined if it is not a number. */
export function evidenceOf(text: string): Evidence | undefined {
  const digits = plain(text);
  if (/^\d+$/.test(digits)) return 'none';
  if (/^(?:\d+(?:\.\d*)?|\.\d+)e[+-]?\d+$/i.test(digits)) return digits.includes('.') ? '.' : 'none';
  if (/^(?:\d+,\d*|,\d+)e[+-]?\d+$/i.test(digits)) return ',';
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) return 'ambiguous';
  if (/^\d*\.\d+$|^\d+\.$|^\d{1,3}(?:,\d{2,3})*,\d{3}\.\d*$|^[1-9]\d{0,2}(?:,\d{2,3})+,\d{3}$/.test(digits)) return '.';
  if (/^\d*,\d+$|^\d+,$|^\d{1,3}(?:\.\d{3})*\.\d{3},\d*$|^[1-9]\d{0,2}(?:\.\d{3})+\.\d{3}$/.test(digits)) return ',';
  return undefined;
}

export interface Detected {
  /** Undefined without evidence, or if the numbers contradict each other. */
  readonly sign: DecimalSign | undefined;
  /** Numbers that cannot be parsed without a decision. */
  readonly undecided: readonly string[];
}

/** Detects the decimal sign of numbers in the same format. */
export function detectSign(texts: readonly string[]): Detected {
  const found = new Map<Evidence, string>();
  for (const text of texts) {
    const evidence = evidenceOf(text);
    if (evidence !== undefined && !found.has(evidence)) found.set(evidence, text);
  }
  const [point, comma, ambiguous] = [found.get('.'), found.get(','), found.get('ambiguous')];
  if (point !== undefined && comma !== undefined) return { sign: undefined, undecided: [point, comma] };
  if (point !== undefined) return { sign: '.', undecided: [] };
  if (comma !== undefined) return { sign: ',', undecided: [] };
  return { sign: undefined, undecided: ambiguous === undefined ? [] : [ambiguous] };
}

/** Parses a number with a decimal sign; undefined if it is not a number. */
export function numberOfText(text: string, sign: DecimalSign | undefined): number | undefined {
  const evidence = evidenceOf(text);
  if (evidence === undefined) return undefined;
  if (evidence === 'ambiguous' ? sign === undefined : evidence !== 'none' && evidence !== sign) return undefined;
  const grouping = sign === ',' ? '.' : ',';
  const digits = plain(text).replaceAll(grouping, '').replace(',', '.');
  const number = Number(digits) * (/^\s*[-−]/.test(text) ? -1 : 1);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * Formats a number for a table. Three decimals get a trailing zero, since a reader could take 1.125 for one thousand and
 * more.
 */
export function textOfNumber(number: number): string {
  const text = String(number);
  return evidenceOf(text) === 'ambiguous' ? `${text}0` : text;
}

/** Removes the sign and the separators of spaced groups. */
function plain(text: string): string {
  const unsigned = text.trim().replace(/^[+\-−]\s*/, '');
  return unsigned.replace(SPACED, (groups) => groups.replaceAll(/\D/g, ''));
}
