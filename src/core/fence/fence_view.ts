import { type Fence, type StoredFence, publicFence } from '../../model/fence.ts';
import { positionLists } from '../../model/position_lists.ts';
import type { View } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import { type OutOfRange, type PlaneTransform, projection, rangeProblem, displayProjection } from '../geo/crs.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
import { type Convert, geometryInPlane } from '../zone/view.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import { localPlane } from './fence_plane.ts';

type ZoneBy = (idOrForeignId: string) => Zone | undefined;

/**
 * Returns the fence with its region converted to the view's crs; unchanged if it is stored in that crs. Undefined if
 * the region cannot be converted: its zone never had a plane, or the region is out of range of the crs.
 */
export function fenceIn(view: View, fence: StoredFence, zoneBy: ZoneBy): Fence | undefined {
  const own = fence.crs ?? 'EPSG:4326';
  const ownZone = fence.zone_id == null ? undefined : zoneBy(fence.zone_id);
  const viewZone = view.zoneId === undefined ? undefined : zoneBy(view.zoneId);
  const same = own === view.crs && (own !== 'local' || (ownZone !== undefined && ownZone === viewZone));
  if (same) return publicFence(fence);
  const from = own === 'local' ? localPlane(fence, zoneBy) : projection(own);
  const to = view.crs === 'local' ? viewZone && zoneTransform(viewZone) : displayProjection(view.crs);
  if (from === undefined || to === undefined) return undefined;
  const convert = converter(from, to, view.crs);
  const { region } = fence;
  const moved = geometryInPlane(region, convert);
  if (moved === undefined) return undefined;
  const zone = view.crs === 'local' && viewZone !== undefined ? { zone_id: viewZone.id } : {};
  return { ...publicFence(fence), region: moved, crs: view.crs, ...zone };
}

/**
 * Finds the first position of a fence's region that is out of range of the view's crs and returns the violated range;
 * undefined if all are in range.
 */
export function fenceRangeProblem({ crs }: View, fence: StoredFence, zoneBy: ZoneBy): OutOfRange | undefined {
  const own = fence.crs ?? 'EPSG:4326';
  const from = own === 'local' ? localPlane(fence, zoneBy) : projection(own);
  if (from === undefined) return undefined;
  const out: [number, number] = [0, 0];
  for (const [x = 0, y = 0] of positionLists(fence.region).flat()) {
    from.toWgs84(x, y, out);
    const problem = rangeProblem(crs, wrapLongitude(roundDegrees(out[0])), roundDegrees(out[1]));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function converter(from: PlaneTransform, to: PlaneTransform, crs: string): Convert {
  const round = crs === 'EPSG:4326' ? roundDegrees : roundMeters;
  return (x, y, out) => {
    from.toWgs84(x, y, out);
    // Regions across the antimeridian have longitudes beyond ±180.
    to.fromWgs84(wrapLongitude(out[0]), out[1], out);
    out[0] = round(out[0]);
    out[1] = round(out[1]);
  };
}
