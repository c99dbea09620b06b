import {
  FIRST_NAME,
  POSITION_LENGTH,
  POSITION_NAMES,
  POSITION_NUMBERS,
  POSITION_WORDS,
  type PositionSection,
} from '../core/history_rows.ts';
import type { MemoryColumn } from './duck.ts';
import { hourOf } from './layout.ts';
import { InternedStrings, type ShardNames } from './names.ts';

const [TIME, LONGITUDE, LATITUDE] = (['time', 'longitude', 'latitude'] as const).map((name) =>
  POSITION_NUMBERS.indexOf(name),
) as [number, number, number];
const ID = POSITION_NAMES.indexOf('id');
const [ROWS_AT_FIRST, ROWS_KEPT] = [1 << 12, 1 << 20] as const;

/** Memory that holds positions (core/history_rows.ts). */
export interface PositionMemory {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
}

/** Returns the views of memory whose offset and size are multiples of 8. */
export function positionMemory({ buffer, byteOffset, byteLength }: Uint8Array): PositionMemory {
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength),
    view: new DataView(buffer, byteOffset, byteLength),
    words: new Uint32Array(buffer, byteOffset, byteLength >> 2),
    numbers: new Float64Array(buffer, byteOffset, byteLength >> 3),
  };
}

/** Returns the rows of a section that are not before `sinceMs`; undefined if all are. */
// hot
export function rowsSince(
  { numbers }: PositionMemory,
  { start, count }: PositionSection,
  sinceMs: number,
): Uint32Array | undefined {
  const isOld = (row: number): boolean => (numbers[start + POSITION_LENGTH * row + TIME] as number) < sinceMs;
  let old = 0;
  for (let row = 0; row < count; row++) if (isOld(row)) old++;
  return old === 0 ? undefined : Uint32Array.from({ length: count }, (_, row) => row).filter((row) => !isOld(row));
}

/** Rows of one hour, or a part of them, in output order: by id, then by time. */
export interface HourRows {
  readonly hourMs: number;
  /** Indexes of the rows. */
  readonly order: Uint32Array;
}

/** Options for adding positions. */
interface AddOptions {
  /** Names of the positions' shard. */
  readonly names: ShardNames;
  /** Returns the properties as JSON, given the members of the location. */
  readonly properties: (members: string) => string;
  /** Rows of the section; all if absent. */
  readonly rows?: Uint32Array | undefined;
}

/**
 * Buffered locations or motions in order of arrival, with their own numbering of names. The values of a row are
 * adjacent in memory, so that output in another order reads each row once.
 */
export class PositionRows {
  /** The rows, as two views of the same memory. */
  #numbers = new Float64Array(POSITION_LENGTH * ROWS_AT_FIRST);
  #words = new Uint32Array(this.#numbers.buffer);
  /** Numbers of properties; empty without any. */
  #propertiesOf = new Uint32Array(0);
  /** Bits of the columns with a value in any row, in the order of POSITION_NUMBERS and then POSITION_NAMES. */
  #known = 0;
  #names = new InternedStrings();
  #properties = new InternedStrings();
  /** Local numbers by a shard's numbers; 0 for names that are not used yet. */
  readonly #numbersOf = new Map<ShardNames, Uint32Array>();
  #capacity = ROWS_AT_FIRST;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Names by number; the first one means none. */
  get names(): readonly string[] {
    return this.#names.all;
  }

  /** Properties by number; the first one means none. */
  get properties(): readonly string[] {
    return this.#properties.all;
  }

  /** Size of the rows, names and properties in bytes. */
  get bytes(): number {
    return this.#count * 8 * POSITION_LENGTH + this.#names.size + this.#properties.size;
  }

