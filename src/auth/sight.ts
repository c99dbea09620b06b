import { idKey, isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';
import type { Zone } from '../model/zone.ts';
import { namesOf, PLACES } from './names.ts';
import type { Readable } from './readable.ts';

/** What there is, as far as it decides what a token may see. */
export interface Site {
  exists(resource: Resource, id: string): boolean;
  zoneBy(idOrForeignId: string): Zone | undefined;
  /** The name of the zone in whose coordinates a fence is given; undefined where it is given in none. */
  zoneOfFence(id: string): string | undefined;
}

/** What a token sees whose access is limited to what its holder owns: the one place that decides it. */
export class Sight {
  readonly #readable: Readable;
  readonly #site: Site;

  constructor(readable: Readable, site: Site) {
    this.#readable = readable;
    this.#site = site;
  }

  /**
   * Whether the token may read what a name means, which is of one of these kinds. What exists decides what is meant; of
   * what does not exist yet, one that is readable is enough.
   */
  sees(kinds: readonly Resource[], id: string): boolean {
    const meant = kinds.filter((kind) => this.#site.exists(kind, id));
    if (meant.length > 0) return meant.every((kind) => this.#readable.has(kind, id));
    return kinds.some((kind) => this.#readable.has(kind, id));
  }

  /** Whether it sees everything of a kind. */
  seesAll(kind: Resource): boolean {
    return this.#readable.hasAll(kind);
  }

  /**
   * Whether the token may know where a zone is. A zone that stays where it was put is shared by those who own things
   * there; one that follows others is where they are, and known to those who see all of them.
   */
  seesPlaceOf(zoneName: string): boolean {
    return this.#seesPlace(this.#site.zoneBy(zoneName), new Set());
  }

  /** Whether the token may know where a fence is, which goes with its zone. */
  seesPlaceOfFence(id: string): boolean {
    const zone = this.#site.zoneOfFence(id);
    return zone === undefined || this.seesPlaceOf(zone);
  }

  #seesPlace(zone: Zone | undefined, passed: Set<string>): boolean {
    if (zone === undefined || passed.has(idKey(zone.id))) return true;
    passed.add(idKey(zone.id));
    for (const place of PLACES.zone) {
      if (place.hides === undefined) continue;
      for (const { id } of namesOf(place, zone)) {
        if (!this.sees(place.of, id)) return false;
        const carrier = place.of.includes('zone_id') && !isUnset(id) ? this.#site.zoneBy(id) : undefined;
        if (!this.#seesPlace(carrier, passed)) return false;
      }
    }
    return true;
  }
}
