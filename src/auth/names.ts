import { FOLLOWED } from '../core/zone/following.ts';
import { isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';

/**
 * What names what: the one table by which a token with limited access may newly name only what it may read
 * (admitted.ts), and is shown nothing of what it may not read (shown.ts).
 *
 * The zone that a fence, an anchor or a location lies in is no name of that kind: a hall is shared by those who own
 * things there. But a zone that follows others tells where they are (Sight).
 */

/** What names others: entities by their kinds, what is sent of locations, and what is shown of locations and events. */
export type Naming =
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

export interface Place {
  /** Members, one within the other; an asterisk is each element of a list. */
  readonly path: readonly string[];
  /** What may be named there; none: any zone whose place is known to the token. */
  readonly of: readonly Resource[];
  /** Paths of what is computed from what is named there, or is taken from it: it is hidden with the name. */
  readonly hides?: readonly (readonly string[])[];
  /** Whether the hub alone sets it, whatever a client sends. */
  readonly isOurs?: boolean;
}

const CARRIERS: readonly Resource[] = ['trackable_id', 'zone_id'];
const ZONE_PLACE = [['position'], ['ground_control_points'], ['local_origin'], ['floor']];
const ZONE_OF: readonly Resource[] = [];
/** What stands in the location of a trackable beside its place, which is its own. */
const OF_PROVIDER = ['source', 'properties'];

export const PLACES: Readonly<Record<Naming, readonly Place[]>> = {
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

/** The names that stand at a place of a value, which may be of any form: what is no id is passed over. */
export function namesOf({ path }: Place, value: unknown): readonly Name[] {
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
