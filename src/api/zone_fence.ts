import { fenceIn } from '../core/fence/fence_view.ts';
import { normalizeFence } from '../core/fence/region_normal.ts';
import { zoneOutline } from '../core/zone/outline.ts';
import { transformationType } from '../core/zone/zone_type.ts';
import type { Entities } from '../entities/entities.ts';
import { validateFence } from '../entities/validate.ts';
import { HubError } from '../errors.ts';
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
  if (ring === undefined) throw bad(`ground_control_points: must outline an area, found ${pointsOf(zone)}`);
  const fence = normalizeFence({ id, region: { type: 'Polygon', coordinates: [ring] }, ...common });
  const problem = entities.shapes.regionProblem(fence);
  if (problem !== undefined) throw bad(`ground_control_points: must outline an area, found that ${problem}`);
  return fence;
}

function pointsOf(zone: Zone): string {
  const count = (zone.ground_control_points ?? []).length / 2;
  const isPlaced = transformationType(zone) === 'gcp' && count > 1;
  return isPlaced ? `${count} pairs of rows on one line` : `that zone ${show(zone.id)} is not placed by them`;
}

function circleOf({ position, radius }: Zone): { readonly region: Point; readonly radius: number } {
  if (position == null) throw bad('position: is required to make a fence of a proximity zone, found nothing');
  if (radius != null && radius > 0) return { region: position, radius };
  throw bad(`radius: must be greater than 0 to make a fence of a proximity zone, found ${show(radius ?? undefined)}`);
}

/**
 * The body of a fence in EPSG:4326 from one in the coordinates of a zone. Throws HUB_BAD_REQUEST naming the invalid
 * field.
 */
export function fenceFromZone(zone: Zone, sent: Readonly<Record<string, unknown>>, entities: Entities): object {
  const { crs = null, zone_id: zoneId = null } = sent;
  if (crs !== null && crs !== 'local') throw bad(`crs: must be local or absent, found ${show(crs)}`);
  if (zoneId !== null && entities.zoneBy(String(zoneId))?.id !== zone.id) {
    throw bad(`zone_id: must be the zone of the path, ${show(zone.id)}, found ${show(zoneId)}`);
  }
  // The id of the body is checked when the fence is created.
  const local = validateFence({ ...sent, id: 'local', crs: 'local', zone_id: zone.id }, entities);
  const placed = fenceIn({ crs: 'EPSG:4326' }, local, (id) => entities.zoneBy(id));
  if (placed === undefined)
    throw bad(`region: must lie within reach of zone ${show(zone.id)}, found a place that does not`);
  const { crs: _crs, ...rest } = sent;
  return { ...rest, region: placed.region };
}

function bad(message: string): HubError {
  return new HubError('HUB_BAD_REQUEST', message);
}
