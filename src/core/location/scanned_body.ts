import type { RecordBuffer } from './record.ts';

/**
 * Locations scanned from the bytes of a request body: contiguous records without item numbers, which refer to names by
 * number. They are valid until the next body is scanned.
 */
export interface ScannedBody {
  readonly records: RecordBuffer;
  readonly start: number;
  readonly end: number;
  readonly receivedMs: number;
  /** Providers in the body that were not announced to the shards yet. */
  readonly newProviders: readonly string[];
  /** Names that the crs indexes of the records refer to; if absent, all records are in EPSG:4326. */
  readonly crsNames?: readonly string[];
  /** Returns the source name of a number. */
  nameOf(number: number): string;
  /** Returns the shard of a provider, given the number of its name. */
  homeOf(number: number): number;
  /**
   * Whether some records belong to other hubs. homeOf returns a number beyond all shards for these, and they are
   * skipped here.
   */
  readonly isPartial?: boolean;
}
