import type { GateSlot } from './fence/gate_counts.ts';
import type { OutOfRange } from './geo/crs.ts';
import type { StoredFence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import type { Variant, View } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import type { CollisionRow } from './collision/row.ts';
import type { StoredTimers } from './fence/membership.ts';
import type { ReceivedLocation } from './location/received.ts';
import type { Utf8Bytes } from './location/record.ts';
import type { MovingBody } from './tracking/approaches.ts';
import type { FenceForecast } from './tracking/fence_forecast.ts';

/**
 * Input of a shard, in one order: locations, changes of entities, reads, restored rows. Everything was validated before
 * it became an item. `seq` numbers all items of the hub; `receivedMs` is the time of receipt, a monotonic time that
 * never decreases. Times of generation, entry times and the start times of collisions are event times
 * (model/clock_steps.ts).
 */
export type Item = ReceivedLocation | ({ readonly seq: number; readonly receivedMs: number } & ShardInput);

type ShardInput =
  | { readonly kind: 'zone'; readonly id: string; readonly entity: Zone | undefined }
  | { readonly kind: 'fence'; readonly id: string; readonly entity: StoredFence | undefined }
  /** `force` re-evaluates the trackable's locations immediately. */
  | {
      readonly kind: 'trackable';
      readonly id: string;
      readonly entity: Trackable | undefined;
      readonly force?: boolean;
    }
  | { readonly kind: 'provider'; readonly id: string; readonly entity: LocationProvider | undefined }
  /** The location of a provider is deleted; the provider stays. */
  | { readonly kind: 'forget'; readonly id: string }
  /** Locating rules of trackables that have none of their own. */
  | { readonly kind: 'rules'; readonly rules: readonly LocatingRule[] }
  /** The renderings that clients have subscribed to. */
  | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  | { readonly kind: 'read'; readonly id: number; readonly query: Query }
  /** Reports the position of each trackable that takes part in collisions, as motions; then an answer. */
  | { readonly kind: 'stand'; readonly id: number }
  /**
   * Last-known rows from the store. Exits due before `suppressUntilMs` fire at that time or with the next observation.
   */
  | {
      readonly kind: 'restore';
      readonly rows: Iterable<StoredRow>;
      readonly suppressUntilMs: number;
      /** Whether timers continue, because the hub did not stop. */
      readonly withTimers?: boolean;
    }
  /** Steps of another worker after the rows, in order. */
  | { readonly kind: 'replay'; readonly steps: readonly PastStep[] }
  /**
   * Rows and steps of another hub; then an answer. Only `objects` are applied. Their deadlines are suppressed until
   * `heldUntilMs` or the next observation. `since` contains the changes of entities that were not yet evaluated for
   * these objects.
   */
  | {
      readonly kind: 'takeOver';
      readonly id: number;
      readonly rows: readonly LastKnownRow[];
      readonly steps: readonly PastStep[];
      readonly objects: ObjectIds;
      readonly heldUntilMs: number;
      readonly since: ChangesSince;
    }
  /**
   * The objects migrate to another hub: their state is returned in the outcome and removed here, without events. Their
   * entities stay. `sequence` is the sequence number of the release record in the shared log, `config` that of the last
   * record evaluated for the objects here.
   */
  | ({ readonly kind: 'release'; readonly id: number; readonly sequence: number; readonly config: number } & ObjectIds)
  /** Writes the rows of the objects again; then an answer. */
  | ({ readonly kind: 'keep'; readonly id: number } & ObjectIds)
  /** The objects move to another shard: their state is returned as the answer and removed here, without events. */
  | {
      readonly kind: 'exportState';
      readonly id: number;
      readonly providers: readonly string[];
      readonly trackables: readonly string[];
    }
  /** The objects come from another shard, with their exported state. */
  | { readonly kind: 'importState'; readonly state: ExportedState };

/** Providers and trackables, by their ids. */
export interface ObjectIds {
  readonly providers: readonly string[];
  readonly trackables: readonly string[];
}

/**
 * Zones, fences and rules that have changed since the state of some objects was written, with their earlier values;
 * undefined for those that did not exist.
 */
export interface ChangesSince {
  readonly zones: readonly (readonly [id: string, before: Zone | undefined])[];
  readonly fences: readonly (readonly [id: string, before: StoredFence | undefined])[];
  /** Whether the hub's locating rules have changed. */
  readonly rules: boolean;
}

/** A past step: everything needed to reproduce its state changes. */
export interface PastStep {
  readonly locations: readonly ReceivedLocation[];
  /** See effects.ts. */
  readonly effects: Utf8Bytes;
  /** Clock steps of the hub that made the step, which convert its monotonic times; absent for this hub. */
  readonly clockSteps?: readonly ClockStep[] | undefined;
  /** Objects, as "kind id", whose effects in the step are ignored, because they had left that hub permanently. */
  readonly except?: readonly string[] | undefined;
}

/** Ids of the objects that the client may read; absent for all. */
interface ReadRestriction {
  readonly only?: readonly string[];
}

/**
 * A slice of a search for objects by their last positions. The answer has at most `most` objects if `near` is set; each
 * with its distance.
 */
export interface SearchQuery extends ReadRestriction {
  readonly ask: 'search';
  readonly kind: ObjectKind;
  readonly view: View;
  readonly near?: readonly [lon: number, lat: number];
  /** Greatest distance from `near` in meters. */
  readonly radius?: number;
  /** Polygon in EPSG:4326. */
  readonly region?: Polygon;
  readonly floor?: number;
  /** Expression of the locating rules. */
  readonly where?: string;
  readonly most: number;
  /** `next` of an earlier answer; absent for the first slice. */
  readonly from?: number;
}

/** A read of the state of shards. Lists omit objects that cannot be converted to the requested view. */
export type Query =
  | { readonly ask: 'provider_location'; readonly id: string; readonly view: View }
  | ({ readonly ask: 'provider_locations'; readonly view: View } & ReadRestriction)
  | { readonly ask: 'trackable_location'; readonly id: string; readonly view: View }
  | { readonly ask: 'trackable_locations'; readonly id: string; readonly view: View }
  | { readonly ask: 'trackable_motion'; readonly id: string; readonly view: View }
  | ({ readonly ask: 'trackable_motions'; readonly view: View } & ReadRestriction)
  /** Objects in a fence: by membership, or with `spatial` by the geometry of their last location. */
  | ({
      readonly ask: 'fence_locations';
      readonly id: string;
      readonly spatial: boolean;
      readonly view: View;
    } & ReadRestriction)
  | ({
      readonly ask: 'fence_motions';
      readonly id: string;
      readonly spatial: boolean;
      readonly view: View;
    } & ReadRestriction)
  | { readonly ask: 'fence_providers'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'fence_trackables'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'provider_fences'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'trackable_fences'; readonly id: string; readonly spatial: boolean }
  /** Trackables that are members of these fences, or of any; also providers if requested. */
  | { readonly ask: 'stays'; readonly fences?: readonly string[]; readonly providers?: boolean }
  /** Crossings of a gate, by quarter hour. */
  | { readonly ask: 'crossings'; readonly id: string }
  /** Time since each trackable was last located; also each provider if requested. */
  | { readonly ask: 'lastSeen'; readonly providers?: boolean }
  | SearchQuery
  /**
   * Trackables, and also providers if requested, that move faster than `above`, in meters per second; and the positions
   * of the trackables `only`.
   */
  | {
      readonly ask: 'sample';
      readonly above?: number;
      readonly only: readonly string[];
      readonly providers?: boolean;
    }
  /** Forecast of a filtered trackable: its position at the horizon, and its events at fences until then. */
  | { readonly ask: 'forecast'; readonly id: string; readonly horizonMs: number }
  /** The filtered trackables that take part in collisions, with their motions now: the fastest ones, at most `most`. */
  | { readonly ask: 'moving'; readonly most: number };

/**
 * Result of a read. `texts` are locations or motions as JSON (GeoJSON Features if the view says so), `of` the ids of
 * their objects in a restricted list; `ids` are ids of entities. `absent`: the object has no data. `unplaced`: the
 * object, with this source, cannot be converted to the requested view; `outOfRange` is set if its position is the
 * reason. An age is the time since the entry of a stay, or since an object's last location was received, in
 * milliseconds at the time of the answer; times would be meaningless on other hubs, whose monotonic clocks differ.
 */
export type QueryResult =
  | { readonly texts: readonly string[]; readonly of?: readonly string[] }
  | { readonly ids: readonly string[] }
  | { readonly absent: true }
  | { readonly unplaced: string; readonly outOfRange?: OutOfRange }
  | {
      readonly stays: readonly (readonly [fenceId: string, trackableId: string, ageMs: number])[];
      readonly providerStays?: readonly (readonly [fenceId: string, providerId: string, ageMs: number])[];
    }
  | {
      readonly crossings: readonly GateSlot[];
      /** Wall-clock time since which they are counted. */
      readonly sinceMs: number;
    }
  | {
      readonly lastSeen: readonly (readonly [trackableId: string, ageMs: number])[];
      readonly lastSeenProviders?: readonly (readonly [providerId: string, ageMs: number])[];
    }
  | {
      readonly found: readonly (readonly [id: string, meters: number, json: string])[];
      /** Where the search continues; absent if it is complete. */
      readonly next?: number;
    }
  | {
      readonly speeds: readonly (readonly [trackableId: string, metersPerSecond: number])[];
      readonly providerSpeeds?: readonly (readonly [providerId: string, metersPerSecond: number])[];
      readonly positions: readonly (readonly [trackableId: string, lon: number, lat: number, floor: number])[];
    }
  | { readonly forecast: TrackableForecast }
  | { readonly moving: readonly MovingBody[] };

/** Expected position at the horizon with its standard deviation per axis in meters, and the forecasts of fences. */
export interface TrackableForecast {
  readonly lon: number;
  readonly lat: number;
  readonly sigmaMeters: number;
  readonly fences: readonly (readonly [fenceId: string, forecast: FenceForecast])[];
}

/**
 * Stored state of an object, which survives restarts: the last location of a provider, or the location of a trackable's
 * motion, with the fence memberships. `gone` rows are tombstones.
 */
export type LastKnownRow =
  | { readonly kind: ObjectKind; readonly id: string; readonly gone: true }
  | {
      readonly kind: ObjectKind;
      readonly id: string;
      readonly gone?: false;
      /** Time of receipt and event time of the location, milliseconds since 1970. */
      readonly receivedMs: number;
      readonly eventTimeMs: number;
      /** The location as JSON, in EPSG:4326. */
      readonly location: string;
      readonly memberships: readonly StoredMembership[];
    };

/**
 * Stored membership: fence id and entry time in milliseconds, null while the object is entering. Timers are present if
 * a timer other than the fence timeout runs, or if the fence timeout does not count from the last location. Timers
 * survive a failed worker, but not a restart of the hub.
 */
export type StoredMembership = readonly [fenceId: string, entryMs: number | null, timers?: StoredTimers];

/** A stored row of objects or collisions. */
export type StoredRow = LastKnownRow | CollisionRow;

/** State of objects in transit from one shard to another: plain values, opaque outside core. */
export type ExportedState = { readonly providers: readonly unknown[]; readonly trackables: readonly unknown[] };

/** Returns the object whose owner can answer the query alone; undefined for a query that every shard answers. */
export function queriedObject(query: Query): Pick<LastKnownRow, 'kind' | 'id'> | undefined {
  switch (query.ask) {
    case 'provider_location':
    case 'provider_fences':
      return { kind: 'provider', id: query.id };
    case 'trackable_location':
    case 'trackable_locations':
    case 'trackable_motion':
    case 'trackable_fences':
    case 'forecast':
      return { kind: 'trackable', id: query.id };
    default:
      return undefined;
  }
}
