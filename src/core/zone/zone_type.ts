import type { Zone } from '../../model/zone.ts';

export type TransformationType = 'gcp' | 'proximity' | 'benchmark' | 'none';

/**
 * How the zone is placed on the earth: as it says itself, else by its type. An installation that says nothing is
 * placed by ground control points, also while it has none yet.
 */
export function transformationType(zone: Zone): TransformationType {
  if (zone.transformation_type != null) return zone.transformation_type as TransformationType;
  if (zone.type === 'rfid' || zone.type === 'ibeacon') return 'proximity';
  if (zone.type === 'generic' && zone.surface_projection != null) return 'benchmark';
  if (zone.ground_control_points != null && zone.ground_control_points.length > 0) return 'gcp';
  return zone.type === 'none' ? 'none' : 'gcp';
}

/** Whether the zone has one position instead of a plane: what it detects is near it. */
export function isProximityZone(zone: Zone): boolean {
  return transformationType(zone) === 'proximity';
}
