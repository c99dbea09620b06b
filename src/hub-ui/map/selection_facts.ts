import { useEffect, useState } from 'preact/hooks';
import type { TrackableMotion } from '../../model/events.ts';
import type { Fence } from '../../model/fence.ts';
import type { Location } from '../../model/location.ts';
import { type Entities, labelOf } from '../hub/kinds.ts';
import { subscribe } from '../hub/live.ts';
import { entityPath, get } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import type { Selection } from './map_url.ts';

/** Where an object is: null when the hub does not know, undefined until it is asked. */
export function usePlace({ kind, id }: Selection): Location | null | undefined {
  const [place, setPlace] = useState<Location | null>();
  useEffect(() => {
    setPlace(undefined);
    let heard = false;
    const isTrackable = kind === 'trackables';
    get<Location>(`${entityPath(kind, id)}/location`).then(
      (location) => {
        if (!heard) setPlace(location);
      },
      () => {
        if (!heard) setPlace(null);
      },
    );
    const topic = isTrackable ? 'trackable_motions' : 'location_updates';
    return subscribe(topic, isTrackable ? { id } : { provider_id: id }, {
      events(payload: readonly (TrackableMotion | Location)[]) {
        const last = payload.at(-1);
        if (last === undefined) return;
        heard = true;
        setPlace('location' in last ? last.location : last);
      },
    });
  }, [kind, id]);
  return place;
}

/** Fences that an object is in, by the hub's timers and tolerances. */
export function useFencesOf({ kind, id }: Selection): readonly { readonly id: string; readonly label: string }[] {
  const [fences, setFences] = useState<readonly { id: string; label: string }[]>([]);
  useEffect(() => {
    const ask = (): void => {
      get<readonly Fence[]>(`${entityPath(kind, id)}/fences`).then(
        (found) => setFences(found.map((fence) => ({ id: fence.id, label: labelOf(fence) }))),
        () => setFences([]),
      );
    };
    const params = kind === 'trackables' ? { trackable_id: id } : { provider_id: id };
    return subscribe('fence_events', params, { subscribed: ask, events: ask });
  }, [kind, id]);
  return fences;
}

/** What is in a fence, by the hub's timers and tolerances. */
export function useContents(fenceId: string): readonly (Selection & { readonly label: string })[] {
  const [inside, setInside] = useState<readonly (Selection & { readonly label: string })[]>([]);
  useEffect(() => {
    const of = async <K extends 'trackables' | 'providers'>(kind: K) => {
      const found = await get<readonly Entities[K][]>(`${entityPath('fences', fenceId)}/${kind}`);
      return found.map((entity) => ({ kind, id: entity.id, label: labelOf(entity) }));
    };
    const ask = (): void => {
      Promise.all([of('trackables'), of('providers')]).then(
        (found) => setInside(found.flat()),
        () => setInside([]),
      );
    };
    return subscribe('fence_events', { fence_id: fenceId }, { subscribed: ask, events: ask });
  }, [fenceId]);
  return inside;
}

/** The zone that a location or an area has come from, or what the source calls itself. */
export function sourceName(source: string | null | undefined): string | undefined {
  if (source == null) return undefined;
  const zones = storeOf('zones').items.value;
  const zone = zones.get(source) ?? [...zones.values()].find(({ foreign_id: foreignId }) => foreignId === source);
  return zone === undefined ? source : labelOf(zone);
}
