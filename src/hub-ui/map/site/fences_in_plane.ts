import { useRef } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { useLoaded } from '../../controls/use_loaded.ts';
import { get } from '../../hub/rest.ts';
import { pause } from '../../hub/retry.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';
import { type Plane, viewParams } from '../plane/plane.ts';

const NONE: readonly Fence[] = [];
/** Delay that combines changes in quick succession into one request. */
const TOGETHER_MS = 60;

/**
 * Returns all fences with regions in the plane's coordinates, converted by the hub; undefined before its first answer. Requests
 * them again after a change.
 */
export function useFencesInPlane(plane: Plane): readonly Fence[] | undefined {
  const stored = useEntities('fences');
  const zones = useEntities('zones');
  const isWaiting = storeOf('fences').state.value === 'waiting';
  const shown = useRef<readonly Fence[]>();
  const load = async (signal: AbortSignal): Promise<readonly Fence[]> => {
    if (stored.size === 0) return NONE;
    await pause(TOGETHER_MS, signal);
    // The connection state already shows why it fails.
    return await get<readonly Fence[]>('/fences/summary', viewParams(plane)).catch(() => shown.current ?? NONE);
  };
  // A new georeference of a zone moves its local fences.
  const inputs = [stored, zones, plane.id, isWaiting];
  shown.current = useLoaded((signal) => (isWaiting ? undefined : load(signal)), inputs);
  return shown.current;
}
