import { FOLLOWED } from '../core/zone/following.ts';
import { HubError } from '../errors.ts';
import { idKey, isUnset } from '../model/id.ts';
import { replacedIn } from '../model/json_text.ts';
import type { Resource } from '../model/permission.ts';
import { show } from '../model/show.ts';
import type { Readable } from './readable.ts';

/**
 * What names what, and what follows for a token with limited access: what is sent may newly name only what the token may
 * read, and what is shown lists only that. NAMES is the one place that says where names stand.
 *
 * The zone that a fence, an anchor or a location lies in is no such name: a hall is shared by those who own things there.
 */

/** What names others: entities by their kinds, events that are posted, and what is shown of locations and events. */
export type Naming = 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor' | 'fence_event' | 'location' | 'motion';

interface Place {
  /** Members, one within the other; an asterisk is each element of a list. */
  readonly path: readonly string[];
  /** What may be named there. */
  readonly of: readonly Resource[];
}

const CARRIERS: readonly Resource[] = ['trackable_id', 'zone_id'];

const NAMES: Readonly<Record<Naming, readonly Place[]>> = {
  trackable: [
    { path: ['location_providers', '*'], of: ['provider_id'] },
    { path: ['parent'], of: ['trackable_id'] },
  ],
  zone: [
    { path: ['parent'], of: CARRIERS },
    { path: ['properties', FOLLOWED.trackables, '*'], of: CARRIERS },
    { path: ['properties', FOLLOWED.providers, '*'], of: ['provider_id'] },
  ],
  fence: [],
  provider: [],
  anchor: [],
  fence_event: [
    { path: ['provider_id'], of: ['provider_id'] },
    { path: ['trackable_id'], of: ['trackable_id'] },
    { path: ['trackables', '*'], of: ['trackable_id'] },
  ],
  location: [{ path: ['trackables', '*'], of: ['trackable_id'] }],
  motion: [{ path: ['location', 'trackables', '*'], of: ['trackable_id'] }],
};

/** What a token may read, and which of the kinds that a name may mean has something of that id. */
export interface Reading {
  readonly readable: Readable;
  exists(resource: Resource, id: string): boolean;
}

/**
 * Throws HUB_NOT_AUTHORIZED naming the first name that is new in `after` and not readable. Both are as they were sent:
 * what is no id is left to the check of the entity.
 */
export function checkNewNames(
  naming: Naming,
  { before, after }: { readonly before: object | undefined; readonly after: object },
  reading: Reading,
): void {
  for (const place of NAMES[naming]) {
    const known = new Set(before === undefined ? [] : namesAt(place, before).map(({ id }) => idKey(id)));
    for (const { field, id } of namesAt(place, after)) {
      if (known.has(idKey(id)) || mayName(place, id, reading)) continue;
      const whom = place.of.map((resource) => `a ${resource.replace('_id', '')}`).join(' or ');
      throw new HubError(
        'HUB_NOT_AUTHORIZED',
        `${field}: must name ${whom} that the access token may read, found ${show(id)}`,
      );
    }
  }
}

/** Where a text is for subscribers it is a FeatureCollection, in answers a Feature that goes into one. */
const AROUND = {
  plain: [],
  feature: ['properties'],
  collection: ['features', '*', 'properties'],
} as const;

/**
 * How lists in the JSON text of a location, a motion or an event are cut to what is readable. Undefined where nothing is
 * to be cut.
 */
export function cutTo(
  readable: Readable | undefined,
  naming: 'location' | 'motion' | 'fence_event',
  form: keyof typeof AROUND,
): ((text: string) => string) | undefined {
  if (readable === undefined) return undefined;
  const lists = NAMES[naming].filter(
    ({ path, of }) => path.at(-1) === '*' && !of.some((kind) => readable.hasAll(kind)),
  );
  if (lists.length === 0) return undefined;
  return (text) => {
    let cut = text;
    for (const { path, of } of lists) {
      cut = replacedIn(cut, [...AROUND[form], ...path.slice(0, -1)], (list) => {
        const named: unknown = JSON.parse(list);
        if (!Array.isArray(named)) return list;
        return JSON.stringify(
          named.filter((id) => typeof id === 'string' && of.some((kind) => readable.has(kind, id))),
        );
      });
    }
    return cut;
  };
}

/** What exists decides what is meant; of what does not exist yet, one that is readable is enough. */
function mayName({ of }: Place, id: string, { readable, exists }: Reading): boolean {
  const meant = of.filter((resource) => exists(resource, id));
  if (meant.length > 0) return meant.every((resource) => readable.has(resource, id));
  return of.some((resource) => readable.has(resource, id));
}

interface Name {
  /** `location_providers[1]` */
  readonly field: string;
  readonly id: string;
}

function namesAt({ path }: Place, value: unknown): readonly Name[] {
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
