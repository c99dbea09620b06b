import { useEffect, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { get } from '../../hub/rest.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';
import { type Plane, viewParams } from '../plane/plane.ts';

const NONE: readonly Fence[] = [];

/**
 * All fences with their regions in the plane's coordinates, as the hub converts them; undefined until it has answered.
 * Renewed when one changes.
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
        // The state of the connection says why.
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
