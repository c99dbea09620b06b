import { idKey, isUnset, type ObjectKind } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';

/** Members of a zone's `properties`: arrays of ids of the objects that the zone follows. */
export const FOLLOWED = {
  providers: 'com.hdm.hub.zone.autozoneupdate.providers',
  trackables: 'com.hdm.hub.zone.autozoneupdate.trackables',
} as const;

/** Keys (see idKey) of the objects that a zone follows. */
export interface Following {
  readonly providers: ReadonlySet<string>;
  /** Includes the parent of the zone, which may also be a zone. */
  readonly trackables: ReadonlySet<string>;
}

/** Zones are replaced, never mutated. */
const cache = new WeakMap<Zone, { readonly following: Following | undefined }>();

/**
 * Returns what the zone follows; undefined for a zone that does not move. Elements of the lists that are not ids are
 * ignored.
 */
export function followingOf(zone: Zone): Following | undefined {
  if (zone.properties == null && zone.parent == null) return undefined;
  let found = cache.get(zone);
  if (found === undefined) {
    found = { following: readFollowing(zone) };
    cache.set(zone, found);
  }
  return found.following;
}

/** Whether the lists exist, even if empty. */
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

/** Zones that follow an object, by its kind and the key of its id. */
export class Followers {
  readonly #zones = { provider: new Map<string, Set<string>>(), trackable: new Map<string, Set<string>>() };
  /** Whether any zone follows anything. */
  any = false;

  /** Handles a zone that was created (no `before`), replaced, or deleted (no `after`). */
  change(before: Zone | undefined, after: Zone | undefined): void {
    if (before !== undefined) this.#each(before, (zones, key) => this.#remove(zones, key, before.id));
    if (after !== undefined) this.#each(after, (zones, key) => this.#add(zones, key, after.id));
    this.any = this.#zones.provider.size + this.#zones.trackable.size > 0;
  }

  /** Returns the ids of the zones that follow the object, in the order in which they started; undefined for none. */
  of(kind: ObjectKind, id: string): ReadonlySet<string> | undefined {
    return this.#zones[kind].get(idKey(id));
  }

  #each(zone: Zone, visit: (zones: Map<string, Set<string>>, key: string) => void): void {
    const following = followingOf(zone);
    for (const key of following?.providers ?? []) visit(this.#zones.provider, key);
    for (const key of following?.trackables ?? []) visit(this.#zones.trackable, key);
  }

  #add(zones: Map<string, Set<string>>, key: string, id: string): void {
    const followers = zones.get(key);
    if (followers === undefined) zones.set(key, new Set([id]));
    else followers.add(id);
  }

  #remove(zones: Map<string, Set<string>>, key: string, id: string): void {
    const followers = zones.get(key);
    followers?.delete(id);
    if (followers?.size === 0) zones.delete(key);
  }
}

/** New position and floor of a zone: those of an object that it follows. */
export interface ZoneMove {
  readonly id: string;
  readonly by: { readonly kind: ObjectKind; readonly id: string };
  /** Number of the item that moved the object. Of two moves, even from different shards, the later one counts. */
  readonly seq: number;
  /** Longitude, latitude, and height if known. */
  readonly position: readonly number[];
  readonly floor: number;
}
