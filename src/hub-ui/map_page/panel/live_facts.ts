import { useEffect, useState } from 'preact/hooks';
import type { TrackableMotion } from '../../../model/events.ts';
import type { Fence } from '../../../model/fence.ts';
import type { Location } from '../../../model/location.ts';
import { type Entities, labelOf } from '../../hub/entity_kinds.ts';
import { subscribe } from '../../hub/live.ts';
import { entityPath, get } from '../../hub/rest.ts';
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

/** Fences that an object is in, by the hub's timers and tolerances. */
export function useFencesOf({ kind, id }: MapSelection): readonly NamedSelection[] {
  const [fences, setFences] = useState<readonly NamedSelection[]>([]);
  useEffect(() => {
    const load = (): void => {
      get<readonly Fence[]>(`${entityPath(kind, id)}/fences`).then(
        (found) => setFences(found.map((fence) => ({ kind: 'fences', id: fence.id, label: labelOf(fence) }))),
        () => setFences([]),
      );
    };
    const params = kind === 'trackables' ? { trackable_id: id } : { provider_id: id };
    return subscribe('fence_events', params, { subscribed: load, events: load });
  }, [kind, id]);
  return fences;
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