  /** Columns with a value in any row. */
  columns(): readonly MemoryColumn[] {
    const [numbers, names] = [
      { kind: 'number', values: this.#numbers, stride: POSITION_LENGTH },
      { kind: 'name', values: this.#words, stride: POSITION_WORDS },
    ] as const;
    const all: readonly MemoryColumn[] = [
      ...POSITION_NUMBERS.map((name, i) => ({ name, ...numbers, first: i })),
      ...POSITION_NAMES.map((name, i) => ({ name, ...names, first: FIRST_NAME + i })),
    ];
    const known = all.filter((_, i) => ((this.#known >> i) & 1) === 1);
    if (this.#propertiesOf.length === 0) return known;
    return [...known, { name: 'properties', kind: 'integer', values: this.#propertiesOf, first: 0, stride: 1 }];
  }

  /** Adds positions of a section. */
  // hot
  add(
    { numbers, bytes, words }: PositionMemory,
    section: PositionSection,
    { names, properties, rows }: AddOptions,
  ): void {
    const first = this.#count;
    const { start } = section;
    const count = rows?.length ?? section.count;
    while (first + count > this.#capacity) this.#resize(2 * this.#capacity);
    if (rows === undefined) {
      this.#numbers.set(numbers.subarray(start, start + POSITION_LENGTH * count), POSITION_LENGTH * first);
    } else {
      for (let i = 0; i < count; i++) {
        const at = start + POSITION_LENGTH * (rows[i] as number);
        this.#numbers.set(numbers.subarray(at, at + POSITION_LENGTH), POSITION_LENGTH * (first + i));
      }
    }
    this.#known |= section.present;
    this.#count += count;
    this.#rename(first, names);
    if (section.members === undefined) return;
    const { members } = section;
    if (this.#propertiesOf.length === 0) this.#propertiesOf = new Uint32Array(this.#capacity);
    const endOf = (row: number): number => (row < 0 ? 0 : (words[members.ends + row] as number));
    for (let i = 0; i < count; i++) {
      const row = rows === undefined ? i : (rows[i] as number);
      const [from, to] = [members.from + endOf(row - 1), members.from + endOf(row)];
      const text = from === to ? '' : properties(bytes.toString('utf8', from, to));
      const utf8 = Buffer.from(text);
      this.#propertiesOf[first + i] = this.#properties.numberOf(utf8, 0, utf8.length);
    }
  }

  /** Returns the rows by hour, earliest first, in portions of at most `rowsMax` rows. */
  byHour(rowsMax: number): readonly HourRows[] {
    const rank = this.#ranks();
    return this.#hours().flatMap(([hourMs, rows]) => {
      const order = this.#inOrder(rows, rank);
      const parts = Math.ceil(order.length / rowsMax);
      return Array.from({ length: parts }, (_, part) => {
        return { hourMs, order: order.subarray(part * rowsMax, (part + 1) * rowsMax) };
      });
    });
  }

  /** Removes all rows, and frees memory allocated during a long failure. */
  clear(): void {
    this.#count = 0;
    this.#known = 0;
    this.#propertiesOf = new Uint32Array(0);
    if (this.#capacity > ROWS_KEPT) this.#resize(ROWS_AT_FIRST);
    this.#names = new InternedStrings();
    this.#properties = new InternedStrings();
    this.#numbersOf.clear();
  }

  /** Removes the rows of all other hours. */
  keepOnly(hours: readonly HourRows[]): void {
    if (hours.length === 0) {
      this.clear();
      return;
    }
    const kept = new Uint32Array(hours.reduce((sum, { order }) => sum + order.length, 0));
    let at = 0;
    for (const { order } of hours) {
      kept.set(order, at);
      at += order.length;
    }
    kept.sort();
    if (kept.length === this.#count) return;
    for (let i = 0; i < kept.length; i++) {
      const row = kept[i] as number;
      this.#numbers.copyWithin(POSITION_LENGTH * i, POSITION_LENGTH * row, POSITION_LENGTH * (row + 1));
      if (this.#propertiesOf.length > 0) this.#propertiesOf[i] = this.#propertiesOf[row] as number;
    }
    this.#count = kept.length;
  }

  /** Replaces a shard's name numbers with local ones, in the rows from `first` on. */
  // hot
  #rename(first: number, names: ShardNames): void {
    const words = this.#words;
    const numbers = this.#numbersOfNames(names);
    for (let row = first; row < this.#count; row++) {
      const at = POSITION_WORDS * row + FIRST_NAME;
      for (let i = at; i < at + POSITION_NAMES.length; i++) {
        const number = words[i] as number;
        if (number > 0) words[i] = numbers[number] || this.#numberOf(names, number, numbers);
      }
    }
  }

  /** Returns the local numbers of a shard's names, with room for all of them. */
  #numbersOfNames(names: ShardNames): Uint32Array {
    const numbers = this.#numbersOf.get(names);
    if (numbers !== undefined && numbers.length > names.count) return numbers;
    const larger = new Uint32Array(2 * names.count + 1);
    if (numbers !== undefined) larger.set(numbers);
    this.#numbersOf.set(names, larger);
    return larger;
  }

  #numberOf(names: ShardNames, number: number, numbers: Uint32Array): number {
    const here = this.#names.numberOf(names.bytes, names.start(number), names.end(number));
    numbers[number] = here;
    return here;
  }

  /** Returns the rows of each hour, earliest first. */
  #hours(): readonly (readonly [hourMs: number, rows: Uint32Array])[] {
    const hours = new Float64Array(this.#count);
    const sizes = new Map<number, number>();
    let last = Number.NaN;
    let size = 0;
    for (let row = 0; row < this.#count; row++) {
      const hour = hourOf(this.#numbers[POSITION_LENGTH * row + TIME] as number);
      hours[row] = hour;
      if (hour !== last) {
        if (size > 0) sizes.set(last, size);
        last = hour;
        size = sizes.get(hour) ?? 0;
      }
      size++;
    }
    if (size > 0) sizes.set(last, size);
    return [...sizes]
      .sort(([a], [b]) => a - b)
      .map(([hour, length]) => {
        const rows = new Uint32Array(length);
        for (let row = 0, count = 0; count < length; row++) if (hours[row] === hour) rows[count++] = row;
        return [hour, rows];
      });
  }

  /** Returns the rank of each name in sort order. */
  #ranks(): Uint32Array {
    const { names } = this;
    const sorted = Array.from(names, (_, number) => number).sort((a, b) =>
      compare(names[a] as string, names[b] as string),
    );
    const rank = new Uint32Array(names.length);
    for (let i = 0; i < sorted.length; i++) rank[sorted[i] as number] = i;
    return rank;
  }

  /**
   * Sorts rows by the ranks of their ids, with a counting sort, then by time. The rows of an object are usually in
   * order of time already.
   */
  // hot
  #inOrder(rows: Uint32Array, rank: Uint32Array): Uint32Array {
    const [words, numbers] = [this.#words, this.#numbers];
    const rankOf = (row: number): number => rank[words[POSITION_WORDS * row + FIRST_NAME + ID] as number] as number;
    const ends = new Uint32Array(rank.length);
    for (let i = 0; i < rows.length; i++) ends[rankOf(rows[i] as number)]!++;
    for (let i = 1; i < rank.length; i++) ends[i]! += ends[i - 1] as number;
    const next = new Uint32Array(rank.length);
    next.set(ends.subarray(0, -1), 1);
    const lastMs = new Float64Array(rank.length).fill(Number.NEGATIVE_INFINITY);
    const unordered = new Set<number>();
    const order = new Uint32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const object = rankOf(row);
      const timeMs = numbers[POSITION_LENGTH * row + TIME] as number;
      if (timeMs < (lastMs[object] as number)) unordered.add(object);
      else lastMs[object] = timeMs;
      order[next[object]!++] = row;
    }
    const timeOf = (row: number): number => numbers[POSITION_LENGTH * row + TIME] as number;
    for (const object of unordered) {
      const own = order.subarray(object === 0 ? 0 : ends[object - 1], ends[object]);
      own.sort((a, b) => timeOf(a) - timeOf(b) || a - b);
    }
    return order;
  }

  /** Resizes the capacity to that many rows and retains the existing ones. */
  #resize(capacity: number): void {
    this.#capacity = capacity;
    const numbers = this.#numbers.subarray(0, POSITION_LENGTH * this.#count);
    this.#numbers = new Float64Array(POSITION_LENGTH * capacity);
    this.#numbers.set(numbers);
    this.#words = new Uint32Array(this.#numbers.buffer);
    if (this.#propertiesOf.length === 0) return;
    const properties = this.#propertiesOf.subarray(0, this.#count);
    this.#propertiesOf = new Uint32Array(capacity);
    this.#propertiesOf.set(properties);
  }
}

/**
 * Compares strings by code units, like DuckDB except for characters beyond the first plane. The order affects only
 * speed.
 */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Maximum number of tracked objects. Beyond it, the earliest ones are dropped. */
const OBJECTS_MAX = 200_000;

/**
 * Interval in which an object at rest is recorded despite `minDistanceMeters`. Queries treat a position as current up
 * to an age: `max_age` of snapshots (600 s) and `max_gap` of heat maps (60 s). The interval is below these, even for an
 * object that is located only every 30 s.
 */
export const HEARTBEAT_MS = 30_000;

interface ThinnedOptions {
  /** Names of the section's shard. */
  readonly names: ShardNames;
  /** Rows of the section; undefined for all. */
  readonly rows: Uint32Array | undefined;
}

interface ThinningOptions {
  readonly minIntervalMs: number;
  readonly minDistanceMeters: number;
  meters(lon1: number, lat1: number, lon2: number, lat2: number): number;
}

interface Last {
  readonly timeMs: number;
  readonly lon: number;
  readonly lat: number;
}

/**
 * Thins positions: omits a position that is too soon after the object's last recorded one, or too close to it. A close
 * position is recorded nevertheless if the last one is HEARTBEAT_MS old; otherwise an object at rest would look like a
 * silent one.
 */
export class Thinning {
  readonly #options: ThinningOptions;
  readonly #last = new Map<string, Last>();

  constructor(options: ThinningOptions) {
    this.#options = options;
  }

  /** Returns the rows of a section to record. Each becomes the last position of its object. */
  kept({ numbers, words }: PositionMemory, section: PositionSection, { names, rows }: ThinnedOptions): Uint32Array {
    const all = rows?.length ?? section.count;
    const kept = new Uint32Array(all);
    let count = 0;
    for (let i = 0; i < all; i++) {
      const row = rows === undefined ? i : (rows[i] as number);
      const at = section.start + POSITION_LENGTH * row;
      const id = names.text(words[2 * at + FIRST_NAME + ID] as number);
      const [timeMs, lon, lat] = [numbers[at + TIME], numbers[at + LONGITUDE], numbers[at + LATITUDE]] as [
        ...[number, number, number],
      ];
      const place = { timeMs, lon, lat };
      if (!this.#leavesOut(id, place)) kept[count++] = row;
    }
    return kept.subarray(0, count);
  }

  /** Whether a position is omitted. If not, it becomes the object's last position. */
  #leavesOut(id: string, place: Last): boolean {
    const last = this.#last.get(id);
    if (last !== undefined && this.#isClose(last, place)) return true;
    if (last === undefined && this.#last.size >= OBJECTS_MAX) {
      const [first] = this.#last.keys();
      this.#last.delete(first as string);
    }
    this.#last.set(id, place);
    return false;
  }

  #isClose(last: Last, { timeMs, lon, lat }: Last): boolean {
    const { minIntervalMs, minDistanceMeters, meters } = this.#options;
    // The clock may have stepped backward.
    const passedMs = Math.abs(timeMs - last.timeMs);
    if (passedMs < minIntervalMs) return true;
    if (minDistanceMeters === 0 || passedMs >= HEARTBEAT_MS) return false;
    return meters(last.lon, last.lat, lon, lat) < minDistanceMeters;
  }
}
