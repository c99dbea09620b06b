import type { StoredFence } from '../model/fence.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import type { Variant, View } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import type { CollisionRow } from './collision/row.ts';
import type { KeptTimers } from './fence/membership.ts';
import type { ReceivedLocation } from './location/received.ts';
import type { TextBytes } from './location/record.ts';

/**
 * What a shard is told, in one order: locations, changes of entities, reads, restored rows. Everything was checked
 * before it became an item. `seq` numbers all items of the hub; `receivedMs` is the time of receipt, a running time that
 * never falls. Times of generation, entry times and the start times of collisions are event times (model/clock_steps.ts).
 */
export type Item = ReceivedLocation | ({ readonly seq: number; readonly receivedMs: number } & Told);

type Told =
  | { readonly kind: 'zone'; readonly id: string; readonly entity: Zone | undefined }
  | { readonly kind: 'fence'; readonly id: string; readonly entity: StoredFence | undefined }
  /** `force` re-evaluates the trackable's locations at once. */
  | {
      readonly kind: 'trackable';
      readonly id: string;
      readonly entity: Trackable | undefined;
      readonly force?: boolean;
    }
  | { readonly kind: 'provider'; readonly id: string; readonly entity: LocationProvider | undefined }
  /** The provider's location is deleted, the provider stays. */
  | { readonly kind: 'forget'; readonly id: string }
  /** Locating rules of trackables that have none of their own. */
  | { readonly kind: 'rules'; readonly rules: readonly LocatingRule[] }
  /** The renderings that somebody has subscribed to. */
  | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  | { readonly kind: 'read'; readonly id: number; readonly query: Query }
  /** Where each trackable is that takes part in collisions, as motions; then an answer. */
  | { readonly kind: 'stand'; readonly id: number }
  /** Last-known rows from the store. Exits due before `suppressUntilMs` fire at `suppressUntilMs`, or with the next observation. */
  | {
      readonly kind: 'restore';
      readonly rows: readonly LastKnownRow[];
      readonly suppressUntilMs: number;
      /** Whether their timers go on: the hub has run all the time. */
      readonly withTimers?: boolean;
    }
  /** What steps of another worker have changed since the rows, one after the other. */
  | { readonly kind: 'replay'; readonly steps: readonly PastStep[] }
  /**
   * The same of another hub, with its rows, and then an answer. Only `objects` are concerned. Their deadlines are held until
   * `heldUntilMs`, or until the next observation. `since` has not been evaluated with them.
   */
  | {
      readonly kind: 'takeOver';
      readonly id: number;
      readonly rows: readonly LastKnownRow[];
      readonly steps: readonly PastStep[];
      readonly objects: ObjectIds;
      readonly heldUntilMs: number;
      readonly since: Since;
    }
  /**
   * The objects leave for another hub: their state is in the outcome, and forgotten here, without events. Their entities stay.
   * `sequence` is that of the record of the shared log which says so, `config` that of the last one which they have met here.
   */
  | ({ readonly kind: 'release'; readonly id: number; readonly sequence: number; readonly config: number } & ObjectIds)
  /** The rows of the objects are wanted anew, and then an answer. */
  | ({ readonly kind: 'keep'; readonly id: number } & ObjectIds)
  /** The objects move to another shard: their state is handed out as a reply and forgotten here, without events. */
  | {
      readonly kind: 'exportState';
      readonly id: number;
      readonly providers: readonly string[];
      readonly trackables: readonly string[];
    }
  /** The objects come from another shard, with the state that it handed out. */
  | { readonly kind: 'importState'; readonly state: ExportedState };

/** Providers and trackables, by their ids. */
export interface ObjectIds {
  readonly providers: readonly string[];
  readonly trackables: readonly string[];
}

/** What is otherwise than when the state of some objects was made: how it was then, undefined where it was not there. */
export interface Since {
  readonly zones: readonly (readonly [id: string, before: Zone | undefined])[];
  readonly fences: readonly (readonly [id: string, before: StoredFence | undefined])[];
  /** Whether the hub's locating rules are others. */
  readonly rules: boolean;
}

