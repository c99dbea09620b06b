import { normaliseFence } from '../core/fence/region_normal.ts';
import { CRS_CHOICES, isCrs, projection } from '../core/zone/crs.ts';
import type { PlaneTransform } from '../core/zone/transform.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { checker } from '../model/check.ts';
import { Fence } from '../model/fence.ts';
import { isUnset } from '../model/id.ts';
import { pathOf, show } from '../model/show.ts';
import { type Body, badRequest, checkIntegers, DURATIONS, onlyMembers } from './body.ts';
import { checkLonLat } from './coordinates.ts';
import type { Known } from './known.ts';

const schema = checker(Fence);

/** Regions across the antimeridian are written with longitudes beyond it. */
const LONGITUDE_MAX = 360;

/** The fence as it is kept, its region normalised. Throws HUB_BAD_REQUEST naming the field and the value at fault. */
export function validateFence(body: Body, known: Known): Fence {
  const sent = onlyMembers(Fence, schema.parse(body));
  checkIntegers(sent, DURATIONS);
  const plane = planeOf(sent, known);
  checkPositions(sent, plane);
  checkRadius(sent);
  checkHoles(sent);
  const fence = normaliseFence(sent);
  const problem = known.regionProblem(fence);
  if (problem !== undefined) throw badRequest(problem);
  return fence;
}

/** The plane that the region is given in; undefined for EPSG:4326. */
function planeOf(fence: Fence, known: Known): PlaneTransform | undefined {
  const crs = fence.crs ?? 'EPSG:4326';
  if (!isCrs(crs)) throw badRequest(`crs: must be one of ${CRS_CHOICES}, found ${show(crs)}`);
  const zone = isUnset(fence.zone_id) ? undefined : known.zoneBy(fence.zone_id);
  if (zone === undefined && !isUnset(fence.zone_id)) {
    throw badRequest(`zone_id: must be the id or foreign id of a zone, found ${show(fence.zone_id)}`);
  }
  if (crs === 'EPSG:4326') return undefined;
  if (crs !== 'local') return projection(crs);
  if (zone === undefined) throw badRequest(`zone_id: is required for a local region, found ${show(fence.zone_id)}`);
  const plane = zoneTransform(zone);
  if (plane !== undefined) return plane;
  throw badRequest(`zone_id: must be a zone with local coordinates of its own, found ${show(fence.zone_id)}`);
}

function checkPositions(fence: Fence, plane: PlaneTransform | undefined): void {
  const { region } = fence;
  if (region.type === 'Point') {
    checkPosition(region.coordinates, 'region.coordinates', plane);
    return;
  }
  for (const [i, ring] of region.coordinates.entries()) {
    const path = pathOf('region.coordinates', [String(i)]);
    for (const [j, position] of ring.entries()) checkPosition(position, pathOf(path, [String(j)]), plane);
  }
}

function checkPosition(position: readonly number[], path: string, plane: PlaneTransform | undefined): void {
  if (plane === undefined) {
    checkLonLat(position, path, LONGITUDE_MAX);
    return;
  }
  if (plane.covers(position[0] as number, position[1] as number)) return;
  throw badRequest(`${path}: must lie within reach of the crs, found ${show(position)}`);
}

function checkRadius({ region, radius }: Fence): void {
  if (region.type !== 'Point') return;
  if (radius != null && radius > 0) return;
  throw badRequest(`radius: must be greater than 0 for a region of type Point, found ${show(radius)}`);
}

/** Tolerances are distances to the exterior: what they mean at a hole is not defined for a fence of its own. */
function checkHoles(fence: Fence): void {
  if (fence.region.type !== 'Polygon' || fence.region.coordinates.length === 1) return;
  for (const field of ['exit_tolerance', 'entry_tolerance'] as const) {
    if ((fence[field] ?? 0) === 0) continue;
    throw badRequest(`${field}: must not be set for a region with holes, found ${show(fence[field])}`);
  }
}
