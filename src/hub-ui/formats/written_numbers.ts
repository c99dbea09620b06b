/**
 * Numbers as people and programs write them: 1,234.56 here and 1.234,56 there. Which sign is the decimal one is found out of
 * all numbers of a table together. A number such as 60,000 says nothing of it: it is 60 or 60,000, and is never guessed.
 */

/** The sign before the decimals. */
export type DecimalSign = '.' | ',';

/** What the text of a number says of its decimal sign. */
type Evidence = DecimalSign | 'none' | 'ambiguous';

/** Groups of three digits apart by blanks or apostrophes, which are never a decimal sign. */
const SPACED = /^\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?=[.,]|$)/;

/** What the text says of its decimal sign; undefined where it is no number. */
export function evidenceOf(text: string): Evidence | undefined {
  const digits = plain(text);
  if (/^\d+$/.test(digits)) return 'none';
  if (/^(?:\d+\.?\d*|\.\d+)e[+-]?\d+$/i.test(digits)) return digits.includes('.') ? '.' : 'none';
  if (/^(?:\d+,\d*|,\d+)e[+-]?\d+$/i.test(digits)) return ',';
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(digits)) return 'ambiguous';
  if (/^\d*\.\d+$|^\d+\.$|^\d{1,3}(?:,\d{2,3})*,\d{3}\.\d*$|^[1-9]\d{0,2}(?:,\d{2,3})+,\d{3}$/.test(digits)) return '.';
  if (/^\d*,\d+$|^\d+,$|^\d{1,3}(?:\.\d{3})*\.\d{3},\d*$|^[1-9]\d{0,2}(?:\.\d{3})+\.\d{3}$/.test(digits)) return ',';
  return undefined;
}

export interface Detected {
  /** Undefined where the numbers say nothing of it, or different things. */
  readonly sign: DecimalSign | undefined;
  /** Numbers that cannot be read without knowing the sign, or with one of both only. */
  readonly undecided: readonly string[];
}

/** The decimal sign of numbers that were written by one hand. */
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

/** The number that a text is by a decimal sign; undefined where it is none. */
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
 * The text of a number for a table. Three decimals get a zero behind them, since a reader could take 1.125 for a thousand and
 * more.
 */
export function textOfNumber(number: number): string {
  const text = String(number);
  return evidenceOf(text) === 'ambiguous' ? `${text}0` : text;
}

/** Without a sign in front, and with the digits of spaced groups together. */
function plain(text: string): string {
  const unsigned = text.trim().replace(/^[+\-−]\s*/, '');
  return unsigned.replace(SPACED, (groups) => groups.replaceAll(/\D/g, ''));
}
