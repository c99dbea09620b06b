import type { Item, LastKnownRow } from '../core/item.ts';
import type { AcceptedLocation } from '../core/location/accepted.ts';
import { ReceivedLocation } from '../core/location/received.ts';
import {
  type RecordBuffer,
  recordBytesMax,
  recordCrs,
  recordSeq,
  recordSize,
  SOURCE_NAME,
  stampRecord,
  writeRecord,
} from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import type { PackedStep } from './journal_record.ts';

/**
 * Locations in transit to a shard, as bytes.
 *
 * A location waits in the lane of its shard for some milliseconds, with thousands of others. As heap objects, they
 * would be copied by each garbage collection. So locations are written as bytes on receipt, contiguously into reusable
 * chunks, and one small handle in the lane represents all locations of a body. A batch contains the bytes of a run of
 * locations unchanged.
 */

/** Handle of contiguous locations that wait in a lane: the values that the lane needs, and their bytes. */
export interface PackedRun {
  readonly kind: 'locations';
  /** Item numbers of the first and the last location. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly count: number;
  /** Time of receipt of all locations. */
  readonly receivedMs: number;
  /** Providers of the locations, at least those that the shard may not have yet. */
  readonly newProviders: readonly string[];
  readonly chunk: Chunk;
  readonly start: number;
  readonly end: number;
}

const WGS84 = 'EPSG:4326';

/** Time of generation and of receipt of a location, in milliseconds since 1970. */
export interface LocationTimes {
  readonly generatedMs: number;
  readonly receivedMs: number;
}

/**
 * State of objects to adopt: last-known rows and the steps after them. `takenOver` is set for objects of another hub
 * (see the item `takeOver` of the core); absent for the whole state of this shard.
 */
export interface Adoption {
  readonly kind: 'adopt';
  readonly seq: number;
  readonly receivedMs: number;
  readonly rows: readonly LastKnownRow[];
  readonly steps: readonly PackedStep[];
  readonly suppressUntilMs: number;
  readonly takenOver?: Pick<Item & { kind: 'takeOver' }, 'id' | 'objects' | 'since'>;
}

/** An item in the lane of a shard. */
export type LaneItem =
  | (Exclude<Item, { kind: 'location' | 'replay' | 'takeOver' }> & FromConfigRecord)
  | PackedRun
  | Adoption;

/** Sequence of the configuration record that caused an item, in the shared log. */
interface FromConfigRecord {
  readonly config?: number;
}

/** A run of locations in a batch. */
export interface LocationRun {
  readonly kind: 'locations';
  /** Sources and projections to which the records refer by index. */
  readonly names: readonly string[];
  readonly bytes: Uint8Array;
}

interface Chunk extends RecordBuffer {
  names: string[];
  readonly indexOf: Map<string, number>;
  used: number;
  /** Number of unfinished runs. */
  waiting: number;
}

const NO_PROVIDERS: readonly string[] = [];
const CHUNK_BYTES = 1 << 18;
/** Number of chunks retained for reuse. */
const SPARE_MAX = 16;

/** Writes locations into chunks. */
export class LocationPacker {
  #chunk = newChunk(CHUNK_BYTES);
  readonly #spare: Chunk[] = [];

