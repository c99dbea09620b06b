import type { ScannedBody } from '../core/location/scanned_body.ts';
import type { InputBounds } from '../model/bounds.ts';
import type { IngressPath } from '../model/health.ts';
import type { ProviderType, Proximity } from '../model/location.ts';
import type { Zone } from '../model/zone.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { BodyScanner } from './body_scanner.ts';
import type { CheckedLocation } from './check_location.ts';

/** Functions and settings that ingest needs. */
export interface IngestOptions {
  /** Returns the wall-clock time. */
  now(): number;
  /** Finds a zone by id or foreign id, among the zones that the shards have. */
  zone(name: string): Zone | undefined;
  /** Whether locations can be stored, if that is required. Default true. */
  canStore?(): boolean;
  /** Whether the shards have capacity for `count` more. */
  hasCapacity(count: number): boolean;
  /** Passes a location to its shard. */
  location(
    location: CheckedLocation['location'],
    times: { readonly generatedMs: number; readonly receivedMs: number },
  ): void;
  /** Called for each accepted location, after its provider is registered. hot */
  accepted?(
    location: Pick<CheckedLocation['location'], 'provider_id' | 'source' | 'provider_type'>,
    receivedMs: number,
    via: IngressPath,
  ): void;
  /** Returns the id with which the provider was created. A UUID may be sent in another case. */
  providerId(id: string): string;
  /** Creates the provider if it is not registered. Resolves once it is stored. */
  ensureProvider(id: string, type: ProviderType): Promise<void> | undefined;
  /**
   * Returns a counter that changes whenever a provider is removed or moved to another shard. While it is unchanged,
   * cached facts about providers are valid. If absent, nothing is cached.
   */
  providersChanged?(): number;
  /** Returns the shard of a provider; default 0. */
  homeOf?(id: string): number;
  /** Called when a provider is located, at least once per value of `providersChanged`. */
  located?(id: string): void;
  /** Called with the number of consecutive locations of a body from one source. */
  countConsecutive?(count: number, from: LocationOrigin): void;
  /** Publishes a proximity as received. */
  publishProximity(proximity: Proximity & { provider_id: string }): void;
  /**
   * Resolves when the locations passed since the last call are committed; undefined if responses need not wait. Must be
   * called in the same turn of the event loop in which they were passed.
   */
  committed(): Promise<void> | undefined;
  /** Like `committed`, for a part of a long list. Absent if `committed` at the end of the list covers all parts. */
  partCommitted?(): Promise<void> | undefined;
  /** Returns the earliest time that the history records; absent if it records all times. */
  recordedSince?(): number;
  /** Maximum nesting of properties; default 200. */
  readonly depthMax?: number;
  /** Default DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds;
  /** Scans bodies of locations; if absent, the parser reads all of them. */
  readonly scanner?: BodyScanner;
  /** Whether scanned locations can be accepted now. */
  canTakeScanned?(): boolean;
  /** Passes the locations of a scanned body to their shards. */
  scanned?(body: ScannedBody): void;
  /** Size of a piece of a long body; default PIECE_BYTES. */
  readonly pieceBytes?: number;
  /** Scheduler for long lists; default a scheduler of its own. */
  readonly turns?: TaskScheduler;
}

/** Origin of consecutive locations. */
export interface LocationOrigin {
  readonly source: string;
  /** Provider type of the last location. */
  readonly providerType: ProviderType;
  readonly receivedMs: number;
  readonly via: IngressPath;
}

/** A mutable counter. */
export interface Counter {
  count: number;
}

/** Origin of accepted values. */
export interface ValueOrigin {
  readonly via: IngressPath;
  readonly receivedMs: number;
  /** Counts the accepted values that are too old for the history. */
  readonly tooOld?: Counter | undefined;
}

/** Returns the earliest time that the history records, if the caller counts older values. */
export function recordedSince(options: IngestOptions, tooOld: Counter | undefined): number {
  return tooOld === undefined ? Number.NEGATIVE_INFINITY : (options.recordedSince?.() ?? Number.NEGATIVE_INFINITY);
}
