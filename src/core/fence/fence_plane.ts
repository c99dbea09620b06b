import type { StoredFence } from '../../model/fence.ts';
import { isUnset } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import type { PlaneTransform } from '../geo/crs.ts';
import { zoneTransform } from '../zone/zone_transform.ts';

/**
 * Returns the plane of a local region: the plane of the zone that the fence refers to or, if that zone is missing or
 * has no plane, of the fence's former zone. Undefined if neither has one.
 */
export function localPlane(
  { zone_id: name, former_zone: former }: StoredFence,
  zoneBy: (idOrForeignId: string) => Zone | undefined,
): PlaneTransform | undefined {
  const zone = isUnset(name) ? undefined : zoneBy(name);
  return (zone && zoneTransform(zone)) ?? (former && zoneTransform(former));
}

/** Whether a local region is positioned by its former zone, because its zone was deleted or lost its plane. */
export function isDetachedFence(fence: StoredFence, zoneBy: (idOrForeignId: string) => Zone | undefined): boolean {
  const { crs, zone_id: name, former_zone: former } = fence;
  if (crs !== 'local' || former === undefined) return false;
  const zone = isUnset(name) ? undefined : zoneBy(name);
  return zone === undefined || zoneTransform(zone) === undefined;
}

/** Members of a zone that determine its plane. */
const PLANE_MEMBERS = [
  'transformation_type',
  'ground_control_points',
  'position',
  'surface_projection',
  'local_origin',
  'easting_angle',
  'meridian_convergence',
  'scale_factor',
  'wgs84_height',
] as const satisfies readonly (keyof Zone)[];

/** Returns the zone reduced to its id, its type and the members that determine its plane. */
export function planeOnly(zone: Zone): Zone {
  const members = PLANE_MEMBERS.flatMap((name) => (zone[name] == null ? [] : [[name, zone[name]] as const]));
  return { id: zone.id, type: zone.type, ...Object.fromEntries(members) };
}
