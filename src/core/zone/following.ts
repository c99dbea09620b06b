import { idKey, isUnset } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';

/** Members of a zone's `properties`: arrays of ids, whose objects take the zone along wherever they are located. */
export const FOLLOWED = {
  providers: 'com.hdm.hub.zone.autozoneupdate.providers',
  trackables: 'com.hdm.hub.zone.autozoneupdate.trackables',
} as const;

/** Keys (see idKey) of the objects that a zone follows. */
export interface Following {
  readonly providers: ReadonlySet<string>;
  /** With its parent, which may as well be a zone. */
  readonly trackables: ReadonlySet<string>;
}

/** Zones are replaced, never changed in place. */
const known = new WeakMap<Zone, { readonly following: Following | undefined }>();

/** What the zone follows; undefined for a zone that stays where it was put. Anything but ids in the lists is ignored. */
export function followingOf(zone: Zone): Following | undefined {
  if (zone.properties == null && zone.parent == null) return undefined;
  let found = known.get(zone);
  if (found === undefined) {
    found = { following: readFollowing(zone) };
    known.set(zone, found);
  }
  return found.following;
}

/** Whether the lists are there at all, even if they name nothing. */
export function hasFollowLists({ properties }: Zone): boolean {
  return properties?.[FOLLOWED.providers] !== undefined || properties?.[FOLLOWED.trackables] !== undefined;
}

function readFollowing({ properties, parent }: Zone): Following | undefined {
  const providers = keysOf(properties?.[FOLLOWED.providers]);
  const trackables = keysOf(properties?.[FOLLOWED.trackables]);
  if (!isUnset(parent)) trackables.add(idKey(parent));
  return providers.size + trackables.size === 0 ? undefined : { providers, trackables };
}

function keysOf(list: unknown): Set<string> {
  const ids = Array.isArray(list) ? list.filter((id) => typeof id === 'string') : [];
  return new Set(ids.map(idKey));
}
