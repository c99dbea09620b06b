import type { StoredFence } from '../../model/fence.ts';
import { idKey } from '../../model/id.ts';
import { fenceAmong } from '../fence/fences.ts';
import type { Since } from '../item.ts';
import type { FenceState, ShardState } from '../state.ts';
import { type ZoneLookup, ZoneTable } from '../zone/zone_table.ts';

/** The fences and zones that kept state names. */
export interface Around {
  readonly fence: (id: string) => FenceState | undefined;
  readonly zone: ZoneLookup;
}

/** Those of a shard as they are. */
export function aroundOf({ fences, zones }: ShardState): Around {
  return { fence: (id) => fences.get(id), zone: zones.find };
}

/** Those of a shard as they were when other hubs looked at them last. */
export class AroundBefore implements Around {
  readonly since: Since;
  readonly #fences: ReadonlyMap<string, FenceState | undefined>;
  readonly fence: (id: string) => FenceState | undefined;
  readonly zone: ZoneLookup;

  constructor(state: ShardState, since: Since) {
    this.since = since;
    this.zone = zonesBefore(state, since);
    const fences = new Map(since.fences.map(([id, before]) => [id, this.#fenceBefore(state, id, before)]));
    this.#fences = fences;
    this.fence = (id) => (fences.has(id) ? fences.get(id) : state.fences.get(id));
  }

  /** Whether it is not what it was: how it covers the earth may have changed with its zone. */
  hasChanged(id: string): boolean {
    return this.#fences.has(id);
  }

  /** One that is gone by now has no place in the index. It is only there for its members to leave it. */
  #fenceBefore(state: ShardState, id: string, before: StoredFence | undefined): FenceState | undefined {
    const { slot, occupants } = state.fences.get(id) ?? { slot: -1, occupants: new Set() };
    return before && fenceAmong(this.zone, before, { slot, occupants });
  }
}

function zonesBefore({ zones }: ShardState, since: Since): ZoneLookup {
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
