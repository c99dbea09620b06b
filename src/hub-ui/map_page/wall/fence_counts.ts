import { useEffect, useState } from 'preact/hooks';
import type { FenceEvent } from '../../../model/events.ts';
import { subscribe } from '../../hub/live.ts';
import { entityPath, get } from '../../hub/rest.ts';
import { runAll } from '../../hub/run_all.ts';

/** Kind of the counted objects. */
export type Counted = 'trackables' | 'providers';

/** Ids of the objects in each fence, by the id of the fence. */
export type Inside = ReadonlyMap<string, ReadonlySet<string>>;

/** Maximum number of counted fences: a screen has no room for more, and each is a request. */
const FENCES_MAX = 60;
/** Interval of reloading, which corrects missed changes, such as a deleted trackable. */
const POLL_MS = 300_000;

/** Applies entries and exits. Returns the same map if no event concerns a counted fence. */
export function afterEvents(inside: Inside, events: readonly FenceEvent[], counted: Counted): Inside {
  const next = new Map(inside);
  let isSame = true;
  for (const { fence_id: fenceId, event_type: type, trackable_id: trackable, provider_id: provider } of events) {
    const id = counted === 'trackables' ? trackable : provider;
    const before = next.get(fenceId);
    if (id == null || before === undefined) continue;
    const after = new Set(before);
    if (type === 'region_entry') after.add(id);
    else after.delete(id);
    next.set(fenceId, after);
    isSame = false;
  }
  return isSame ? inside : next;
}

/** Returns the objects in each fence by the hub's timers: requested once, then updated by events. */
export function useInsideOf(fenceIds: readonly string[], counted: Counted): Inside {
  const [inside, setInside] = useState<Inside>(new Map());
  const key = fenceIds.slice(0, FENCES_MAX).join(' ');
  useEffect(() => {
    const ids = key === '' ? [] : key.split(' ');
    let abort = new AbortController();
    // Events received during the request. The response may already include them, and applying one twice has no effect.
    let received: FenceEvent[] = [];
    const load = async (): Promise<void> => {
      abort.abort();
      abort = new AbortController();
      const { signal } = abort;
      received = [];
      const found = new Map<string, ReadonlySet<string>>();
      const loadOne = async (id: string): Promise<void> => {
        const objects = await get<readonly { readonly id: string }[]>(`${entityPath('fences', id)}/${counted}`);
        found.set(id, new Set(objects.map((each) => each.id)));
      };
      await runAll(ids, loadOne, { signal, onDone: () => undefined });
      if (!signal.aborted) setInside((before) => afterEvents(new Map([...before, ...found]), received, counted));
    };
    const pollTimer = (): void => void load();
    const unsubscribe = subscribe(
      'fence_events',
      {},
      {
        subscribed: pollTimer,
        rejected: pollTimer,
        events(payload: readonly FenceEvent[]) {
          received.push(...payload);
          setInside((before) => afterEvents(before, payload, counted));
        },
      },
    );
    const timer = setInterval(pollTimer, POLL_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
      unsubscribe();
    };
  }, [key, counted]);
  return inside;
}