  /** Writes a location and returns its handle, which must finally be passed to `done`. */
  // hot
  pack(location: AcceptedLocation, seq: number, times: LocationTimes): PackedRun {
    const most = recordBytesMax(location);
    if (this.#chunk.used + most > this.#chunk.bytes.length) this.#chunk = this.#nextChunk(most);
    const chunk = this.#chunk;
    const { used: start } = chunk;
    const { generatedMs, receivedMs } = times;
    const [source, crs] = [indexIn(chunk, location.source), indexIn(chunk, location.crs)];
    const end = writeRecord(chunk, start, location, { seq, receivedMs, generatedMs, source, crs });
    chunk.used = end;
    chunk.waiting++;
    const newProviders = [location.provider_id];
    return { kind: 'locations', seq, lastSeq: seq, count: 1, receivedMs, newProviders, chunk, start, end };
  }

  /**
   * Copies records of a scanned body, between two offsets, and numbers their items from `seq`. Returns their handle,
   * which must also be passed to `done`. If the records continue those of `before`, the last handle of the body, that
   * handle is extended.
   */
  // hot
  copy(body: ScannedBody, from: number, to: number, seq: number, before: PackedRun | undefined): PackedRun {
    const bytes = to - from;
    if (this.#chunk.used + bytes > this.#chunk.bytes.length) this.#chunk = this.#nextChunk(bytes);
    const chunk = this.#chunk;
    const { used } = chunk;
    const end = used + body.records.bytes.copy(chunk.bytes, used, from, to);
    // Names of the body are looked up once per chunk.
    const count = stamped(body, used, end, seq, chunk);
    chunk.used = end;
    const lastSeq = seq + count - 1;
    if (before?.chunk === chunk && before.end === used) return { ...before, end, lastSeq, count: before.count + count };
    chunk.waiting++;
    const { receivedMs } = body;
    return { kind: 'locations', seq, lastSeq, count, receivedMs, newProviders: NO_PROVIDERS, chunk, start: used, end };
  }

  /** Finishes the runs among the items, whose bytes may then be overwritten. Call it once for each run. */
  // hot
  done(items: readonly LaneItem[]): void {
    for (const item of items) {
      if (item.kind !== 'locations') continue;
      const { chunk } = item;
      if (--chunk.waiting > 0 || chunk === this.#chunk) continue;
      if (chunk.bytes.length === CHUNK_BYTES && this.#spare.length < SPARE_MAX) this.#spare.push(chunk);
    }
  }

  #nextChunk(bytes: number): Chunk {
    if (bytes > CHUNK_BYTES) return newChunk(bytes);
    // The current chunk may be unused without being among the spare ones.
    const chunk =
      this.#chunk.waiting === 0 && this.#chunk.bytes.length === CHUNK_BYTES ? this.#chunk : this.#spare.pop();
    if (chunk === undefined) return newChunk(CHUNK_BYTES);
    chunk.used = 0;
    chunk.names = [];
    chunk.indexOf.clear();
    return chunk;
  }
}

/** Completes records in their chunk and returns their number. */
// hot
function stamped({ nameOf, crsNames }: ScannedBody, from: number, to: number, seq: number, chunk: Chunk): number {
  let crs = crsNames === undefined ? indexIn(chunk, WGS84) : 0;
  let [number, source, crsNumber] = [-1, 0, -1];
  let count = 0;
  for (let at = from; at < to; at += recordSize(chunk, at)) {
    const name = chunk.view.getUint32(at + SOURCE_NAME, true);
    if (name !== number) {
      number = name;
      source = indexIn(chunk, nameOf(name));
    }
    if (crsNames !== undefined && recordCrs(chunk, at) !== crsNumber) {
      crsNumber = recordCrs(chunk, at);
      crs = indexIn(chunk, crsNames[crsNumber] as string);
    }
    stampRecord(chunk, at, { seq: seq + count, source, crs });
    count++;
  }
  return count;
}

/** Returns the number of core items in a lane item. */
export function weightOf(item: LaneItem): number {
  return item.kind === 'locations' ? item.count : 1;
}

/** Returns the number of the last core item in a lane item. */
export function lastSeqOf(item: LaneItem): number {
  return item.kind === 'locations' ? item.lastSeq : item.seq;
}

/** Splits several items into halves, or a single run into parts. */
export function halvesOf(items: readonly LaneItem[]): (readonly LaneItem[])[] {
  const [first] = items;
  if (items.length === 1 && first?.kind === 'locations') return halvesOfRun(first).map((half) => [half]);
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}

function halvesOfRun(run: PackedRun): PackedRun[] {
  const { chunk, start } = run;
  const count = run.count >> 1;
  let [at, last] = [start, start];
  for (let i = 0; i < count; i++) {
    last = at;
    at += recordSize(chunk, at);
  }
  return [
    { ...run, count, end: at, lastSeq: recordSeq(chunk, last) },
    { ...run, count: run.count - count, start: at, seq: recordSeq(chunk, at) },
  ];
}

/** Returns the content of a batch: lane items with adjacent runs of locations merged. */
// hot
export function packedRuns(items: readonly (Item | LaneItem)[]): (Item | Adoption | LocationRun)[] {
  const runs: (Item | Adoption | LocationRun)[] = [];
  for (let i = 0; i < items.length; i++) {
    const first = items[i] as Item | LaneItem;
    if (!('chunk' in first)) {
      runs.push(first instanceof ReceivedLocation ? runOf(first) : first);
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

function runOf({ names, bytes }: ReceivedLocation): LocationRun {
  return { kind: 'locations', names, bytes };
}

/** Returns the items of a batch. */
// hot
export function unpackedRuns(runs: readonly (Item | Adoption | LocationRun)[]): (Item | Adoption)[] {
  const items: (Item | Adoption)[] = [];
  for (const run of runs) {
    if (run.kind === 'locations') readRun(run, items);
    else items.push(run);
  }
  return items;
}

/** Returns the bytes as a Buffer, not copied. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Returns the locations of a run, which read its bytes. */
export function locationsOf(run: Pick<LocationRun, 'names' | 'bytes'>): ReceivedLocation[] {
  const locations: ReceivedLocation[] = [];
  readRun(run, locations);
  return locations;
}

// hot
function readRun(
  { names, bytes }: Pick<LocationRun, 'names' | 'bytes'>,
  items: (Item | Adoption | ReceivedLocation)[],
): void {
  const { buffer, byteOffset, byteLength } = bytes;
  const records = {
    bytes: asBuffer(bytes),
    view: new DataView(buffer, byteOffset, byteLength),
  };
  let at = 0;
  while (at < byteLength) {
    const location = new ReceivedLocation(records, at, names);
    items.push(location);
    at += location.recordBytes;
  }
}

/** Allocates memory for records, as a Node Buffer. */
export function newRecordBuffer(length: number): RecordBuffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

function newChunk(length: number): Chunk {
  return { ...newRecordBuffer(length), names: [], indexOf: new Map(), used: 0, waiting: 0 };
}

function indexIn(chunk: Chunk, name: string): number {
  let index = chunk.indexOf.get(name);
  if (index === undefined) {
    index = chunk.names.push(name) - 1;
    chunk.indexOf.set(name, index);
  }
  return index;
}
