import { useEffect, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { get } from '../../hub/rest.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';
import { type Plane, viewParams } from '../plane/plane.ts';

const NONE: readonly Fence[] = [];

/**
 * Returns all fences with regions in the plane's coordinates, converted by the hub; undefined before its first answer. Requests
 * them again after a change.
 */
export function useFencesInPlane(plane: Plane): readonly Fence[] | undefined {
  const kept = useEntities('fences');
  const zones = useEntities('zones');
  const isWaiting = storeOf('fences').state.value === 'waiting';
  const [shown, setShown] = useState<readonly Fence[]>();
  // A zone whose placement changes moves its local fences.
  useEffect(() => {
    if (isWaiting) return;
    if (kept.size === 0) {
      setShown(NONE);
      return;
    }
    let isDisposed = false;
    const timer = setTimeout(() => {
      get<readonly Fence[]>('/fences/summary', viewParams(plane)).then(
        (fences) => {
          if (!isDisposed) setShown(fences);
        },
        // The connection state already shows the reason.
        () => {
          if (!isDisposed) setShown((before) => before ?? NONE);
        },
      );
    }, 60);
    return () => {
      isDisposed = true;
      clearTimeout(timer);
    };
  }, [kept, zones, plane.id, isWaiting]);
  return shown;
}
