import type { Zone } from '../../model/zone.ts';

export type TransformationType = 'gcp' | 'proximity' | 'benchmark' | 'none';

/**
 * Returns the type of the zone's georeference: its transformation_type if set, otherwise derived from its type. A zone
 * with neither uses ground control points, even if it has none yet.
 */
export function transformationType(zone: Zone): TransformationType {
  if (zone.transformation_type != null) return zone.transformation_type as TransformationType;
  if (zone.type === 'rfid' || zone.type === 'ibeacon') return 'proximity';
  if (zone.type === 'generic' && zone.surface_projection != null) return 'benchmark';
  if (zone.ground_control_points != null && zone.ground_control_points.length > 0) return 'gcp';
  return zone.type === 'none' ? 'none' : 'gcp';
}

/** Whether the zone has a single position instead of a plane. Objects that it detects are near that position. */
export function isProximityZone(zone: Zone): boolean {
  return transformationType(zone) === 'proximity';
}
