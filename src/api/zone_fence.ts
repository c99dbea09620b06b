import { hubError, HubError } from '../errors.ts';
import { fenceIn } from '../core/fence/fence_view.ts';
import { normalizeFence } from '../core/fence/region_normal.ts';
import { zoneOutline } from '../core/zone/outline.ts';
import { transformationType } from '../core/zone/zone_type.ts';
import type { Entities } from '../entities/entities.ts';
import { validateFence } from '../entities/validate.ts';
import type { Fence } from '../model/fence.ts';
import type { Point } from '../model/geojson.ts';
import { show } from '../model/error_value_text.ts';
import type { Zone } from '../model/zone.ts';

/**
 * A fence around the zone, in EPSG:4326: a circle for a proximity zone, otherwise the convex hull of its georeferencing
 * points. It is not stored. Throws HUB_BAD_REQUEST if the zone has no extent.
 */
export function fenceAround(zone: Zone, entities: Entities): Fence {
  const { floor, name, exit_delay: exitDelay } = zone;
  const common = {
    ...(floor == null ? {} : { floor }),
    ...(name == null ? {} : { name }),
    ...(exitDelay == null ? {} : { exit_delay: exitDelay }),
  };
  const id = entities.newId();
  if (transformationType(zone) === 'proximity') {
    const { region, radius } = circleOf(zone);
    return { id, region, radius, ...common };
  }
  const ring = zoneOutline(zone);
  if (ring === undefined) throw noOutline(zone);
  const fence = normalizeFence({ id, region: { type: 'Polygon', coordinates: [ring] }, ...common });
  const problem = entities.shapes.regionProblem(fence);
  if (problem !== undefined) throw new HubError(problem.at('ground_control_points'));
  return fence;
}

function noOutline(zone: Zone): HubError {
  const path = 'ground_control_points';
  const count = (zone.ground_control_points ?? []).length / 2;
  const isPlaced = transformationType(zone) === 'gcp' && count > 1;
  return isPlaced ? hubError('collinear', { path, count }) : hubError('no_outline', { path, zone_id: zone.id });
}

function circleOf({ position, radius }: Zone): { readonly region: Point; readonly radius: number } {
  if (position == null) throw hubError('missing_for', { path: 'position', purpose: 'fence_of_zone', found: 'nothing' });
  if (radius != null && radius > 0) return { region: position, radius };
  throw hubError('not_positive_for', { path: 'radius', purpose: 'fence_of_zone', found: show(radius ?? undefined) });
}

/**
 * Converts the body of a fence from the coordinates of a zone to EPSG:4326. Throws HUB_BAD_REQUEST naming the invalid
 * field.
 */
export function fenceFromZone(zone: Zone, sent: Readonly<Record<string, unknown>>, entities: Entities): object {
  const { crs = null, zone_id: zoneId = null } = sent;
  if (crs !== null && crs !== 'local') throw hubError('not_local', { path: 'crs', found: show(crs) });
  if (zoneId !== null && entities.zoneBy(String(zoneId))?.id !== zone.id) {
    throw hubError('not_as_in_path', { path: 'zone_id', expected: zone.id, found: show(zoneId) });
  }
  // The id of the body is checked when the fence is created.
  const local = validateFence({ ...sent, id: 'local', crs: 'local', zone_id: zone.id }, entities);
  const placed = fenceIn({ crs: 'EPSG:4326' }, local, (id) => entities.zoneBy(id));
  if (placed === undefined) throw hubError('out_of_zone', { path: 'region', zone_id: zone.id });
  const { crs: _crs, ...rest } = sent;
  return { ...rest, region: placed.region };
}
