import { idKey } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import { followingOf } from './following.ts';

/** The zones that follow an object, by its kind and the key of its id. */
export class Followers {
  readonly #zones = { provider: new Map<string, Set<string>>(), trackable: new Map<string, Set<string>>() };
  /** Whether any zone follows anything. */
  any = false;

  /** A zone was created (no `before`), replaced, or deleted (no `after`). */
  change(before: Zone | undefined, after: Zone | undefined): void {
    if (before !== undefined) this.#each(before, (zones, key) => this.#remove(zones, key, before.id));
    if (after !== undefined) this.#each(after, (zones, key) => this.#add(zones, key, after.id));
    this.any = this.#zones.provider.size + this.#zones.trackable.size > 0;
  }

  /** Ids of the zones that follow the object, in the order in which they came to do so; undefined when there are none. */
  of(kind: 'provider' | 'trackable', id: string): ReadonlySet<string> | undefined {
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
