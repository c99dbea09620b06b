import { fenceAmong } from '../core/fence/fences.ts';
import { UntrackedRegions } from '../core/fence/untracked.ts';
import type { ZoneTable } from '../core/zone/zone_table.ts';
import type { Change } from '../entities/entities.ts';
import type { StoredFence } from '../model/fence.ts';

/**
 * Proximity zones in untracked fences. Proximities are published before a shard locates them, so the main thread applies
 * the rule of the shards to the position of their zone.
 */
export class UntrackedZones {
  readonly #zones: ZoneTable;
  readonly #fences = new Map<string, StoredFence>();
  /** Regions of the fences, and results by the id of a zone; undefined or empty after a change. */
  #regions: UntrackedRegions | undefined;
  readonly #covered = new Map<string, boolean>();

  constructor(zones: ZoneTable) {
    this.#zones = zones;
  }

  /** Applies changes of entities. The zones already contain them. */
  changed(changes: readonly Pick<Change, 'kind' | 'id' | 'after'>[]): void {
    for (const { kind, id, after } of changes) {
      if (kind === 'fence') {
        const fence = after as StoredFence | undefined;
        if (fence?.untracked === true) this.#fences.set(id, fence);
        else if (!this.#fences.delete(id)) continue;
      } else if (kind !== 'zone' || this.#fences.size === 0) continue;
      this.#regions = undefined;
      this.#covered.clear();
    }
  }

  /** Whether an untracked fence covers the position of a zone, given by id or foreign id. */
  // hot
  has(name: string): boolean {
    if (this.#fences.size === 0) return false;
    const zone = this.#zones.find(name);
    if (zone?.position == null) return false;
    let isCovered = this.#covered.get(zone.id);
    if (isCovered === undefined) {
      const [lon, lat, z] = zone.position.coordinates as [number, number, number?];
      const levelMeters = zone.wgs84_height ?? undefined;
      const floor = zone.floor ?? 0;
      isCovered = this.#compiled().cover({ lon, lat, z, floor, elevationRef: 'floor', levelMeters });
      this.#covered.set(zone.id, isCovered);
    }
    return isCovered;
  }

  #compiled(): UntrackedRegions {
    if (this.#regions !== undefined) return this.#regions;
    const regions = new UntrackedRegions();
    for (const fence of this.#fences.values()) {
      regions.set(fenceAmong(this.#zones.find, fence, { slot: 0, occupants: new Set() }));
    }
    this.#regions = regions;
    return regions;
  }
}
