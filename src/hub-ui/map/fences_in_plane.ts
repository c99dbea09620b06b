import { useEffect, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import { get } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { type Plane, viewParams } from './plane.ts';

const NONE: readonly Fence[] = [];

/** All fences with their regions in the plane's coordinates, as the hub converts them. Renewed when one changes. */
export function useFencesInPlane(plane: Plane): readonly Fence[] {
  const kept = useEntities('fences');
  const zones = useEntities('zones');
  const [shown, setShown] = useState(NONE);
  // A zone that is placed anew takes its local fences along.
  useEffect(() => {
    if (kept.size === 0) {
      setShown(NONE);
      return;
    }
    let isOver = false;
    const timer = setTimeout(() => {
      get<readonly Fence[]>('/fences/summary', viewParams(plane)).then(
        (fences) => {
          if (!isOver) setShown(fences);
        },
        // The state of the connection says why.
        () => undefined,
      );
    }, 60);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [kept, zones, plane.id]);
  return shown;
}
