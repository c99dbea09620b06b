import { idKey } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';

/** Finds a zone by its id or foreign id. */
export type ZoneLookup = (idOrForeignId: string) => Zone | undefined;

/**
 * Zones by id and foreign id. UUIDs are case-insensitive. Ids and foreign ids share one namespace; if older data
 * contains a name twice, the id counts.
 */
export class ZoneTable {
  readonly #byId = new Map<string, Zone>();
  readonly #byForeignId = new Map<string, Zone>();

  get size(): number {
    return this.#byId.size;
  }

  /** Finds a zone by the name that a location, a fence or a query uses. */
  // hot
  readonly find = (name: string): Zone | undefined => {
    const zone = this.#byId.get(name);
    if (zone !== undefined) return zone;
    const key = idKey(name);
    return (key === name ? undefined : this.#byId.get(key)) ?? this.#byForeignId.get(key);
  };

  /** Whether a zone with its id exists. */
  // hot
  readonly has = ({ id }: Zone): boolean => this.#byId.has(idKey(id));

  /** Adds, replaces or (undefined) removes a zone. Returns the previous one. */
  set(id: string, zone: Zone | undefined): Zone | undefined {
    const key = idKey(id);
    const before = this.#byId.get(key);
    if (before?.foreign_id != null && this.#byForeignId.get(idKey(before.foreign_id)) === before) {
      this.#byForeignId.delete(idKey(before.foreign_id));
    }
    if (zone === undefined) this.#byId.delete(key);
    else {
      this.#byId.set(key, zone);
      if (zone.foreign_id != null) this.#byForeignId.set(idKey(zone.foreign_id), zone);
    }
    return before;
  }
}
