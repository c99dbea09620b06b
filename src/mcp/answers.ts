/** Answers of tools: JSON of at most 25 kB, so that they fit into the context of an agent. */

/** Maximum length of the JSON of an answer, in bytes. */
export const ANSWER_MAX_BYTES = 25_000;
/** Bytes of an answer in addition to its items. */
const FRAME_BYTES = 500;
const ITEMS_MAX_BYTES = ANSWER_MAX_BYTES - FRAME_BYTES;
/** Members that an item has if it does not fit into an answer. */
const IDENTIFYING = ['kind', 'id', 'name'];

export interface Page {
  readonly items: readonly unknown[];
  /** Pass it as `cursor` to get the following items; absent after the last. */
  readonly next_cursor?: string;
}

/** Arguments that cannot be used. The message names the argument and the value found. */
export class ArgumentError extends Error {}

/** Returns the items after the cursor that fit into an answer. */
export function pageOf(items: readonly unknown[], cursor: string | undefined): Page {
  const first = offsetOf(cursor);
  const fitting = fittingItems(items.slice(first));
  const next = first + fitting.length;
  return { items: fitting, ...(next < items.length && { next_cursor: String(next) }) };
}

/** Returns the first items that fit into an answer. An item that does not fit by itself is shortened. */
export function fittingItems(items: readonly unknown[], maxBytes = ITEMS_MAX_BYTES): readonly unknown[] {
  const fitting: unknown[] = [];
  let bytes = 0;
  for (const item of items) {
    const own = bytesOf(item) + 1;
    const kept = own > maxBytes ? shortened(item, own) : item;
    bytes += kept === item ? own : bytesOf(kept) + 1;
    if (bytes > maxBytes) break;
    fitting.push(kept);
  }
  return fitting;
}

/** Returns an object that fits into an answer: without its largest members if necessary, whose names are in `omitted`. */
export function fittingObject(object: object, maxBytes = ITEMS_MAX_BYTES): object {
  const members = Object.entries(object)
    .map(([name, value]) => ({ name, value, bytes: bytesOf(value) + name.length + 4 }))
    .toSorted((one, other) => one.bytes - other.bytes);
  const kept = new Set<string>();
  let bytes = 0;
  for (const { name, bytes: own } of members) {
    bytes += own;
    if (bytes <= maxBytes) kept.add(name);
  }
  const omitted = members.filter(({ name }) => !kept.has(name)).map(({ name }) => name);
  const fitting = Object.fromEntries(Object.entries(object).filter(([name]) => kept.has(name)));
  return omitted.length === 0 ? object : { ...fitting, omitted };
}

function shortened(item: unknown, bytes: number): unknown {
  if (typeof item !== 'object' || item === null) return { omitted_bytes: bytes };
  const members = Object.entries(item).filter(([name, value]) => IDENTIFYING.includes(name) && bytesOf(value) < 2000);
  return { ...Object.fromEntries(members), omitted_bytes: bytes };
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,9}$/.test(cursor)) {
    throw new ArgumentError(`cursor: must be next_cursor of the previous answer, found ${JSON.stringify(cursor)}`);
  }
  return Number(cursor);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
