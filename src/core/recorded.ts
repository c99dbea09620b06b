import { type Borrowed, lend } from '../model/borrowed.ts';
import { type SetBack, timeOfDay } from '../model/set_back.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { Fix } from './location/fix.ts';
import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/**
 * Where objects have been, as bytes for the history: written once, before any text is made of it, and copied on its way.
 *
 * A place, little-endian, at any offset:
 *
 *     0  u32 bytes of the place         4  u8  topic, as its index in PLACE_TOPICS
 *     6  u16 bytes of the id            8  u16 bytes of the provider's id; 0 where it is the id
 *    10  u16 bytes of the source       12  u16 bytes of the zone's id; 0 where the position was not sent in metres
 *    16  f64 each of PLACE_NUMBERS, NaN for what is not known
 *   104  the id, the provider's id, the source, the zone's id, members of the location as JSON (location/accepted.ts)
 */
const [SIZE, TOPIC, ID_SIZE, PROVIDER_SIZE, SOURCE_SIZE, ZONE_SIZE, NUMBERS] = [0, 4, 6, 8, 10, 12, 16] as const;

export const PLACE_TOPICS = ['locations', 'motions'] as const;
export type PlaceTopic = (typeof PLACE_TOPICS)[number];

/**
 * Times of day in milliseconds since 1970: when it was there, and when that was received. Degrees in WGS 84; metres of the
 * height, in the plane of the zone, and of the accuracy; metres per second; degrees clockwise from north.
 */
export const PLACE_NUMBERS = [
  ...['time', 'received', 'longitude', 'latitude', 'z', 'floor', 'x', 'y', 'accuracy', 'speed', 'course'],
] as const;
const HEAD_BYTES = NUMBERS + 8 * PLACE_NUMBERS.length;

const BYTES_AT_FIRST = 1 << 12;
const BYTES_KEPT = 1 << 20;

/** What is recorded of each step. */
export interface RecordedPlaces {
  readonly topics: readonly PlaceTopic[];
  /** Whether a location comes with its members, for its properties. */
  readonly withMembers: boolean;
}

/** The places of a step, one behind the other, in order. */
export interface PackedPlaces {
  /** Good until the next step. */
  readonly bytes: Borrowed;
  /** How many of each topic. */
  readonly counts: Readonly<Record<PlaceTopic, number>>;
}

/** Writes the places of a step. */
export class PlaceWriter extends GrowingBuffer {
  readonly #recordsLocations: boolean;
  readonly #recordsMotions: boolean;
  readonly #withMembers: boolean;
  #used = 0;
  #counts = { locations: 0, motions: 0 };

  constructor({ topics, withMembers }: RecordedPlaces, newBuffer: NewRecordBuffer) {
    super(newBuffer, BYTES_AT_FIRST);
    this.#recordsLocations = topics.includes('locations');
    this.#recordsMotions = topics.includes('motions');
    this.#withMembers = withMembers;
  }

