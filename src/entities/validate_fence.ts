import { normaliseFence } from '../core/fence/region_normal.ts';
import { CRS_CHOICES, isCrs, type PlaneTransform, projection } from '../core/geo/crs.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { checker } from '../model/check.ts';
import { Fence, type KeptFence } from '../model/fence.ts';
import { isUnset } from '../model/id.ts';
import { show } from '../model/show.ts';
import type { Zone } from '../model/zone.ts';
import { type Body, badRequest, checkIntegers, DURATIONS, onlyMembers } from './body.ts';
import { checkLonLat } from './coordinates.ts';
import type { Known } from './known.ts';

const schema = checker(Fence);

/** Regions across the antimeridian are written with longitudes beyond it. */
const LONGITUDE_MAX = 360;

/**
 * The fence as it is kept, its region normalised. Its zone must be there, unless `before` has named the same one already
 * and, for a local region, is where it is now: the region of a zone that is gone can be kept, but not be changed. Throws
 * HUB_BAD_REQUEST naming the field and the value at fault.
 */
export function validateFence(body: Body, known: Known, before?: KeptFence): KeptFence {
  const sent = onlyMembers(Fence, schema.parse(body));
  checkIntegers(sent, DURATIONS);
  const zone = zoneOf(sent, known, before);
  const plane = zone && zoneTransform(zone);
  if (sent.crs === 'local' && plane === undefined && before !== undefined && isWhereItWas(sent, before)) {
    checkRadius(sent);
    checkHoles(sent);
    const { former_zone: former } = before;
    return { ...normaliseFence(sent), ...(former && { former_zone: former }) };
  }
  checkPositions(sent, planeOf(sent, zone));
  checkRadius(sent);
  checkHoles(sent);
  const fence = normaliseFence(sent);
  const problem = known.shapes.regionProblem(fence);
  if (problem !== undefined) throw badRequest(problem);
  return fence;
}

/** The zone that the fence names; undefined for none, and for one that it has named before. */
function zoneOf({ zone_id: name }: Fence, known: Known, before: KeptFence | undefined): Zone | undefined {
  if (isUnset(name)) return undefined;
  const zone = known.zoneBy(name);
  if (zone !== undefined || name === before?.zone_id) return zone;
  throw badRequest(`zone_id: must be the id or foreign id of a zone, found ${show(name)}`);
}

/** Whether a local region is the one that is kept, in the plane that it has. */
function isWhereItWas(sent: Fence, before: KeptFence): boolean {
  if (before.crs !== 'local' || before.zone_id !== sent.zone_id) return false;
  return JSON.stringify(placeOf(normaliseFence(sent))) === JSON.stringify(placeOf(before));
}

function placeOf({ region }: Fence): unknown {
  return [region.type, region.coordinates];
}

/** The plane that the region is given in; undefined for EPSG:4326. */
function planeOf({ crs: given, zone_id: name }: Fence, zone: Zone | undefined): PlaneTransform | undefined {
  const crs = given ?? 'EPSG:4326';
  if (!isCrs(crs)) throw badRequest(`crs: must be one of ${CRS_CHOICES}, found ${show(crs)}`);
  if (crs === 'EPSG:4326') return undefined;
  if (crs !== 'local') return projection(crs);
  if (isUnset(name)) throw badRequest(`zone_id: is required for a local region, found ${show(name)}`);
  const plane = zone && zoneTransform(zone);
  if (plane !== undefined) return plane;
  const wanted = zone === undefined ? 'the id or foreign id of a zone' : 'a zone with local coordinates of its own';
  throw badRequest(`zone_id: must be ${wanted}, found ${show(name)}`);
}

function checkPositions(fence: Fence, plane: PlaneTransform | undefined): void {
  const { region } = fence;
  if (region.type === 'Point') {
    checkPosition(region.coordinates, 'region.coordinates', plane);
    return;
  }
  // hot: once per position
  for (const [i, ring] of region.coordinates.entries()) {
    for (let j = 0; j < ring.length; j++) {
      const position = ring[j] as number[];
      if (!isWithin(position, plane)) checkPosition(position, `region.coordinates[${i}][${j}]`, plane);
    }
  }
}

function isWithin(position: readonly number[], plane: PlaneTransform | undefined): boolean {
  const [x, y] = [position[0] as number, position[1] as number];
  return plane === undefined ? Math.abs(x) <= LONGITUDE_MAX && Math.abs(y) <= 90 : plane.covers(x, y);
}

function checkPosition(position: readonly number[], path: string, plane: PlaneTransform | undefined): void {
  if (isWithin(position, plane)) return;
  if (plane === undefined) checkLonLat(position, path, LONGITUDE_MAX);
  else throw badRequest(`${path}: must lie within reach of the crs, found ${show(position)}`);
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
