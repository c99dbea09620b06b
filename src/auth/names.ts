import { FOLLOWED } from '../core/zone/following.ts';
import { isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';

/**
 * Table of references between entities. A token with limited access may only add references to entities it may read
 * (reference_check.ts), and references to others are hidden from it (redaction.ts).
 *
 * The zone of a fence, an anchor or a location is not such a reference: a hall is shared by the owners of things in it.
 * But a zone that follows others reveals their position (Visibility).
 */

/** Kinds of values with references: entities, sent locations, and shown locations and events. */
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
  | 'proximity'
  | 'broadcast'
  | 'alert';

export interface ReferencePath {
  /** Path of members; an asterisk is each element of a list. */
  readonly path: readonly string[];
  /** Kinds of the referenced entity; none: any zone whose position the token may know. */
  readonly of: readonly Resource[];
  /** Paths of values derived from the referenced entity: they are hidden with the reference. */
  readonly hides?: readonly (readonly string[])[];
  /** Whether only the hub sets it, regardless of what a client sends. */
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

/** The ids at a path of a value of any shape; invalid ids are skipped. */
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
