import { isClosed } from '../../core/geo/rings.ts';
import { t } from '../languages/language.ts';
import type { FilePosition } from './drawing.ts';

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
const NUMBERS = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/g;

/**
 * Parses `coordinates`, or returns an error sentence. KML separates the numbers of a position by commas and positions by
 * spaces. Many files have spaces next to commas, or commas between positions; they are read if that is unambiguous. A
 * position has two or three numbers.
 */
export function coordinatesOf(text: string): readonly FilePosition[] | string {
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  if (tokens.length === 0) return t('Its coordinates are empty.');
  const specified = tokens.map((token) => token.split(','));
  if (specified.every(isAsSpecified)) return specified.map((position) => position.map(Number));
  const numbers = text.match(NUMBERS)?.map(Number) ?? [];
  const separators = text.split(NUMBERS);
  const wrong = separators.find((separator) => !/^[\s,]*$/.test(separator));
  if (wrong !== undefined) return t('Its coordinates contain "{found}".', { found: wrong.trim().slice(0, 20) });
  const between = separators.slice(1, -1).map(kindOf);
  const ways = [2, 3].filter((size) => isGrouped(numbers, between, size));
  const [way] = ways;
  if (way === undefined) return t('Its coordinates do not show where a position ends.');
  if (ways.length === 1) return inGroups(numbers, way);
  const [closed, ...others] = ways
    .map((size) => inGroups(numbers, size))
    .filter((ring) => ring.length > 3 && isClosed(ring));
  if (closed !== undefined && others.length === 0) return closed;
  return t('Its coordinates have the same separator everywhere, so they do not show where a position ends.');
}

/** Whether the numbers form a position as KML specifies it, without spaces inside. */
function isAsSpecified(numbers: readonly string[]): boolean {
  return (numbers.length === 2 || numbers.length === 3) && numbers.every((number) => NUMBER.test(number));
}

/** Normalizes a separator, which may contain any number of spaces. */
function kindOf(separator: string): string {
  const blanks = separator.replaceAll(/\s+/g, ' ');
  return separator === '' ? 'nothing' : blanks;
}

/** Whether positions may have `size` numbers: no separator occurs both within a position and between two. */
function isGrouped(numbers: readonly number[], between: readonly string[], size: number): boolean {
  if (numbers.length % size !== 0) return false;
  if (between.includes('nothing')) return false;
  const within = new Set(between.filter((_, i) => (i + 1) % size !== 0));
  const apart = new Set(between.filter((_, i) => (i + 1) % size === 0));
  const isUniform = new Set(between).size === 1;
  return isUniform || ![...within].some((separator) => apart.has(separator));
}

function inGroups(numbers: readonly number[], size: number): readonly FilePosition[] {
  return Array.from({ length: numbers.length / size }, (_, i) => numbers.slice(i * size, (i + 1) * size));
}