/** A past step: all that is needed to know what it changed. */
export interface PastStep {
  readonly locations: readonly ReceivedLocation[];
  /** See effects.ts. */
  readonly effects: TextBytes;
  /** By which the hub shows its running time that has made the step; left out where it is this one. */
  readonly setBacks?: readonly ClockStep[] | undefined;
  /** Objects, as "kind id", of which the step says nothing that counts: they had left its hub for good. */
  readonly except?: readonly string[] | undefined;
}

/** The objects that may be shown, by their ids; left out: all. */
interface Limit {
  readonly only?: readonly string[];
}

/** A read of what only the shard knows. Lists leave out what cannot be shown in the wanted view. */
export type Query =
  | { readonly ask: 'provider_location'; readonly id: string; readonly view: View }
  | ({ readonly ask: 'provider_locations'; readonly view: View } & Limit)
  | { readonly ask: 'trackable_location'; readonly id: string; readonly view: View }
  | { readonly ask: 'trackable_locations'; readonly id: string; readonly view: View }
  | { readonly ask: 'trackable_motion'; readonly id: string; readonly view: View }
  | ({ readonly ask: 'trackable_motions'; readonly view: View } & Limit)
  /** Objects in a fence: by membership, or with `spatial` by the geometry of their last location. */
  | ({ readonly ask: 'fence_locations'; readonly id: string; readonly spatial: boolean; readonly view: View } & Limit)
  | ({ readonly ask: 'fence_motions'; readonly id: string; readonly spatial: boolean; readonly view: View } & Limit)
  | { readonly ask: 'fence_providers'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'fence_trackables'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'provider_fences'; readonly id: string; readonly spatial: boolean }
  | { readonly ask: 'trackable_fences'; readonly id: string; readonly spatial: boolean }
  /** Trackables that are in these fences, or in any, by membership; and providers, where it is asked for them. */
  | { readonly ask: 'stays'; readonly fences?: readonly string[]; readonly providers?: boolean }
  /** When each trackable was last heard of; and each provider, where it is asked for them. */
  | { readonly ask: 'heard'; readonly providers?: boolean };

/**
 * Answer to a read. `texts` are JSON texts of locations or motions (GeoJSON Features when the view says so), `of` the
 * ids of their objects, in a list that is limited; `ids` are the ids of entities. `absent` when the object has no data,
 * `unplaced`, with its source, when it cannot be shown in the wanted view; `outOfRange` says if its position is the reason. Ages are milliseconds by the time of the answer, since hubs have
 * running times of their own: of a stay since its entry, of an object since the last location of its own was received.
 */
export type Answer =
  | { readonly texts: readonly string[]; readonly of?: readonly string[] }
  | { readonly ids: readonly string[] }
  | { readonly absent: true }
  | { readonly unplaced: string; readonly outOfRange?: string }
  | {
      readonly stays: readonly (readonly [fenceId: string, trackableId: string, ageMs: number])[];
      readonly providerStays?: readonly (readonly [fenceId: string, providerId: string, ageMs: number])[];
    }
  | {
      readonly heard: readonly (readonly [trackableId: string, ageMs: number])[];
      readonly heardProviders?: readonly (readonly [providerId: string, ageMs: number])[];
    };

/**
 * What is kept of an object across restarts. For a provider its last location; for a trackable the location of its
 * motion; with the fences it is in. `gone` rows are deleted from the store.
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
      /** JSON text of the location, in EPSG:4326. */
      readonly location: string;
      readonly memberships: readonly KeptMembership[];
    };

/**
 * Fence id and entry time in milliseconds, null while the object is only entering; with its timers if more of them run than
 * the fence timeout since its last location. Timers outlive a worker, but no restart of the hub.
 */
export type KeptMembership = readonly [fenceId: string, entryMs: number | null, timers?: KeptTimers];

/** What is kept of the moving world. */
export type KeptRow = LastKnownRow | CollisionRow;

/** State of objects on their way from one shard to another: a plain value, opaque to everybody else. */
export type ExportedState = { readonly providers: readonly unknown[]; readonly trackables: readonly unknown[] };
