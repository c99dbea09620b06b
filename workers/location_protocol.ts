import type { Item } from '../src/core/item.ts';
import type { AcceptedLocation } from '../src/core/location/accepted.ts';
import { type ElevationRef, PROVIDER_TYPES } from '../src/model/location.ts';

/**
 * Locations on their way to a shard, as bytes.
 *
 * A location waits in the lane of its shard for some milliseconds, with thousands of others. As an object of texts and
 * numbers all of it would be copied by each collection of garbage; so its bytes are written when it comes in, one after
 * the other into chunks that are used again, and only a small handle waits. A batch carries the bytes of a run of
 * locations as they are.
 *
 * A record, little-endian, at any offset:
 *
 *     0  u32 bytes of the record       4  u32 bytes of the provider's id     8  u32 bytes of the text
 *    12  u16 source and 14 u16 crs, as places in the list of names
 *    16  u8  provider type, as its place in PROVIDER_TYPES
 *    17  u8  flags
 *    18  f64 seq, receivedMs, generatedMs, x, y, z, accuracy, floor, speed, course; NaN for what was not sent
 *    98  the provider's id, then the text, in UTF-8
 */

type LocationItem = Item & { kind: 'location' };

/** A location that waits in a lane: what the lane looks at, and where its bytes are. */
export interface PackedLocation {
  readonly kind: 'location';
  readonly seq: number;
  readonly receivedMs: number;
  readonly providerId: string;
  readonly chunk: Chunk;
  readonly start: number;
  readonly end: number;
}

/** When a location was true, and when it came in, in milliseconds since 1970. */
export interface Times {
  readonly generatedMs: number;
  readonly receivedMs: number;
}

/** What waits in the lane of a shard. */
export type LaneItem = Exclude<Item, { kind: 'location' }> | PackedLocation;

/** A run of locations in a batch. */
export interface LocationRun {
  readonly kind: 'locations';
  /** Sources and projections that the records name by their place here. */
  readonly names: readonly string[];
  readonly bytes: Uint8Array;
}

interface Chunk {
  readonly bytes: Buffer;
  readonly view: DataView;
  names: string[];
  readonly placeOf: Map<string, number>;
  used: number;
  /** Records that are not done with. */
  waiting: number;
}

const CHUNK_BYTES = 1 << 18;
/** Chunks that are kept for use again. */
const SPARE_MAX = 16;
const HEAD_BYTES = 98;
/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const UTF8_MAX = 3;

const [ASSOCIATED, NOT_ASSOCIATED, FROM_FLOOR, FROM_ELLIPSOID, ASCII_ID, ASCII_TEXT] = [1, 2, 4, 8, 16, 32] as const;
const TYPE_PLACES = new Map(PROVIDER_TYPES.map((type, place) => [type, place]));

/** Writes locations into chunks. */
export class LocationPacker {
  #chunk = newChunk(CHUNK_BYTES);
  readonly #spare: Chunk[] = [];

