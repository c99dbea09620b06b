import { projection } from '../core/zone/crs.ts';
import { wrapLongitude } from '../core/zone/longitude.ts';
import { roundDegrees, roundMetres } from '../core/zone/round.ts';
import type { PlaneTransform } from '../core/zone/transform.ts';
import { type Convert, pointInPlane, polygonInPlane } from '../core/zone/view.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import type { Fence } from '../model/fence.ts';
import type { View } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';

type ZoneBy = (idOrForeignId: string) => Zone | undefined;

/**
 * The fence with its region in the view's crs: as it is kept where it is kept in that, otherwise with converted
 * vertices. Undefined when the region cannot be shown there, since a zone is gone or too far away.
 */
export function fenceIn(view: View, fence: Fence, zoneBy: ZoneBy): Fence | undefined {
  const own = fence.crs ?? 'EPSG:4326';
  const ownZone = fence.zone_id == null ? undefined : zoneBy(fence.zone_id);
  const viewZone = view.zoneId === undefined ? undefined : zoneBy(view.zoneId);
  const same = own === view.crs && (own !== 'local' || (ownZone !== undefined && ownZone === viewZone));
  if (same) return fence;
  const from = planeOf(own, ownZone);
  const to = planeOf(view.crs, viewZone);
  if (from === undefined || to === undefined) return undefined;
  const convert = converter(from, to, view.crs);
  const { region } = fence;
  const moved = region.type === 'Point' ? pointInPlane(region, convert) : polygonInPlane(region, convert);
  if (moved === undefined) return undefined;
  const zone = view.crs === 'local' && viewZone !== undefined ? { zone_id: viewZone.id } : {};
  return { ...fence, region: moved, crs: view.crs, ...zone };
}

function planeOf(crs: string, zone: Zone | undefined): PlaneTransform | undefined {
  if (crs !== 'local') return projection(crs);
  return zone && zoneTransform(zone);
}

function converter(from: PlaneTransform, to: PlaneTransform, crs: string): Convert {
  const round = crs === 'EPSG:4326' ? roundDegrees : roundMetres;
  return (x, y, out) => {
    from.toWgs84(x, y, out);
    // Regions across the antimeridian have longitudes beyond it.
    to.fromWgs84(wrapLongitude(out[0]), out[1], out);
    out[0] = round(out[0]);
    out[1] = round(out[1]);
  };
}
