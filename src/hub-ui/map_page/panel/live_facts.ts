import { useEffect, useState } from 'preact/hooks';
import type { FenceEvent, TrackableMotion } from '../../../model/events.ts';
import type { Fence } from '../../../model/fence.ts';
import type { Location } from '../../../model/location.ts';
import { type Entities, labelOf } from '../../hub/entity_kinds.ts';
import { subscribe } from '../../hub/live.ts';
import { entityPath, get } from '../../hub/rest.ts';
import { hasHistory } from '../../hub/settings.ts';
import type { MapSelection } from '../../map/view/map_url.ts';

/** Position of an object: null if the hub has none, undefined before the response. */
export function usePosition({ kind, id }: MapSelection): Location | null | undefined {
  const [place, setPlace] = useState<Location | null>();
  useEffect(() => {
    setPlace(undefined);
    let lastSeen = false;
    const isTrackable = kind === 'trackables';
    // After a reconnect, the last received location may be old.
    const load = (): void => {
      lastSeen = false;
      get<Location>(`${entityPath(kind, id)}/location`).then(
        (location) => {
          if (!lastSeen) setPlace(location);
        },
        () => {
          if (!lastSeen) setPlace(null);
        },
      );
    };
    const topic = isTrackable ? 'trackable_motions' : 'location_updates';
    return subscribe(topic, isTrackable ? { id } : { provider_id: id }, {
      subscribed: load,
      rejected: load,
      events(payload: readonly (TrackableMotion | Location)[]) {
        const last = payload.at(-1);
        if (last === undefined) return;
        lastSeen = true;
        setPlace('location' in last ? last.location : last);
      },
    });
  }, [kind, id]);
  return place;
}

/** Fence that an object is in, and the time of its entry in Unix milliseconds, if known. */
export type EnteredFence = NamedSelection & { readonly sinceMs: number | undefined };

/**
 * Fences that an object is in, by the hub's timers and tolerances; the last entered one comes first. The times of entries are
 * those of events, and of open visits in the history.
 */
export function useFencesOf({ kind, id }: MapSelection): readonly EnteredFence[] {
  const [fences, setFences] = useState<readonly NamedSelection[]>([]);
  const [entries, setEntries] = useState<ReadonlyMap<string, number>>(NO_ENTRIES);
  useEffect(() => {
    setEntries(NO_ENTRIES);
    const asking = new AbortController();
    const load = (): void => {
      get<readonly Fence[]>(`${entityPath(kind, id)}/fences`).then(
        (found) => setFences(found.map((fence) => ({ kind: 'fences', id: fence.id, label: labelOf(fence) }))),
        () => setFences([]),
      );
    };
    const params = kind === 'trackables' ? { trackable_id: id } : { provider_id: id };
    const end = subscribe('fence_events', params, {
      subscribed() {
        load();
        if (kind !== 'trackables' || !hasHistory()) return;
        openVisitsOf(id, asking.signal).then(
          (found) => setEntries((known) => new Map([...found, ...known])),
          // Without the history, the times of earlier entries stay unknown.
          () => undefined,
        );
      },
      events(payload: readonly FenceEvent[]) {
        load();
        const entered = payload.flatMap(({ event_type: type, fence_id: fenceId, entry_time: time }) =>
          type === 'region_entry' && time != null ? [[fenceId, Date.parse(time)] as const] : [],
        );
        setEntries((known) => new Map([...known, ...entered]));
      },
    });
    return () => {
      asking.abort();
      end();
    };
  }, [kind, id]);
  return fences
    .map((fence) => ({ ...fence, sinceMs: entries.get(fence.id) }))
    .sort((a, b) => (b.sinceMs ?? 0) - (a.sinceMs ?? 0));
}

const NO_ENTRIES: ReadonlyMap<string, number> = new Map();
const RECENT_MS = 60_000;

/** Times of entry of the fences that a trackable is in, by id of the fence. */
async function openVisitsOf(id: string, signal: AbortSignal): Promise<readonly (readonly [string, number])[]> {
  const { fetchVisits } = await import('../../history/history_api.ts');
  const nowMs = Date.now();
  const range = { fromMs: nowMs - RECENT_MS, toMs: nowMs };
  const { value } = await fetchVisits({ kind: 'trackables', id, limit: 1_000, ...range }, signal);
  return value.visits.flatMap(({ fence_id: fenceId, entry_time: time, still_inside: isOpen }) =>
    isOpen ? [[fenceId, Date.parse(time)] as const] : [],
  );
}

/** An object or fence, by its name. */
export type NamedSelection = MapSelection & { readonly label: string };

export interface FenceContents {
  readonly trackables: readonly NamedSelection[];
  readonly providers: readonly NamedSelection[];
}

/**
 * Returns the objects in a fence by the hub's timers and tolerances: null if the hub rejects the query, undefined before the
 * response. A trackable and its tag are both inside, so they are listed and counted separately, as in the occupancy.
 */
export function useContents(fenceId: string): FenceContents | null | undefined {
  const [inside, setInside] = useState<FenceContents | null>();
  useEffect(() => {
    setInside(undefined);
    const of = async <K extends 'trackables' | 'providers'>(kind: K): Promise<readonly NamedSelection[]> => {
      const found = await get<readonly Entities[K][]>(`${entityPath('fences', fenceId)}/${kind}`);
      return found.map((entity) => ({ kind, id: entity.id, label: labelOf(entity) }));
    };
    let latest = 0;
    const load = (): void => {
      latest++;
      const own = latest;
      Promise.all([of('trackables'), of('providers')]).then(
        ([trackables, providers]) => {
          // A newer request supersedes this response.
          if (own === latest) setInside({ trackables, providers });
        },
        () => {
          if (own === latest) setInside((before) => before ?? null);
        },
      );
    };
    const end = subscribe('fence_events', { fence_id: fenceId }, { subscribed: load, rejected: load, events: load });
    return () => {
      latest++;
      end();
    };
  }, [fenceId]);
  return inside;
}
