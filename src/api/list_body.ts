import type { LongBody } from '../exchange.ts';

/** Characters that a part of a long list has at least, but for the last. */
const PART_CHARS = 1 << 16;
/** Most items that are shown for one part, whatever comes of them. */
const PART_ITEMS = 2048;
/** What comes out within so many parts is one text. */
const SHORT_PARTS = 4;

/** What stands before and behind the items. */
type Around = readonly [start: string, end: string];

const LIST: Around = ['[', ']'];
const COLLECTION: Around = ['{"type":"FeatureCollection","features":[', ']}'];

/**
 * A JSON list of items, but for those that have no text: one text where it is short. Otherwise items are shown when their
 * part is to be sent, so each must be what it was when the list was asked for.
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
