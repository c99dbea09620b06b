import type { Entities, Kind } from './entity_kinds.ts';
import { labelOf } from './entity_kinds.ts';

type Any = Entities[Kind];

export interface SearchResult {
  readonly kind: Kind;
  readonly entity: Any;
}

/** Searchable strings of an entity, without case and accents. */
export interface Searched {
  /** Human-readable strings. A query word matches the beginning of any of their words. */
  readonly texts: string;
  /**
   * Machine-generated codes, such as a UUID or a MAC address. A tenth of all codes contains any given pair of digits, but a
   * user who types two digits usually means a name. A code therefore matches as a whole, or by a prefix that is clearly part of
   * a code.
   */
  readonly codes: readonly string[];
  /** Numbers match as a whole. */
  readonly numbers: ReadonlySet<string>;
}

/** A code: at least twelve hexadecimal digits, with or without separators. */
const CODE = /^(?=.*\d)(?:[0-9a-f][-:._]?){11,}[0-9a-f]$/;
/** Prefix of a code: digits among letters, or the colons of a MAC address. */
const BEGINNING_OF_CODE = /^(?=[^:]*:|\D*\d[^a-f]*[a-f]|[^a-f]*[a-f]\D*\d)(?:[0-9a-f][-:._]?){4,}$/;
/** Prefix of a code that is long enough in any form. */
const LONG_BEGINNING_OF_CODE = /^(?=.*\d)(?:[0-9a-f][-:._]?){7,}[0-9a-f]$/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** A word directly before a number, as in `Dock12`. */
const WORD_BEFORE_NUMBER = /(?<![\p{L}\p{N}])\p{L}+$/u;

/** Splits a query into its words. */
export function wordsOf(text: string): string[] {
  return folded(text).split(/\s+/).filter(Boolean);
}

/** Returns whether every word matches the name, id, foreign id or properties of an entity. */
export function isMatch(entity: Any, words: readonly string[]): boolean {
  return words.length === 0 || matchesWords(searchedOf(entity), words);
}

/** Returns whether all words match. */
export function matchesWords({ texts, codes, numbers }: Searched, words: readonly string[]): boolean {
  return words.every((word) => numbers.has(word) || beginsWord(texts, word) || codes.some((code) => isOf(code, word)));
}

function isOf(code: string, word: string): boolean {
  return code.startsWith(word) && (BEGINNING_OF_CODE.test(word) || LONG_BEGINNING_OF_CODE.test(word));
}

/** Prepares strings for the search. */
export function searchedTexts(values: Iterable<string | number | boolean>): Searched {
  const texts: string[] = [];
  const codes: string[] = [];
  const numbers = new Set<string>();
  for (const value of values) {
    const text = folded(String(value));
    if (typeof value !== 'string') numbers.add(text);
    else if (CODE.test(text)) codes.push(text);
    else texts.push(text);
  }
  return { texts: texts.join('\n'), codes, numbers };
}

/**
 * Returns up to `most` matching entities. Those whose names start with the query come first, shorter names before longer ones.
 */
export function searchEntities(
  all: Partial<Readonly<Record<Kind, ReadonlyMap<string, Any>>>>,
  text: string,
  most: number,
): SearchResult[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const start = folded(text.trim());
  const found: (SearchResult & { readonly rank: number })[] = [];
  for (const [kind, entities] of Object.entries(all) as [Kind, ReadonlyMap<string, Any>][]) {
    for (const entity of entities.values()) {
      if (!isMatch(entity, words)) continue;
      const label = folded(labelOf(entity));
      // An exact match is the shortest name that starts with the query.
      found.push({ kind, entity, rank: label.startsWith(start) ? label.length : Number.POSITIVE_INFINITY });
    }
  }
  const ranked = found.sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank));
  return ranked.slice(0, most).map(({ kind, entity }) => ({ kind, entity }));
}

/** Searchable strings by entity. */
const cache = new WeakMap<Any, Searched>();

function searchedOf(entity: Any): Searched {
  let searched = cache.get(entity);
  if (searched === undefined) {
    const foreignId = 'foreign_id' in entity ? entity.foreign_id : undefined;
    // A floor plan is an image of some megabytes, not text.
    const { floor_plan: _, ...properties } = entity.properties ?? {};
    searched = searchedTexts([entity.id, entity.name ?? '', foreignId ?? '', ...valuesIn(properties)]);
    cache.set(entity, searched);
  }
  return searched;
}

/** Member names and values, at any depth. */
function* valuesIn(value: unknown): Iterable<string | number | boolean> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield name;
    yield* valuesIn(member);
  }
}

/** Removes case and accents. */
export function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function beginsWord(texts: string, word: string): boolean {
  for (let at = texts.indexOf(word); at >= 0; at = texts.indexOf(word, at + 1)) {
    if (isBeginning(texts, at)) return true;
  }
  return false;
}

/** Whether a word begins at an index. Punctuation and symbols count as words of their own. */
function isBeginning(texts: string, at: number): boolean {
  const [first = '', before = ''] = [texts.charAt(at), texts.charAt(at - 1)];
  if (!LETTER_OR_DIGIT.test(first) || !LETTER_OR_DIGIT.test(before)) return true;
  if (UNSPACED.test(first) || UNSPACED.test(before)) return true;
  return /\p{N}/u.test(first) && WORD_BEFORE_NUMBER.test(texts.slice(Math.max(0, at - 40), at));
}
