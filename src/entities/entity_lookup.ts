import type { ShapeChecks } from '../core/shape_checks.ts';
import type { Anchor } from '../model/anchor.ts';
import type { InputBounds } from '../model/bounds.ts';
import type { StoredFence } from '../model/fence.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';

/** The kinds of configured entities. */
export interface EntityMap {
  zone: Zone;
  fence: StoredFence;
  trackable: Trackable;
  provider: LocationProvider;
  anchor: Anchor;
}
export type EntityKindName = keyof EntityMap;

/** Lookups of other entities for the check of one. */
export interface EntityLookup {
  get<K extends EntityKindName>(kind: K, id: string): EntityMap[K] | undefined;
  /** The zone with that id, or else with that foreign id, georeferenced by its anchors. */
  zoneBy(idOrForeignId: string): Zone | undefined;
  zoneByForeignId(foreignId: string): Zone | undefined;
  /** The entities whose parent is that one. */
  carriedBy(kind: EntityKindName, id: string): readonly Carried[];
  /** Checks of a geometry engine. */
  readonly shapes: ShapeChecks;
  /** Limits on stored values. */
  readonly bounds: InputBounds;
}

/** An entity with a parent. */
export type Carried =
  | { readonly kind: 'trackable'; readonly entity: Trackable }
  | { readonly kind: 'zone'; readonly entity: Zone };
