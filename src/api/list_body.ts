import type { LongBody } from '../exchange.ts';

/** Minimum characters of a part of a long list, except the last. */
const PART_CHARS = 1 << 16;
/** Maximum items rendered for one part. */
const PART_ITEMS = 2048;
/** Maximum parts of a list that is sent as one string. */
const SHORT_PARTS = 4;

/** Text before and after the items. */
type Around = readonly [start: string, end: string];

const LIST: Around = ['[', ']'];
const COLLECTION: Around = ['{"type":"FeatureCollection","features":[', ']}'];

/**
 * A JSON list of items, without those that have no JSON: one string if it is short. Otherwise each part is rendered
 * when it is sent, so items must be immutable.
 */
export function shownList<T>(items: readonly T[], show: (item: T) => string | undefined): string | LongBody {
  return bodyOf(partsOf(items, show, LIST));
}

/** The same as a FeatureCollection of Features. */
export function shownCollection<T>(items: readonly T[], show: (item: T) => string | undefined): string | LongBody {
  return bodyOf(partsOf(items, show, COLLECTION));
}

function bodyOf(parts: Iterator<string>): string | LongBody {
  const first: string[] = [];
  while (first.length < SHORT_PARTS) {
    const { value, done } = parts.next();
    if (done) return first.join('');
    first.push(value);
  }
  return { parts: chain(first, parts) };
}

function* chain(first: string[], rest: Iterator<string>): Generator<string, void> {
  for (let part = first.shift(); part !== undefined; part = first.shift()) yield part;
  yield* { [Symbol.iterator]: () => rest };
}

function* partsOf<T>(
  items: readonly T[],
  show: (item: T) => string | undefined,
  [start, end]: Around,
): Generator<string, void> {
  let part = start;
  let separator = '';
  for (const [i, item] of items.entries()) {
    const text = show(item);
    if (text !== undefined) {
      part += separator + text;
      separator = ',';
    }
    if (part.length >= PART_CHARS || (i + 1) % PART_ITEMS === 0) {
      yield part;
      part = '';
    }
  }
  yield part + end;
}
