import type { RecordBuffer } from './record.ts';

/**
 * The locations of a body that were read from its bytes: records, one behind the other, that lack the number of their item
 * and know their names by number. They are good until the next body is read.
 */
export interface ScannedBody {
  readonly records: RecordBuffer;
  readonly start: number;
  readonly end: number;
  readonly receivedMs: number;
  /** Those of their providers of which the shards were not told yet. */
  readonly strangers: readonly string[];
  /** What the records name as their crs, by index; left out: all of them are in EPSG:4326. */
  readonly crsNames?: readonly string[];
  /** The name that a number of a source stands for. */
  nameOf(number: number): string;
  /** The shard of a provider, by the number of its name. */
  homeOf(number: number): number;
  /** Whether some are for other hubs: these have a home beyond all shards, and are left out here. */
  readonly isPartial?: boolean;
}
