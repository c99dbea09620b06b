import { useEffect, useRef } from 'preact/hooks';
import type { MapPoint } from '../plane/plane.ts';
import { useMap } from '../view/map_view.tsx';

/** File that was dropped on a map of the earth. */
export interface DroppedPlan {
  readonly file: File;
  /** Map coordinates of the pointer. */
  readonly at: MapPoint;
  /** Map units per pixel. */
  readonly resolution: number;
}

/** Calls `onDrop` for a file that the user drops on the map while the component is mounted. */
export function usePlanDrop(isOn: boolean, onDrop: (dropped: DroppedPlan) => void): void {
  const { map } = useMap();
  const latest = useRef(onDrop);
  latest.current = onDrop;
  useEffect(() => {
    const viewport = map.getViewport();
    if (!isOn || viewport === undefined) return;
    const over = (event: DragEvent): void => {
      // Without this, the browser would open the file.
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const file = event.dataTransfer?.files[0];
      if (file === undefined) return;
      event.preventDefault();
      const [x = 0, y = 0] = map.getEventCoordinate(event);
      latest.current({ file, at: [x, y], resolution: map.getView().getResolution() ?? 1 });
    };
    viewport.addEventListener('dragover', over);
    viewport.addEventListener('drop', drop);
    return () => {
      viewport.removeEventListener('dragover', over);
      viewport.removeEventListener('drop', drop);
    };
  }, [map, isOn]);
}

let pending: DroppedPlan | undefined;

/** Stores a plan that was dropped on the live map, for the editor of the new zone. */
export function leaveDroppedPlan(dropped: DroppedPlan): void {
  pending = dropped;
}

/** Returns the stored plan once. */
export function takeDroppedPlan(): DroppedPlan | undefined {
  const taken = pending;
  pending = undefined;
  return taken;
}
