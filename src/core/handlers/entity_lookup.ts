import type { StoredFence } from '../../model/fence.ts';
import { idKey } from '../../model/id.ts';
import { fenceAmong } from '../fence/fences.ts';
import type { ChangesSince } from '../item.ts';
import type { FenceState, ShardState } from '../state.ts';
import { type ZoneLookup, ZoneTable } from '../zone/zone_table.ts';

/** Fences and zones that stored state refers to. */
export interface EntityLookup {
  readonly fence: (id: string) => FenceState | undefined;
  readonly zone: ZoneLookup;
}

/** Returns a lookup in the current state of a shard. */
export function currentEntities({ fences, zones }: ShardState): EntityLookup {
  return { fence: (id) => fences.get(id), zone: zones.find };
}

/** Lookup of fences and zones as they were when another hub last evaluated them. */
export class PastEntityLookup implements EntityLookup {
  readonly since: ChangesSince;
  readonly #fences: ReadonlyMap<string, FenceState | undefined>;
  readonly fence: (id: string) => FenceState | undefined;
  readonly zone: ZoneLookup;

  constructor(state: ShardState, since: ChangesSince) {
    this.since = since;
    this.zone = zonesBefore(state, since);
    const fences = new Map(since.fences.map(([id, before]) => [id, this.#fenceBefore(state, id, before)]));
    this.#fences = fences;
    this.fence = (id) => (fences.has(id) ? fences.get(id) : state.fences.get(id));
  }

  /** Whether the fence has changed; its region may also change with its zone. */
  hasChanged(id: string): boolean {
    return this.#fences.has(id);
  }

  /**
   * Returns the earlier state of a fence. A fence that was deleted since has no slot in the index; it exists only so
   * that its members can leave it.
   */
  #fenceBefore(state: ShardState, id: string, before: StoredFence | undefined): FenceState | undefined {
    const { slot, occupants } = state.fences.get(id) ?? { slot: -1, occupants: new Set() };
    return before && fenceAmong(this.zone, before, { slot, occupants });
  }
}

function zonesBefore({ zones }: ShardState, since: ChangesSince): ZoneLookup {
  if (since.zones.length === 0) return zones.find;
  const before = new ZoneTable();
  const changed = new Set<string>();
  for (const [id, zone] of since.zones) {
    changed.add(idKey(id));
    before.set(id, zone);
  }
  return (name) => {
    const now = zones.find(name);
    return before.find(name) ?? (now === undefined || changed.has(idKey(now.id)) ? undefined : now);
  };
}
