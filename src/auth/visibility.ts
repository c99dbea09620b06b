import { idKey, isUnset } from '../model/id.ts';
import type { Resource } from '../model/permission.ts';
import type { Zone } from '../model/zone.ts';
import { namesOf, REFERENCE_PATHS } from './names.ts';
import type { Readable } from './readable.ts';

/** The entities that decide what a token may see. */
export interface EntityIndex {
  exists(resource: Resource, id: string): boolean;
  zoneBy(idOrForeignId: string): Zone | undefined;
  /** The name of the zone in whose coordinates a fence is given; undefined if there is no such zone. */
  zoneOfFence(id: string): string | undefined;
}

/** Visibility for a token with limited access: the single place that decides it. */
export class Visibility {
  readonly #readable: Readable;
  readonly #site: EntityIndex;

  constructor(readable: Readable, site: EntityIndex) {
    this.#readable = readable;
    this.#site = site;
  }

  /**
   * Whether the token may read the entity of that name, which is of one of these kinds. An existing entity decides; if
   * none exists yet, one readable kind is sufficient.
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
   * Whether the token may know the position of a zone. A fixed zone is shared by the owners of things in it. A zone
   * that follows others reveals their position, and is visible only if all of them are.
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
