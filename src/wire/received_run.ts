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
 * Locations from another hub, as runs of records like those in batches. They are validated before use. Their times are
 * wall-clock times, since each hub has its own monotonic time.
 */

/** A run of locations and their number. */
export interface CountedRun extends Pick<LocationRun, 'names' | 'bytes'> {
  readonly count: number;
}

/** Values and functions of the receiving hub. */
export interface Receiving {
  /** Monotonic time. */
  readonly receivedMs: number;
  /** Converts wall-clock time to event time. */
  eventTime(dayMs: number): number;
  /** Returns the shard of a provider. */
  homeOf(provider: string): number;
  /** Whether the provider may be missing in the shards. */
  isNewProvider(provider: string): boolean;
}

/** Thrown if received bytes are not a valid run of locations. */
export class RunError extends Error {
  override name = 'RunError';
}

/** Validates a run from another hub. Throws a RunError with the record, the field and the value found. */
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
 * Converts a validated run to the form of a scanned body. Modifies its bytes: sets the time of receipt of each record,
 * and replaces the number of the provider's name with the number of its shard, since nothing else is needed.
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

/** Returns a view of bytes that contain records. */
export function recordsIn(bytes: Uint8Array): RecordBuffer {
  return { bytes: asBuffer(bytes), view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