  /** Writes a location. Every handle is to be given to `done` at last. */
  // hot
  pack(location: AcceptedLocation, seq: number, times: Times): PackedLocation {
    const { provider_id: providerId, text, coordinates } = location;
    const most = HEAD_BYTES + UTF8_MAX * (providerId.length + text.length);
    if (this.#chunk.used + most > this.#chunk.bytes.length) this.#chunk = this.#nextChunk(most);
    const chunk = this.#chunk;
    const { bytes, view, used: start } = chunk;
    const idBytes = bytes.write(providerId, start + HEAD_BYTES);
    const textBytes = bytes.write(text, start + HEAD_BYTES + idBytes);
    const end = start + HEAD_BYTES + idBytes + textBytes;
    const { associated, elevation_ref: ref } = location;
    let flags = associated === null ? 0 : associated ? ASSOCIATED : NOT_ASSOCIATED;
    if (ref !== null) flags |= ref === 'floor' ? FROM_FLOOR : FROM_ELLIPSOID;
    if (idBytes === providerId.length) flags |= ASCII_ID;
    if (textBytes === text.length) flags |= ASCII_TEXT;
    view.setUint32(start, end - start, true);
    view.setUint32(start + 4, idBytes, true);
    view.setUint32(start + 8, textBytes, true);
    view.setUint16(start + 12, placeOf(chunk, location.source), true);
    view.setUint16(start + 14, placeOf(chunk, location.crs), true);
    view.setUint8(start + 16, TYPE_PLACES.get(location.provider_type) as number);
    view.setUint8(start + 17, flags);
    view.setFloat64(start + 18, seq, true);
    view.setFloat64(start + 26, times.receivedMs, true);
    view.setFloat64(start + 34, times.generatedMs, true);
    view.setFloat64(start + 42, coordinates[0] as number, true);
    view.setFloat64(start + 50, coordinates[1] as number, true);
    view.setFloat64(start + 58, coordinates[2] ?? Number.NaN, true);
    view.setFloat64(start + 66, location.accuracy ?? Number.NaN, true);
    view.setFloat64(start + 74, location.floor ?? Number.NaN, true);
    view.setFloat64(start + 82, location.speed ?? Number.NaN, true);
    view.setFloat64(start + 90, location.course ?? Number.NaN, true);
    chunk.used = end;
    chunk.waiting++;
    return { kind: 'location', seq, receivedMs: times.receivedMs, providerId, chunk, start, end };
  }

  /** The locations among the items are done with, each once: their bytes may be written over. */
  // hot
  done(items: readonly LaneItem[]): void {
    for (const item of items) {
      if (item.kind !== 'location') continue;
      const { chunk } = item;
      if (--chunk.waiting > 0 || chunk === this.#chunk) continue;
      if (chunk.bytes.length === CHUNK_BYTES && this.#spare.length < SPARE_MAX) this.#spare.push(chunk);
    }
  }

  #nextChunk(bytes: number): Chunk {
    if (bytes > CHUNK_BYTES) return newChunk(bytes);
    // The current one may be all done with, and is not among the spare ones then.
    const chunk =
      this.#chunk.waiting === 0 && this.#chunk.bytes.length === CHUNK_BYTES ? this.#chunk : this.#spare.pop();
    if (chunk === undefined) return newChunk(CHUNK_BYTES);
    chunk.used = 0;
    chunk.names = [];
    chunk.placeOf.clear();
    return chunk;
  }
}

/** What a batch carries in the place of the items of a lane: runs of locations that lie side by side as one. */
// hot
export function packedRuns(items: readonly (Item | LaneItem)[]): (Item | LocationRun)[] {
  const runs: (Item | LocationRun)[] = [];
  for (let i = 0; i < items.length; i++) {
    const first = items[i] as Item | LaneItem;
    if (!('chunk' in first)) {
      runs.push(first);
      continue;
    }
    const { chunk, start } = first;
    let { end } = first;
    for (let next = items[i + 1]; next !== undefined; next = items[i + 1]) {
      if (!('chunk' in next) || next.chunk !== chunk || next.start !== end) break;
      end = next.end;
      i++;
    }
    runs.push({ kind: 'locations', names: chunk.names, bytes: chunk.bytes.subarray(start, end) });
  }
  return runs;
}

/** The items that a batch was made of. */
// hot
export function unpackedRuns(runs: readonly (Item | LocationRun)[]): Item[] {
  const items: Item[] = [];
  for (const run of runs) {
    if (run.kind === 'locations') readRun(run, items);
    else items.push(run);
  }
  return items;
}

function readRun({ names, bytes }: LocationRun, items: Item[]): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  while (start < buffer.length) {
    items.push(readOne(buffer, view, { names, start }));
    start += view.getUint32(start, true);
  }
}

function readOne(buffer: Buffer, view: DataView, { names, start }: { names: readonly string[]; start: number }): Item {
  const idEnd = start + HEAD_BYTES + view.getUint32(start + 4, true);
  const end = start + view.getUint32(start, true);
  const flags = view.getUint8(start + 17);
  const x = view.getFloat64(start + 42, true);
  const y = view.getFloat64(start + 50, true);
  const z = view.getFloat64(start + 58, true);
  const location: AcceptedLocation = {
    provider_id: textOf(buffer, (flags & ASCII_ID) !== 0, start + HEAD_BYTES, idEnd),
    source: names[view.getUint16(start + 12, true)] as string,
    provider_type: PROVIDER_TYPES[view.getUint8(start + 16)] as AcceptedLocation['provider_type'],
    crs: names[view.getUint16(start + 14, true)] as string,
    coordinates: Number.isNaN(z) ? [x, y] : [x, y, z],
    associated: (flags & ASSOCIATED) !== 0 ? true : (flags & NOT_ASSOCIATED) !== 0 ? false : null,
    accuracy: orNull(view.getFloat64(start + 66, true)),
    floor: orNull(view.getFloat64(start + 74, true)),
    elevation_ref: refOf(flags),
    speed: orNull(view.getFloat64(start + 82, true)),
    course: orNull(view.getFloat64(start + 90, true)),
    text: textOf(buffer, (flags & ASCII_TEXT) !== 0, idEnd, end),
  };
  return {
    kind: 'location',
    seq: view.getFloat64(start + 18, true),
    receivedMs: view.getFloat64(start + 26, true),
    generatedMs: view.getFloat64(start + 34, true),
    location,
  } satisfies LocationItem;
}

function textOf(buffer: Buffer, isAscii: boolean, start: number, end: number): string {
  return buffer.toString(isAscii ? 'latin1' : 'utf8', start, end);
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function refOf(flags: number): ElevationRef | null {
  if ((flags & FROM_FLOOR) !== 0) return 'floor';
  return (flags & FROM_ELLIPSOID) !== 0 ? 'wgs84' : null;
}

function newChunk(length: number): Chunk {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer), names: [], placeOf: new Map(), used: 0, waiting: 0 };
}

function placeOf(chunk: Chunk, name: string): number {
  let place = chunk.placeOf.get(name);
  if (place === undefined) {
    place = chunk.names.push(name) - 1;
    chunk.placeOf.set(name, place);
  }
  return place;
}
