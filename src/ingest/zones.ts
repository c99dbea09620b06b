import type { Zone } from '../model/zone.ts';

/**
 * The zones that the shards have been told of. A zone under creation is not among them: a location that names it would
 * reach its shard before the zone does.
 */
export class Zones {
  readonly #byId = new Map<string, Zone>();
  readonly #byForeignId = new Map<string, Zone>();

  /** Finds a zone by its id, else by its foreign id. */
  readonly find = (name: string): Zone | undefined => this.#byId.get(name) ?? this.#byForeignId.get(name);

  set(id: string, zone: Zone | undefined): void {
    const before = this.#byId.get(id);
    if (before?.foreign_id != null && this.#byForeignId.get(before.foreign_id) === before) {
      this.#byForeignId.delete(before.foreign_id);
    }
    if (zone === undefined) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, zone);
    if (zone.foreign_id != null) this.#byForeignId.set(zone.foreign_id, zone);
  }
}