  location(fix: Fix, setBacks: readonly SetBack[]): void {
    if (!this.#recordsLocations) return;
    this.#counts.locations++;
    this.#write(0, { id: fix.providerId, fix, setBacks });
  }

  motion(id: string, fix: Fix, setBacks: readonly SetBack[]): void {
    if (!this.#recordsMotions) return;
    this.#counts.motions++;
    this.#write(1, { id, fix, setBacks });
  }

  /** What was written since the last call; undefined for nothing. */
  take(): PackedPlaces | undefined {
    if (this.#used === 0) return undefined;
    const places = { bytes: lend(this.bytes.subarray(0, this.#used)), counts: this.#counts };
    this.#used = 0;
    this.#counts = { locations: 0, motions: 0 };
    return places;
  }

  /** Gives back memory. Between two steps. */
  tidy(): void {
    this.shrink(BYTES_KEPT, 0);
  }

  // hot
  #write(topic: number, { id, fix, setBacks }: { id: string; fix: Fix; setBacks: readonly SetBack[] }): void {
    const provider = topic === 0 ? '' : fix.providerId;
    const zone = fix.isLocal ? (fix.zone?.id ?? '') : '';
    const members = topic === 0 && this.#withMembers ? fix.text : '';
    const texts = id.length + provider.length + fix.source.length + zone.length + members.length;
    const start = this.#used;
    this.reserve(start + HEAD_BYTES + UTF8_MAX * texts, start);
    const { bytes, view } = this;
    let at = start + HEAD_BYTES;
    const idBytes = bytes.write(id, at);
    at += idBytes;
    const providerBytes = provider === '' ? 0 : bytes.write(provider, at);
    at += providerBytes;
    const sourceBytes = bytes.write(fix.source, at);
    at += sourceBytes;
    const zoneBytes = zone === '' ? 0 : bytes.write(zone, at);
    at += zoneBytes;
    if (members !== '') at += bytes.write(members, at);
    view.setUint32(start + SIZE, at - start, true);
    view.setUint8(start + TOPIC, topic);
    view.setUint16(start + ID_SIZE, idBytes, true);
    view.setUint16(start + PROVIDER_SIZE, providerBytes, true);
    view.setUint16(start + SOURCE_SIZE, sourceBytes, true);
    view.setUint16(start + ZONE_SIZE, zoneBytes, true);
    const isLocal = zoneBytes > 0;
    const numbers = start + NUMBERS;
    view.setFloat64(numbers, timeOfDay(fix.eventTimeMs, setBacks), true);
    view.setFloat64(numbers + 8, timeOfDay(fix.receivedMs, setBacks), true);
    view.setFloat64(numbers + 16, fix.lon, true);
    view.setFloat64(numbers + 24, fix.lat, true);
    view.setFloat64(numbers + 32, fix.sentZ, true);
    view.setFloat64(numbers + 40, fix.floor, true);
    view.setFloat64(numbers + 48, isLocal ? fix.sentX : Number.NaN, true);
    view.setFloat64(numbers + 56, isLocal ? fix.sentY : Number.NaN, true);
    view.setFloat64(numbers + 64, fix.accuracy ?? Number.NaN, true);
    view.setFloat64(numbers + 72, fix.speed ?? Number.NaN, true);
    view.setFloat64(numbers + 80, fix.course ?? Number.NaN, true);
    this.#used = at;
  }
}

/** How many bytes a place takes. */
// hot
export function placeSize({ view }: RecordBuffer, at: number): number {
  return view.getUint32(at + SIZE, true);
}

export function placeTopic({ view }: RecordBuffer, at: number): PlaceTopic {
  return PLACE_TOPICS[view.getUint8(at + TOPIC)] as PlaceTopic;
}

/** A number of a place, by its index in PLACE_NUMBERS; NaN for what is not known. */
// hot
export function placeNumber({ view }: RecordBuffer, at: number, index: number): number {
  return view.getFloat64(at + NUMBERS + 8 * index, true);
}

/** The texts of a place, in the order in which they lie; the history has the last as its properties. */
export const PLACE_TEXTS = ['id', 'provider_id', 'source', 'zone_id', 'members'] as const;

/** Writes where each of PLACE_TEXTS begins, and where the last of them ends. */
// hot
export function boundTexts({ view }: RecordBuffer, at: number, bounds: Uint32Array): void {
  bounds[0] = at + HEAD_BYTES;
  bounds[1] = bounds[0] + view.getUint16(at + ID_SIZE, true);
  bounds[2] = bounds[1] + view.getUint16(at + PROVIDER_SIZE, true);
  bounds[3] = bounds[2] + view.getUint16(at + SOURCE_SIZE, true);
  bounds[4] = bounds[3] + view.getUint16(at + ZONE_SIZE, true);
  bounds[5] = at + view.getUint32(at + SIZE, true);
}

export function placeId({ bytes, view }: RecordBuffer, at: number): string {
  const start = at + HEAD_BYTES;
  return bytes.toString('utf8', start, start + view.getUint16(at + ID_SIZE, true));
}
