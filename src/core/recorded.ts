import { type Borrowed, lend } from '../model/borrowed.ts';
import { wallClockOfEventTime, type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { Fix } from './location/fix.ts';
import type { NewRecordBuffer } from './location/record.ts';

/**
 * Where objects have been, as bytes for the history: rows of numbers, written once, before any text is made of a location,
 * and copied as they are on their way. Ids and other names are numbers, from 1 on, that the shard has given them; a step
 * brings those that it names for the first time. Whoever reads misses none as long as each step begins with as many names
 * as those before it have brought, or with none: then the shard has begun to number anew.
 *
 * The places of a step, little-endian, from a multiple of 8 on, padded to one:
 *
 *     0  u32 how many names there were before     4  u32 bytes of the names that are new
 *     8  of each name: u32 bytes, UTF-8; then padding to a multiple of 8, and for each topic with places:
 *
 *        0  u32 topic, as its index in PLACE_TOPICS   4  u32 places
 *        8  u32 what is known of any of them: bits in the order of PLACE_NUMBERS and then PLACE_NAMES
 *       12  u32 bytes of all members
 *       16  each place: f64 each of PLACE_NUMBERS, NaN for what is not known, u32 each of PLACE_NAMES, 0 for none
 *           u32 for each place: where its members end, if there are any; then these, as JSON (location/accepted.ts)
 */

export const PLACE_TOPICS = ['locations', 'motions'] as const;
export type PlaceTopic = (typeof PLACE_TOPICS)[number];

/**
 * Degrees in WGS 84; metres per second; degrees clockwise from north; metres in the plane of the zone, of the height, and
 * of the accuracy. Times of day in milliseconds since 1970: when it was there, and when that was received. In the order of
 * Fix.copyNumbers.
 */
export const PLACE_NUMBERS = [
  ...['longitude', 'latitude', 'floor', 'time', 'speed', 'course', 'received', 'x', 'y', 'z', 'accuracy'],
] as const;
/** `id`: of the provider, or of the trackable that it has moved. A location names no provider beside its id. */
export const PLACE_NAMES = ['id', 'provider_id', 'source', 'zone_id'] as const;
/** How many f64 a place takes; and how many u32, and where its names are among these. */
export const PLACE_LENGTH = PLACE_NUMBERS.length + PLACE_NAMES.length / 2;
export const [PLACE_WORDS, FIRST_NAME] = [2 * PLACE_LENGTH, 2 * PLACE_NUMBERS.length] as const;

const [TIME, SPEED, COURSE, RECEIVED, X, Y, Z, ACCURACY] = (
  ['time', 'speed', 'course', 'received', 'x', 'y', 'z', 'accuracy'] as const
).map((name) => PLACE_NUMBERS.indexOf(name)) as [number, number, number, number, number, number, number, number];

const STEP_HEAD = 8;
const TOPIC_HEAD = 16;
const BYTES_AT_FIRST = 1 << 12;
const BYTES_KEPT = 1 << 20;
const [PLACES_AT_FIRST, PLACES_KEPT] = [1 << 8, 1 << 13] as const;
/** With more the shard begins to number anew. */
const NAMES_MAX = 1 << 20;

/** What is recorded of each step. */
export interface RecordedPlaces {
  readonly topics: readonly PlaceTopic[];
  /** Whether a location comes with its members, for its properties. */
  readonly withMembers: boolean;
}

/** The places of a step. */
export interface PackedPlaces {
  /** Good until the next step. */
  readonly bytes: Borrowed;
  /** How many of each topic. */
  readonly counts: Readonly<Record<PlaceTopic, number>>;
}

/** Where some bytes begin, and where they end. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** The names that a step brings. */
export interface NewNames extends Bounds {
  /** How many there were before. */
  readonly before: number;
}

/** The places of a topic, as they lie in memory that is aligned to 8 bytes. */
export interface PlaceSection {
  readonly topic: PlaceTopic;
  readonly count: number;
  /** Where the places begin, as an index of f64. */
  readonly start: number;
  /** What is known of any place: bits in the order of PLACE_NUMBERS and then PLACE_NAMES. */
  readonly known: number;
  /** Where the ends of members begin, as an index of u32, and where the members do; undefined for none. */
  readonly members: { readonly ends: number; readonly from: number } | undefined;
}

/** Writes the places of a step. */
export class PlaceWriter extends GrowingBuffer {
  readonly #recorded: Readonly<Record<PlaceTopic, boolean>>;
  readonly #withMembers: boolean;
  readonly #places: Readonly<Record<PlaceTopic, Places>> = { locations: new Places(), motions: new Places() };
  readonly #numbers = new Map<string, number>();
  /** How many it had given when it began to number anew: what a fix remembers is larger. */
  #before = 0;
  /** Those that the step names for the first time. */
  #newNames: string[] = [];
  /** The last source, which is that of the next place as a rule. */
  #source = '';
  #sourceNumber = 0;

  constructor({ topics, withMembers }: RecordedPlaces, newBuffer: NewRecordBuffer) {
    super(newBuffer, BYTES_AT_FIRST);
    this.#recorded = { locations: topics.includes('locations'), motions: topics.includes('motions') };
    this.#withMembers = withMembers;
  }

  location(fix: Fix, setBacks: readonly ClockStep[]): void {
    if (!this.#recorded.locations) return;
    const places = this.#places.locations;
    this.#write(places, fix, setBacks, this.#numberOfProvider(fix), 0);
    if (this.#withMembers) places.members.push(fix.text);
  }

  motion(id: string, fix: Fix, setBacks: readonly ClockStep[]): void {
    if (!this.#recorded.motions) return;
    this.#write(this.#places.motions, fix, setBacks, this.#numberOf(id), this.#numberOfProvider(fix));
  }

  /** What was written since the last call; undefined for nothing. */
  take(): PackedPlaces | undefined {
    const { locations, motions } = this.#places;
    if (locations.count + motions.count === 0) return undefined;
    const counts = { locations: locations.count, motions: motions.count };
    let at = this.#packNames();
    at = this.#packPlaces(at, 0, locations);
    at = this.#packPlaces(at, 1, motions);
    if (this.#numbers.size > NAMES_MAX) this.forgetNames();
    return { bytes: lend(this.bytes.subarray(0, at)), counts };
  }

  /** Numbers names anew. Between two steps. */
  forgetNames(): void {
    this.#before += this.#numbers.size;
    this.#numbers.clear();
    this.#source = '';
    this.#sourceNumber = 0;
  }

  /** Gives back memory. Between two steps. */
  tidy(): void {
    this.shrink(BYTES_KEPT, 0);
    for (const topic of PLACE_TOPICS) this.#places[topic].tidy();
  }

  /** A fix belongs to one provider for long, and remembers the number. */
  // hot
  #numberOfProvider(fix: Fix): number {
    if (fix.placeName <= this.#before) fix.placeName = this.#before + this.#numberOf(fix.providerId);
    return fix.placeName - this.#before;
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
  #write(places: Places, fix: Fix, setBacks: readonly ClockStep[], id: number, provider: number): void {
    const row = places.next();
    const { numbers, words } = places;
    const at = PLACE_LENGTH * row;
    fix.copyNumbers(numbers, at);
    if (setBacks.length > 0) {
      numbers[at + TIME] = wallClockOfEventTime(numbers[at + TIME] as number, setBacks);
      numbers[at + RECEIVED] = wallClockTime(numbers[at + RECEIVED] as number, setBacks);
    }
    const zone = fix.isLocal ? this.#numberOf(fix.zone?.id ?? '') : 0;
    if (zone === 0) {
      numbers[at + X] = Number.NaN;
      numbers[at + Y] = Number.NaN;
    }
    if (fix.source !== this.#source) {
      this.#source = fix.source;
      this.#sourceNumber = this.#numberOf(fix.source);
    }
    const source = this.#sourceNumber;
    const names = PLACE_WORDS * row + FIRST_NAME;
    words[names] = id;
    words[names + 1] = provider;
    words[names + 2] = source;
    words[names + 3] = zone;
    places.known |=
      ALWAYS_KNOWN |
      knownIn(numbers, at, SPEED) |
      knownIn(numbers, at, COURSE) |
      knownIn(numbers, at, Z) |
      knownIn(numbers, at, ACCURACY) |
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
    view.setUint32(0, this.#numbers.size - names.length, true);
    view.setUint32(4, at - STEP_HEAD, true);
    this.#newNames = [];
    return padded(at);
  }

  /** Returns where the next topic begins. */
  #packPlaces(start: number, topic: number, places: Places): number {
    const { count, known, members } = places;
    if (count === 0) return start;
    const length = members.reduce((sum, text) => sum + text.length, 0);
    const size = 8 * PLACE_LENGTH * count;
    this.reserve(start + TOPIC_HEAD + size + 4 * members.length + UTF8_MAX * length + 8, start);
    const { bytes, view } = this;
    bytes.set(new Uint8Array(places.words.buffer, 0, size), start + TOPIC_HEAD);
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
    view.setUint32(start, topic, true);
    view.setUint32(start + 4, count, true);
    view.setUint32(start + 8, known, true);
    view.setUint32(start + 12, membersSize, true);
    places.clear();
    return padded(at);
  }
}

const bitOf = (name: string): number => 1 << [...PLACE_NUMBERS, ...PLACE_NAMES].indexOf(name as 'time');
const ALWAYS_KNOWN = ['longitude', 'latitude', 'floor', 'time', 'received', 'id'].reduce(
  (bits, name) => bits | bitOf(name),
  0,
);
const IN_ZONE = bitOf('x') | bitOf('y') | bitOf('zone_id');
const [PROVIDER, SOURCE] = [bitOf('provider_id'), bitOf('source')] as const;

/** The bit of a number, if it is known. */
// hot
function knownIn(numbers: Float64Array, at: number, index: number): number {
  return Number.isNaN(numbers[at + index]) ? 0 : 1 << index;
}

function padded(at: number): number {
  return (at + 7) & ~7;
}

/** Places of a topic that a step has brought so far. */
class Places {
  count = 0;
  known = 0;
  members: string[] = [];
  /** The same memory twice. */
  numbers = new Float64Array(PLACE_LENGTH * PLACES_AT_FIRST);
  words = new Uint32Array(this.numbers.buffer);

  /** The row of the next place. */
  // hot
  next(): number {
    if (this.numbers.length === PLACE_LENGTH * this.count) this.#resize(2 * this.count);
    return this.count++;
  }

  clear(): void {
    this.count = 0;
    this.known = 0;
    this.members = [];
  }

  tidy(): void {
    if (this.numbers.length > PLACE_LENGTH * PLACES_KEPT) this.#resize(PLACES_KEPT);
  }

  #resize(places: number): void {
    const { numbers } = this;
    this.numbers = new Float64Array(PLACE_LENGTH * places);
    this.numbers.set(numbers.subarray(0, PLACE_LENGTH * this.count));
    this.words = new Uint32Array(this.numbers.buffer);
  }
}

/** The names that the step at a multiple of 8 brings. */
export function namesIn(words: Uint32Array, start: number): NewNames {
  const from = start + STEP_HEAD;
  return { before: words[start >> 2] as number, from, to: from + (words[(start >> 2) + 1] as number) };
}

/** The sections of a step that ends there, whose names have ended at `namesEnd`. */
export function sectionsIn(words: Uint32Array, namesEnd: number, end: number): readonly PlaceSection[] {
  const sections: PlaceSection[] = [];
  let at = padded(namesEnd);
  while (at < end) {
    const [topic, count, known, membersSize] = words.subarray(at >> 2, (at >> 2) + 4) as unknown as number[] as [
      ...[number, number, number, number],
    ];
    at += TOPIC_HEAD;
    const start = at >> 3;
    at += 8 * PLACE_LENGTH * count;
    const members = membersSize === 0 ? undefined : { ends: at >> 2, from: at + 4 * count };
    if (members !== undefined) at = members.from + membersSize;
    at = padded(at);
    sections.push({ topic: PLACE_TOPICS[topic] as PlaceTopic, count, start, known, members });
  }
  return sections;
}
