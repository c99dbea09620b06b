import type { StoredFence } from '../../model/fence.ts';
import { isUnset } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import type { PlaneTransform } from '../geo/crs.ts';
import { zoneTransform } from '../zone/zone_transform.ts';

/**
 * The plane of a local region: that of the zone which the fence names, or, where no zone of that name has one any more,
 * the plane that the last one had. Undefined where there was never any.
 */
export function localPlane(
  { zone_id: name, former_zone: former }: StoredFence,
  zoneBy: (idOrForeignId: string) => Zone | undefined,
): PlaneTransform | undefined {
  const zone = isUnset(name) ? undefined : zoneBy(name);
  return (zone && zoneTransform(zone)) ?? (former && zoneTransform(former));
}

/** Whether a local region is where it is by the plane of a zone that is not there, or not placed, any more. */
export function isLeftBehind(fence: StoredFence, zoneBy: (idOrForeignId: string) => Zone | undefined): boolean {
  const { crs, zone_id: name, former_zone: former } = fence;
  if (crs !== 'local' || former === undefined) return false;
  const zone = isUnset(name) ? undefined : zoneBy(name);
  return zone === undefined || zoneTransform(zone) === undefined;
}

/** Everything that decides where a position in metres of a zone is. */
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

/** The zone with what places a position of its own, and no more. */
export function planeOnly(zone: Zone): Zone {
  const members = PLANE_MEMBERS.flatMap((name) => (zone[name] == null ? [] : [[name, zone[name]] as const]));
  return { id: zone.id, type: zone.type, ...Object.fromEntries(members) };
}
