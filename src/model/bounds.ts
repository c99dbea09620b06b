/** Bounds of what clients can make the hub keep. Each is a setting; a message names field, bound and value found. */
export interface InputBounds {
  /** Characters (UTF-16 units) of an id, a source, a name, and of every other text that is one line for people. */
  readonly nameLength: number;
  /** Bytes of the properties of a location, as the JSON text that is kept. */
  readonly locationPropertiesBytes: number;
  /** The same of an entity; so much of each of its other members that are lists or long texts, too. */
  readonly entityPropertiesBytes: number;
  /** Positions and rings of one geometry. */
  readonly positions: number;
  readonly rings: number;
  /** Levels of a chain of parents. */
  readonly parents: number;
}

export const DEFAULT_BOUNDS: InputBounds = {
  nameLength: 1024,
  locationPropertiesBytes: 64 << 10,
  entityPropertiesBytes: 1 << 20,
  positions: 100_000,
  rings: 10_000,
  parents: 32,
};

/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const UTF8_MAX = 3;

/** Bytes of a text in UTF-8 where they are more than `max`; undefined where they are not. */
export function bytesBeyond(text: string, max: number): number | undefined {
  if (text.length * UTF8_MAX <= max) return undefined;
  const bytes = utf8Bytes(text);
  return bytes > max ? bytes : undefined;
}

const encoder = new TextEncoder();
const scratch = new Uint8Array(16 << 10);

/** Encodes piece by piece, which takes no memory: a quarter of what a loop over the characters takes. */
function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at), scratch);
    at += read;
    bytes += written;
  }
  return bytes;
}

/** So many values are written as JSON in a few milliseconds. */
const COUNTED_VALUES = 100_000;

/** Bytes of the JSON text of a value where they are more than `max`; `more` where to count them would take long. */
export function jsonBytesBeyond(value: unknown, max: number): number | 'more' | undefined {
  const budget = { bytes: max, values: COUNTED_VALUES };
  if (isBeyond(value, budget)) return 'more';
  return bytesBeyond(JSON.stringify(value) ?? '', max);
}

/** Whether both the values and the bytes, of which no more are counted than there are, are more than the budget. */
function isBeyond(value: unknown, budget: { bytes: number; values: number }): boolean {
  budget.values--;
  budget.bytes--;
  if (typeof value === 'string') budget.bytes -= value.length;
  else if (typeof value === 'number') budget.bytes -= Number.isInteger(value) ? 1 : String(value).length;
  else if (Array.isArray(value)) {
    budget.bytes--;
    return value.some((item) => isBeyond(item, budget));
  } else if (typeof value === 'object' && value !== null) {
    budget.bytes--;
    return Object.entries(value).some(([name, member]) => {
      budget.bytes -= name.length + 3;
      return isBeyond(member, budget);
    });
  }
  return budget.bytes < 0 && budget.values < 0;
}

/** `name: must have at most 1,024 characters, found 8,388,608`. */
export function overBound(path: string, max: number, what: string, found: number | 'more'): string {
  return `${path}: must have at most ${grouped(max)} ${what}, found ${found === 'more' ? found : grouped(found)}`;
}

/** A whole number with commas between its thousands. */
export function grouped(value: number): string {
  // By hand: Intl takes 40 ms when it is used for the first time.
  let left = String(value);
  let groups = '';
  for (; left.length > 3; left = left.slice(0, -3)) groups = `,${left.slice(-3)}${groups}`;
  return left + groups;
}
