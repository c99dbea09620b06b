import { type Borrowed, lend } from '../model/borrowed.ts';
import { wallClockOfEventTime, type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { POSITIONS, TOPIC_POSITIONS } from './encoding/layouts.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { Fix } from './location/fix.ts';
import type { NewRecordBuffer } from './location/record.ts';

/**
 * Positions of objects as bytes, for the history. Each is a row of numbers, written once before the location becomes
 * JSON and only copied afterwards. Ids and other names are encoded as numbers from 1 that the shard assigns; a step
 * contains the names that it uses for the first time. A reader has all names if each step states as many earlier names
 * as the steps before contained. A step that states none has restarted the numbering.
 *
 * The positions of a step, little-endian, from a multiple of 8, padded to one:
 *
 *     POSITIONS
 *     for each name: u32 bytes, UTF-8; then padding to a multiple of 8, and for each topic with positions:
 *
 *       TOPIC_POSITIONS: `topic`, as its index in POSITION_TOPICS; `present`, the columns with any value as bits, in the
 *       order of POSITION_NUMBERS, then POSITION_NAMES
 *       each position: f64 each of POSITION_NUMBERS, NaN for unknown, u32 each of POSITION_NAMES, 0 for none
 *       u32 for each position: end offset of its members, if there are any; then these, as JSON (location/accepted.ts)
 */

export const POSITION_TOPICS = ['locations', 'motions'] as const;
export type PositionTopic = (typeof POSITION_TOPICS)[number];

/**
 * Numeric columns, in the order of Fix.copyNumbers. Longitude and latitude are degrees in WGS 84; speed is in meters
 * per second, course in degrees clockwise from north; x, y, z and accuracy are in meters. `time` and `received` are
 * wall-clock times of the location and of its receipt, in milliseconds since 1970.
 */
export const POSITION_NUMBERS = [
  ...['longitude', 'latitude', 'floor', 'time', 'speed', 'course', 'received', 'x', 'y', 'z', 'accuracy'],
] as const;
/**
 * Name columns. `id` is the provider of a location or the trackable of a motion; `provider_id` is set for motions only.
 */
export const POSITION_NAMES = ['id', 'provider_id', 'source', 'zone_id'] as const;
/** Length of a position in f64. */
export const POSITION_LENGTH = POSITION_NUMBERS.length + POSITION_NAMES.length / 2;
export const [POSITION_WORDS, FIRST_NAME] = [2 * POSITION_LENGTH, 2 * POSITION_NUMBERS.length] as const;

const [TIME, SPEED, COURSE, RECEIVED, X, Y, Z, ACCURACY] = (
  ['time', 'speed', 'course', 'received', 'x', 'y', 'z', 'accuracy'] as const
).map((name) => POSITION_NUMBERS.indexOf(name)) as [number, number, number, number, number, number, number, number];

const [STEP_HEAD, TOPIC_HEAD] = [POSITIONS.bytes, TOPIC_POSITIONS.bytes] as const;
const INITIAL_BYTES = 1 << 12;
const BYTES_RETAINED = 1 << 20;
const [INITIAL_POSITIONS, POSITIONS_RETAINED] = [1 << 8, 1 << 13] as const;
/** Above this number of names, the shard restarts its numbering. */
const NAMES_MAX = 1 << 20;

/** Settings of the history recording. */
export interface HistoryRecording {
  readonly topics: readonly PositionTopic[];
  /** Whether a location includes its members, for its properties. */
  readonly withMembers: boolean;
}

/** Positions of a step. */
export interface PackedPositions {
  /** Valid until the next step. */
  readonly bytes: Borrowed;
  /** Number of positions per topic. */
  readonly counts: Readonly<Record<PositionTopic, number>>;
}

/** Start and end offsets of a range of bytes. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** New names of a step. */
export interface NewNames extends ByteRange {
  /** Number of names before the step. */
  readonly before: number;
}

/** Positions of one topic, in memory aligned to 8 bytes. */
export interface PositionSection {
  readonly topic: PositionTopic;
  readonly count: number;
  /** Start of the positions, as an index of f64. */
  readonly start: number;
  /** Columns with any value: bits in the order of POSITION_NUMBERS, then POSITION_NAMES. */
  readonly present: number;
  /** Index of the members' end offsets among u32, and offset of the members; undefined for none. */
  readonly members: { readonly ends: number; readonly from: number } | undefined;
}

/** Writes the positions of a step. */
export class PositionWriter extends GrowingBuffer {
  readonly #recorded: Readonly<Record<PositionTopic, boolean>>;
  readonly #withMembers: boolean;
  readonly #positions: Readonly<Record<PositionTopic, PositionRows>> = {
    locations: new PositionRows(),
    motions: new PositionRows(),
  };
  readonly #numbers = new Map<string, number>();
  /** Number of names of all earlier numberings. A number cached in a fix is valid only if it is larger. */
  #before = 0;
  /** Names that the step uses for the first time. */
  #newNames: string[] = [];
  /** The last source; the next position usually has the same. */
  #source = '';
  #sourceNumber = 0;

  constructor({ topics, withMembers }: HistoryRecording, newBuffer: NewRecordBuffer) {
    super(newBuffer, INITIAL_BYTES);
    this.#recorded = { locations: topics.includes('locations'), motions: topics.includes('motions') };
    this.#withMembers = withMembers;
  }

  location(fix: Fix, clockSteps: readonly ClockStep[]): void {
    if (!this.#recorded.locations) return;
    const positions = this.#positions.locations;
    this.#write(positions, fix, clockSteps, this.#numberOfProvider(fix), 0, false);
    if (this.#withMembers) positions.members.push(fix.text);
  }

  motion(id: string, fix: Fix, clockSteps: readonly ClockStep[]): void {
    if (!this.#recorded.motions) return;
    const { motions } = this.#positions;
    this.#write(motions, fix, clockSteps, this.#numberOf(id), this.#numberOfProvider(fix), fix.hasTrack);
  }

  /** Returns the positions since the last call; undefined for none. */
  take(): PackedPositions | undefined {
    const { locations, motions } = this.#positions;
    if (locations.count + motions.count === 0) return undefined;
    const counts = { locations: locations.count, motions: motions.count };
    let at = this.#packNames();
    at = this.#packPositions(at, 0, locations);
    at = this.#packPositions(at, 1, motions);
    if (this.#numbers.size > NAMES_MAX) this.resetNames();
    return { bytes: lend(this.bytes.subarray(0, at)), counts };
  }

  /** Restarts the numbering of names. Call it between two steps. */
  resetNames(): void {
    this.#before += this.#numbers.size;
    this.#numbers.clear();
    this.#source = '';
    this.#sourceNumber = 0;
  }

  /** Frees memory. Call it between two steps. */
  tidy(): void {
    this.shrink(BYTES_RETAINED, 0);
    for (const topic of POSITION_TOPICS) this.#positions[topic].tidy();
  }

  /** Returns the number of a fix's provider. The fix caches it, since it usually belongs to one provider for long. */
  // hot
  #numberOfProvider(fix: Fix): number {
    if (fix.providerNumber <= this.#before) fix.providerNumber = this.#before + this.#numberOf(fix.providerId);
    return fix.providerNumber - this.#before;
  }

  // hot
  #numberOf(name: string): number {
    return this.#numbers.get(name) ?? this.#add(name);
  }

  #add(name: string): number {
    if (name === '') return 0;
    const number = this.#numbers.size + 1;
    this.#numbers.set(name, number);
    this.#newNames.push(name);
    return number;
  }

  // hot
  #write(
    positions: PositionRows,
    fix: Fix,
    clockSteps: readonly ClockStep[],
    id: number,
    provider: number,
    isFiltered: boolean,
  ): void {
    const row = positions.next();
    const { numbers, words } = positions;
    const at = POSITION_LENGTH * row;
    if (isFiltered) fix.copyFilteredNumbers(numbers, at);
    else fix.copyNumbers(numbers, at);
    if (clockSteps.length > 0) {
      numbers[at + TIME] = wallClockOfEventTime(numbers[at + TIME] as number, clockSteps);
      numbers[at + RECEIVED] = wallClockTime(numbers[at + RECEIVED] as number, clockSteps);
    }
    const zone = fix.isLocal && !isFiltered ? this.#numberOf(fix.zone?.id ?? '') : 0;
    if (zone === 0) {
      numbers[at + X] = Number.NaN;
      numbers[at + Y] = Number.NaN;
    }
    if (fix.source !== this.#source) {
      this.#source = fix.source;
      this.#sourceNumber = this.#numberOf(fix.source);
    }
    const source = this.#sourceNumber;
    const names = POSITION_WORDS * row + FIRST_NAME;
    words[names] = id;
    words[names + 1] = provider;
    words[names + 2] = source;
    words[names + 3] = zone;
    positions.present |=
      ALWAYS_PRESENT |
      presentBit(numbers, at, SPEED) |
      presentBit(numbers, at, COURSE) |
      presentBit(numbers, at, Z) |
      presentBit(numbers, at, ACCURACY) |
      (zone > 0 ? IN_ZONE : 0) |
      (provider > 0 ? PROVIDER : 0) |
      (source > 0 ? SOURCE : 0);
  }

  #packNames(): number {
    const names = this.#newNames;
    const size = names.reduce((sum, { length }) => sum + 4 + UTF8_MAX * length, 0);
    this.reserve(STEP_HEAD + size + 8, 0);
    const { bytes, view } = this;
    let at = STEP_HEAD;
    for (const name of names) {
      const written = bytes.write(name, at + 4);
      view.setUint32(at, written, true);
      at += 4 + written;
    }
    POSITIONS.write(this, 0, { namesBefore: this.#numbers.size - names.length, newNamesBytes: at - STEP_HEAD });
    this.#newNames = [];
    return padded(at);
  }

  /** Writes the positions of a topic and returns the start of the next topic. */
  #packPositions(start: number, topic: number, positions: PositionRows): number {
    const { count, present, members } = positions;
    if (count === 0) return start;
    const length = members.reduce((sum, text) => sum + text.length, 0);
    const size = 8 * POSITION_LENGTH * count;
    this.reserve(start + TOPIC_HEAD + size + 4 * members.length + UTF8_MAX * length + 8, start);
    const { bytes, view } = this;
    bytes.set(new Uint8Array(positions.words.buffer, 0, size), start + TOPIC_HEAD);
    let at = start + TOPIC_HEAD + size;
    let membersSize = 0;
    if (length > 0) {
      const from = at + 4 * count;
      for (const text of members) {
        membersSize += bytes.write(text, from + membersSize);
        view.setUint32(at, membersSize, true);
        at += 4;
      }
      at += membersSize;
    }
    TOPIC_POSITIONS.write(this, start, { topic, count, present, membersBytes: membersSize });
    positions.clear();
    return padded(at);
  }
}

const bitOf = (name: string): number => 1 << [...POSITION_NUMBERS, ...POSITION_NAMES].indexOf(name as 'time');
const ALWAYS_PRESENT = ['longitude', 'latitude', 'floor', 'time', 'received', 'id'].reduce(
  (bits, name) => bits | bitOf(name),
  0,
);
const IN_ZONE = bitOf('x') | bitOf('y') | bitOf('zone_id');
const [PROVIDER, SOURCE] = [bitOf('provider_id'), bitOf('source')] as const;

/** Returns the bit of a number; 0 if the number is unknown. */
// hot
function presentBit(numbers: Float64Array, at: number, index: number): number {
  return Number.isNaN(numbers[at + index]) ? 0 : 1 << index;
}

function padded(at: number): number {
  return (at + 7) & ~7;
}

/** Positions of a topic in the current step. */
class PositionRows {
  count = 0;
  present = 0;
  members: string[] = [];
  /** Both views share one buffer. */
  numbers = new Float64Array(POSITION_LENGTH * INITIAL_POSITIONS);
  words = new Uint32Array(this.numbers.buffer);

  /** Appends a row and returns its index. */
  // hot
  next(): number {
    if (this.numbers.length === POSITION_LENGTH * this.count) this.#resize(2 * this.count);
    return this.count++;
  }

  clear(): void {
    this.count = 0;
    this.present = 0;
    this.members = [];
  }

  tidy(): void {
    if (this.numbers.length > POSITION_LENGTH * POSITIONS_RETAINED) this.#resize(POSITIONS_RETAINED);
  }

  #resize(positions: number): void {
    const { numbers } = this;
    this.numbers = new Float64Array(POSITION_LENGTH * positions);
    this.numbers.set(numbers.subarray(0, POSITION_LENGTH * this.count));
    this.words = new Uint32Array(this.numbers.buffer);
  }
}

/** Returns the new names of the step at `start`, a multiple of 8. */
export function namesIn(words: Uint32Array, start: number): NewNames {
  const from = start + STEP_HEAD;
  return { before: words[start >> 2] as number, from, to: from + (words[(start >> 2) + 1] as number) };
}

/** Returns the sections of a step that ends at `end` and whose names end at `namesEnd`. */
export function sectionsIn(words: Uint32Array, namesEnd: number, end: number): readonly PositionSection[] {
  const sections: PositionSection[] = [];
  let at = padded(namesEnd);
  while (at < end) {
    const [topic, count, present, membersSize] = words.subarray(at >> 2, (at >> 2) + 4) as unknown as number[] as [
      ...[number, number, number, number],
    ];
    at += TOPIC_HEAD;
    const start = at >> 3;
    at += 8 * POSITION_LENGTH * count;
    const members = membersSize === 0 ? undefined : { ends: at >> 2, from: at + 4 * count };
    if (members !== undefined) at = members.from + membersSize;
    at = padded(at);
    sections.push({ topic: POSITION_TOPICS[topic] as PositionTopic, count, start, present, members });
  }
  return sections;
}
