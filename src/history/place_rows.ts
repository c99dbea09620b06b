import type { RecordBuffer } from '../core/location/record.ts';
import { boundTexts, PLACE_NUMBERS, PLACE_TEXTS, placeId, placeNumber } from '../core/recorded.ts';
import { TEXT_COLUMNS } from './columns.ts';
import { hourOf } from './layout.ts';
import { Names } from './names.ts';

const [TIME, LONGITUDE, LATITUDE] = (['time', 'longitude', 'latitude'] as const).map((name) =>
  PLACE_NUMBERS.indexOf(name),
) as [number, number, number];
/** Of TEXT_COLUMNS, where a place has the members of its location. */
const PROPERTIES = TEXT_COLUMNS.indexOf('properties');
const [ROWS_AT_FIRST, ROWS_KEPT] = [1 << 12, 1 << 20] as const;
/** What a row takes, but for its texts. */
const ROW_BYTES = 8 * PLACE_NUMBERS.length + 4 * TEXT_COLUMNS.length;

/** Rows of one hour, or some of them, in the order in which they are to be written: by id, and then by time. */
export interface HourRows {
  readonly hourMs: number;
  /** Places in the columns. */
  readonly order: Uint32Array;
}

/**
 * Locations or motions that wait to be written, column by column: numbers as they came, NaN for what is not known, and texts
 * by their numbers.
 */
export class PlaceRows {
  readonly #numbers: Float64Array[];
  readonly #texts: Int32Array[];
  /** In which columns of numbers, and of texts, anything is known. */
  readonly #hasNumbers: boolean[] = PLACE_NUMBERS.map(() => false);
  readonly #hasTexts: boolean[] = TEXT_COLUMNS.map(() => false);
  #names = new Names();
  /** Where the texts of a place lie. */
  readonly #bounds = new Uint32Array(PLACE_TEXTS.length + 1);
  #capacity = ROWS_AT_FIRST;
  #count = 0;

  constructor() {
    this.#numbers = PLACE_NUMBERS.map(() => new Float64Array(ROWS_AT_FIRST));
    this.#texts = TEXT_COLUMNS.map(() => new Int32Array(ROWS_AT_FIRST));
  }

  get count(): number {
    return this.#count;
  }

  /** By number; the first stands for none. */
  get names(): readonly string[] {
    return this.#names.all;
  }

  /** What the rows take. */
  get bytes(): number {
    return this.#count * ROW_BYTES + this.#names.size;
  }

