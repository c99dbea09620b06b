import type { Zone } from '../../model/zone.ts';

export type TransformationType = 'gcp' | 'proximity' | 'benchmark' | 'none';

/**
 * Returns how the zone is georeferenced: its own transformation_type, otherwise by its type. A zone without either uses
 * ground control points, even while it has none.
 */
export function transformationType(zone: Zone): TransformationType {
  if (zone.transformation_type != null) return zone.transformation_type as TransformationType;
  if (zone.type === 'rfid' || zone.type === 'ibeacon') return 'proximity';
  if (zone.type === 'generic' && zone.surface_projection != null) return 'benchmark';
  if (zone.ground_control_points != null && zone.ground_control_points.length > 0) return 'gcp';
  return zone.type === 'none' ? 'none' : 'gcp';
}

/** Whether the zone has one position instead of a plane: objects that it detects are near it. */
export function isProximityZone(zone: Zone): boolean {
  return transformationType(zone) === 'proximity';
}
