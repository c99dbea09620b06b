import { FOLLOWED } from '../core/zone/following.ts';
import { isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';

/**
 * Table of references between entities. A token with limited access may only add references to entities that it may
 * read (reference_check.ts), and references to other entities are hidden from it (redaction.ts).
 *
 * The zone of a fence, an anchor or a location is not such a reference, since a hall is shared by the owners of the
 * objects in it. But a zone that follows objects reveals their position (Visibility).
 */

/** Kinds of values with references: entities, received locations, and published locations and events. */
export type ReferenceSource =
  | 'zone'
  | 'fence'
  | 'trackable'
  | 'provider'
  | 'anchor'
  | 'fence_event'
  | 'location'
  | 'motion'
  | 'collision'
  | 'collision_forecast'
  | 'proximity'
  | 'broadcast'
  | 'alert';

export interface ReferencePath {
  /** Path of member names; an asterisk stands for each element of a list. */
  readonly path: readonly string[];
  /** Kinds of the referenced entity; empty for any zone whose position the token may know. */
  readonly of: readonly Resource[];
  /** Paths of values derived from the referenced entity, which are hidden together with the reference. */
  readonly hides?: readonly (readonly string[])[];
  /** Whether only the hub sets the reference, ignoring values from clients. */
  readonly isOurs?: boolean;
}

const CARRIERS: readonly Resource[] = ['trackable_id', 'zone_id'];
const ZONE_PLACE = [['position'], ['ground_control_points'], ['local_origin'], ['floor']];
const ZONE_OF: readonly Resource[] = [];
/** Members of a trackable's location besides its position. */
const OF_PROVIDER = ['source', 'properties'];

export const REFERENCE_PATHS: Readonly<Record<ReferenceSource, readonly ReferencePath[]>> = {
  trackable: [
    { path: ['location_providers', '*'], of: ['provider_id'] },
    { path: ['parent'], of: ['trackable_id'] },
    { path: ['children', '*'], of: ['trackable_id'], isOurs: true },
  ],
  zone: [
    { path: ['parent'], of: CARRIERS, hides: ZONE_PLACE },
    { path: ['properties', FOLLOWED.trackables, '*'], of: CARRIERS, hides: ZONE_PLACE },
    { path: ['properties', FOLLOWED.providers, '*'], of: ['provider_id'], hides: ZONE_PLACE },
    { path: ['anchor_ids', '*'], of: ['anchor_id'] },
    { path: ['children', '*'], of: ['zone_id'], isOurs: true },
  ],
  fence: [{ path: ['zone_id'], of: ZONE_OF }],
  provider: [],
  anchor: [{ path: ['zone_id'], of: ZONE_OF }],
  fence_event: [
    { path: ['provider_id'], of: ['provider_id'] },
    { path: ['trackable_id'], of: ['trackable_id'] },
    { path: ['trackables', '*'], of: ['trackable_id'] },
  ],
  location: [
    { path: ['source'], of: ZONE_OF },
    { path: ['provider_id'], of: ['provider_id'], hides: OF_PROVIDER.map((name) => [name]) },
    { path: ['trackables', '*'], of: ['trackable_id'], isOurs: true },
  ],
  motion: [
    { path: ['location', 'provider_id'], of: ['provider_id'], hides: OF_PROVIDER.map((name) => ['location', name]) },
    { path: ['location', 'trackables', '*'], of: ['trackable_id'] },
  ],
  collision: [{ path: ['collisions', '*', 'id'], of: ['trackable_id'], hides: [['collision_area']] }],
  collision_forecast: [
    { path: ['trackable_id'], of: ['trackable_id'], hides: [['position']] },
    { path: ['other_trackable_id'], of: ['trackable_id'], hides: [['position']] },
  ],
  proximity: [{ path: ['source'], of: ZONE_OF }],
  broadcast: [],
  alert: [
    { path: ['fence_id'], of: ['fence_id'] },
    { path: ['trackable_id'], of: ['trackable_id'] },
    { path: ['other_trackable_id'], of: ['trackable_id'] },
    { path: ['provider_id'], of: ['provider_id'] },
  ],
};

export interface Name {
  /** `location_providers[1]` */
  readonly field: string;
  readonly id: string;
}

/** Returns the ids at a path in a value of any shape. Invalid ids are skipped. */
export function namesOf({ path }: ReferencePath, value: unknown): readonly Name[] {
  let reached: readonly { readonly field: string; readonly value: unknown }[] = [{ field: '', value }];
  for (const segment of path) {
    reached = reached.flatMap(({ field, value }) => {
      if (segment === '*') {
        return Array.isArray(value) ? value.map((element, i) => ({ field: `${field}[${i}]`, value: element })) : [];
      }
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return [];
      const member = (value as Readonly<Record<string, unknown>>)[segment];
      return [{ field: field === '' ? segment : `${field}.${segment}`, value: member }];
    });
  }
  return reached.flatMap(({ field, value }) =>
    typeof value === 'string' && !isUnset(value) ? [{ field, id: value }] : [],
  );
}
