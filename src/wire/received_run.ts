import {
  type RecordBuffer,
  recordGeneratedMs,
  recordIdIn,
  recordProblem,
  recordSize,
  renameRecord,
} from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import { asBuffer, type LocationRun } from './location_record.ts';

/**
 * Locations from hub to hub: runs of records as batches carry them, of which nothing is believed before it was looked at.
 * Their times are times of day, since each hub has a running time of its own.
 */

/** A run of locations, and how many they are. */
export interface CountedRun extends Pick<LocationRun, 'names' | 'bytes'> {
  readonly count: number;
}

/** What the hub that processes them adds to locations of another one. */
export interface Receiving {
  /** Running time. */
  readonly receivedMs: number;
  /** The event time of a wall-clock time. */
  eventTime(dayMs: number): number;
  /** The shard of a provider. */
  homeOf(provider: string): number;
  /** Whether the shards may not have been told of a provider yet. */
  isNewProvider(provider: string): boolean;
}

/** Bytes that came as a run of locations are none. */
export class RunError extends Error {
  override name = 'RunError';
}

/** Looks through a run from elsewhere. Throws a RunError that names the record, the field and what was found. */
export function checkRun({ names, bytes, count }: CountedRun): void {
  const records = recordsIn(bytes);
  let found = 0;
  for (let at = 0; at < bytes.length; at += recordSize(records, at)) {
    const problem = recordProblem(records, at, names.length);
    if (problem !== undefined) throw new RunError(`Cannot read record ${found} of a run: ${problem}`);
    found++;
  }
  if (found !== count) throw new RunError(`Cannot read a run: records must be ${count}, but are ${found}`);
}

/**
 * A checked run as shards take what was scanned here. Its bytes are changed: records get the time at which they came, and
 * the number of their provider's name is that of its shard, as nothing else is asked of it.
 */
// hot
export function scannedOf({ names, bytes }: CountedRun, receiving: Receiving): ScannedBody {
  const { receivedMs, eventTime, homeOf, isNewProvider } = receiving;
  const records = recordsIn(bytes);
  const newProviders = new Set<string>();
  for (let at = 0; at < bytes.length; at += recordSize(records, at)) {
    const id = recordIdIn(records, at);
    if (isNewProvider(id)) newProviders.add(id);
    const generatedMs = eventTime(recordGeneratedMs(records, at));
    renameRecord(records, at, { provider: homeOf(id), receivedMs, generatedMs });
  }
  return {
    ...{ records, start: 0, end: bytes.length, receivedMs, newProviders: [...newProviders], crsNames: names },
    nameOf: (number) => names[number] as string,
    homeOf: (shard) => shard,
  };
}

/** Records in bytes, not copied. */
export function recordsIn(bytes: Uint8Array): RecordBuffer {
  return { bytes: asBuffer(bytes), view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