  /** The columns in which anything is known, by their names. What moves itself has no provider besides. */
  known(): ReadonlyMap<string, Float64Array | Int32Array> {
    const numbers = PLACE_NUMBERS.flatMap((name, i) =>
      this.#hasNumbers[i] ? [[name, this.#numbers[i]] as const] : [],
    );
    const texts = TEXT_COLUMNS.flatMap((name, i) => (this.#hasTexts[i] ? [[name, this.#texts[i]] as const] : []));
    return new Map([...numbers, ...texts] as [string, Float64Array | Int32Array][]);
  }

  /** Adds a place where it lies (core/recorded.ts). `properties`: as JSON, by the members of the location. */
  // hot
  add(buffer: RecordBuffer, at: number, properties: (members: string) => string): void {
    if (this.#count === this.#capacity) this.#resize(2 * this.#capacity);
    const row = this.#count++;
    for (let i = 0; i < PLACE_NUMBERS.length; i++) {
      const number = placeNumber(buffer, at, i);
      (this.#numbers[i] as Float64Array)[row] = number;
      if (!Number.isNaN(number)) this.#hasNumbers[i] = true;
    }
    boundTexts(buffer, at, this.#bounds);
    for (let i = 0; i < TEXT_COLUMNS.length; i++) {
      const number = i === PROPERTIES ? this.#properties(buffer, properties) : this.#textOf(buffer, i);
      (this.#texts[i] as Int32Array)[row] = number;
      if (number > 0) this.#hasTexts[i] = true;
    }
  }

  /** The rows by their hours, the earliest first, and so many at once at most. */
  byHour(rowsMax: number): readonly HourRows[] {
    const times = this.#numbers[TIME] as Float64Array;
    const ids = this.#texts[0] as Int32Array;
    const rank = this.#ranks();
    const hours = new Map<number, number[]>();
    let lastHour = Number.NaN;
    let rows: number[] = [];
    for (let row = 0; row < this.#count; row++) {
      const hour = hourOf(times[row] as number);
      if (hour !== lastHour) {
        lastHour = hour;
        rows = hours.get(hour) ?? [];
        hours.set(hour, rows);
      }
      rows.push(row);
    }
    const sorted = [...hours].sort(([a], [b]) => a - b);
    return sorted.flatMap(([hourMs, all]) => {
      const order = orderOf(all, { times, ids, rank });
      const parts = Math.ceil(order.length / rowsMax);
      return Array.from({ length: parts }, (_, part) => {
        return { hourMs, order: order.subarray(part * rowsMax, (part + 1) * rowsMax) };
      });
    });
  }

  /** Forgets all rows, and gives back memory that only a long failure has taken. */
  clear(): void {
    this.#count = 0;
    this.#hasNumbers.fill(false);
    this.#hasTexts.fill(false);
    if (this.#capacity > ROWS_KEPT) this.#resize(ROWS_AT_FIRST);
    this.#names = new Names();
  }

  /** Forgets the rows of hours that were written. */
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
    for (const column of [...this.#numbers, ...this.#texts]) {
      for (let i = 0; i < kept.length; i++) column[i] = column[kept[i] as number] as number;
    }
    this.#count = kept.length;
  }

  /** The place of each name in the order of the names. */
  #ranks(): Uint32Array {
    const { names } = this;
    const sorted = Array.from(names, (_, number) => number).sort((a, b) =>
      compare(names[a] as string, names[b] as string),
    );
    const rank = new Uint32Array(names.length);
    for (let i = 0; i < sorted.length; i++) rank[sorted[i] as number] = i;
    return rank;
  }

  // hot
  #textOf({ bytes }: RecordBuffer, index: number): number {
    return this.#names.numberOf(bytes, this.#bounds[index] as number, this.#bounds[index + 1] as number);
  }

  #properties({ bytes }: RecordBuffer, properties: (members: string) => string): number {
    const [from, to] = [this.#bounds[PROPERTIES] as number, this.#bounds[PROPERTIES + 1] as number];
    if (from === to) return 0;
    const text = Buffer.from(properties(bytes.toString('utf8', from, to)));
    return this.#names.numberOf(text, 0, text.length);
  }

  /** Makes room for so many rows, and keeps those that there are. */
  #resize(capacity: number): void {
    this.#capacity = capacity;
    const [numbers, texts] = [this.#numbers, this.#texts];
    for (let i = 0; i < numbers.length; i++) {
      numbers[i] = copied(numbers[i] as Float64Array, new Float64Array(capacity), this.#count);
    }
    for (let i = 0; i < texts.length; i++) {
      texts[i] = copied(texts[i] as Int32Array, new Int32Array(capacity), this.#count);
    }
  }
}

function copied<Column extends Float64Array | Int32Array>(from: Column, to: Column, count: number): Column {
  to.set(from.subarray(0, count));
  return to;
}

interface Sorting {
  readonly times: Float64Array;
  readonly ids: Int32Array;
  readonly rank: Uint32Array;
}

/**
 * Rows by the ranks of their ids, by counting. An object's rows come in the order of their times, as a rule; where they do
 * not, they are sorted.
 */
// hot
function orderOf(rows: readonly number[], { times, ids, rank }: Sorting): Uint32Array {
  const starts = new Uint32Array(rank.length + 1);
  const rankOf = (row: number): number => rank[ids[row] as number] as number;
  for (const row of rows) starts[rankOf(row) + 1]!++;
  for (let i = 0; i < rank.length; i++) starts[i + 1]! += starts[i] as number;
  const order = new Uint32Array(rows.length);
  const next = starts.slice();
  for (const row of rows) order[next[rankOf(row)]!++] = row;
  for (let i = 0; i < rank.length; i++) inTime(order.subarray(starts[i], starts[i + 1]), times);
  return order;
}

function inTime(rows: Uint32Array, times: Float64Array): void {
  for (let i = 1; i < rows.length; i++) {
    if ((times[rows[i] as number] as number) >= (times[rows[i - 1] as number] as number)) continue;
    rows.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
    return;
  }
}

/** By code units, which is the order of DuckDB but for characters beyond the first plane: what depends on it is speed. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Of more objects the earliest are forgotten. */
const OBJECTS_MAX = 200_000;

interface ThinningOptions {
  readonly minIntervalMs: number;
  readonly minDistanceMetres: number;
  metres(lon1: number, lat1: number, lon2: number, lat2: number): number;
}

interface Last {
  readonly timeMs: number;
  readonly lon: number;
  readonly lat: number;
}

/** Leaves out places of an object that are too soon after, or too near to, the last that was recorded of it. */
export class Thinning {
  readonly #options: ThinningOptions;
  readonly #last = new Map<string, Last>();

  constructor(options: ThinningOptions) {
    this.#options = options;
  }

  /** Whether a place is to be left out; otherwise it is the last one from now on. */
  leavesOut(buffer: RecordBuffer, at: number): boolean {
    const id = placeId(buffer, at);
    const place = {
      timeMs: placeNumber(buffer, at, TIME),
      lon: placeNumber(buffer, at, LONGITUDE),
      lat: placeNumber(buffer, at, LATITUDE),
    };
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
    const { minIntervalMs, minDistanceMetres, metres } = this.#options;
    // A clock may have been set back.
    if (Math.abs(timeMs - last.timeMs) < minIntervalMs) return true;
    return minDistanceMetres > 0 && metres(last.lon, last.lat, lon, lat) < minDistanceMetres;
  }
}
