import { useMemo } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { useLoaded } from '../../controls/use_loaded.ts';
import { type Draft, entityPath, get } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { zoneNamed } from '../../hub/zone_lookup.ts';
import { EARTH, type Plane, planeOfZone, viewParams } from '../../map/plane/plane.ts';
import { useStored } from '../editor/use_editor.ts';

/** Plane of a region on the map; undefined for planes without a map, such as UTM. */
export function usePlaneOf({ crs, zone_id: name }: Draft<'fences'>): Plane | undefined {
  const zones = useEntities('zones');
  const zone = zoneNamed(zones.values(), name);
  return useMemo(() => {
    if (crs === undefined || crs === null || crs === 'EPSG:4326') return EARTH;
    return crs === 'local' && zone !== undefined ? planeOfZone(zone) : undefined;
  }, [crs, zone]);
}

/** Drawable fence of a draft; undefined while it has no region. */
export function drawableFence(draft: Draft<'fences'>): Fence | undefined {
  const { region } = draft;
  if (region === undefined) return undefined;
  if (region.type === 'Polygon' && region.coordinates.length === 0) return undefined;
  return { ...draft, id: draft.id ?? 'new fence', region };
}

/**
 * Fence in the plane in which it was created. The hub returns all fences in geographic coordinates by default, so a fence
 * with a zone is fetched again in the zone's meters.
 */
export function useStoredFence(id: string | undefined): Fence | undefined {
  const stored = useStored('fences', id);
  const zones = useEntities('zones');
  const zone = stored?.crs == null ? undefined : zoneNamed(zones.values(), stored.zone_id);
  const local = useLoaded(() => {
    if (stored === undefined || zone === undefined) return undefined;
    return get<Fence>(entityPath('fences', stored.id), viewParams(planeOfZone(zone))).then(
      // Keep the reference to the zone as stored: an id or a foreign id.
      (fence): Fence => ({ ...fence, zone_id: stored.zone_id ?? zone.id }),
      () => stored,
    );
  }, [stored, zone?.id]);
  if (zone === undefined) return stored;
  return local?.id === stored?.id ? local : undefined;
}
