import { idKey, isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';
import type { Zone } from '../model/zone.ts';
import { namesOf, REFERENCE_PATHS } from './names.ts';
import type { Readable } from './readable.ts';

/** Lookup of entities on which visibility depends. */
export interface EntityIndex {
  exists(resource: Resource, id: string): boolean;
  zoneBy(idOrForeignId: string): Zone | undefined;
  /** Returns the name of the zone whose coordinates a fence uses; undefined for geographic coordinates. */
  zoneOfFence(id: string): string | undefined;
}

/** Decides what a token with limited access may see. All such decisions are made here. */
export class Visibility {
  readonly #readable: Readable;
  readonly #site: EntityIndex;

  constructor(readable: Readable, site: EntityIndex) {
    this.#readable = readable;
    this.#site = site;
  }

  /**
   * Whether the token may read an entity that is of one of these kinds. If such entities exist, they decide; otherwise
   * one readable kind suffices.
   */
  sees(kinds: readonly Resource[], id: string): boolean {
    const meant = kinds.filter((kind) => this.#site.exists(kind, id));
    if (meant.length > 0) return meant.every((kind) => this.#readable.has(kind, id));
    return kinds.some((kind) => this.#readable.has(kind, id));
  }

  /** Whether all entities of a kind are visible. */
  seesAll(kind: Resource): boolean {
    return this.#readable.hasAll(kind);
  }

  /**
   * Whether the token may know the position of a zone. A fixed zone is shared by the owners of the objects in it. A
   * zone that follows objects reveals their position, so all of them must be visible.
   */
  seesPlaceOf(zoneName: string): boolean {
    return this.#seesPlace(this.#site.zoneBy(zoneName), new Set());
  }

  /** Whether the token may know the position of a fence, which depends on its zone. */
  seesPlaceOfFence(id: string): boolean {
    const zone = this.#site.zoneOfFence(id);
    return zone === undefined || this.seesPlaceOf(zone);
  }

  #seesPlace(zone: Zone | undefined, passed: Set<string>): boolean {
    if (zone === undefined || passed.has(idKey(zone.id))) return true;
    passed.add(idKey(zone.id));
    for (const place of REFERENCE_PATHS.zone) {
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
