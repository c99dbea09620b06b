import type { Location } from '../../../model/location.ts';
import { useLoaded } from '../../controls/use_loaded.ts';
import { can } from '../../hub/access.ts';
import { get } from '../../hub/rest.ts';

const LIVE_MS = 5_000;

/** Polls the live locations for previews; undefined until loaded, and without permission. */
export function useLive(): readonly Location[] | undefined {
  const path = '/providers/locations';
  return useLoaded(() => (can('READ', path) ? get<readonly Location[]>(path) : undefined), [], { everyMs: LIVE_MS });
}
