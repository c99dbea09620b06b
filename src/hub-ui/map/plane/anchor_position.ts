import type { Anchor } from '../../../model/anchor.ts';
import type { Zone } from '../../../model/zone.ts';
import { earthToPlane, georeferenceZone } from './georeference.ts';
import { EARTH, fromMap, type MapPoint, type Plane, type Position } from './plane.ts';

/**
 * Map position of an anchor: its position in that plane, or else its other position converted by the control points of its
 * zone. Undefined if neither is available.
 */
export function anchorPosition(anchor: Anchor, zone: Zone | undefined, plane: Plane): MapPoint | undefined {
  const local = anchor.local_position?.coordinates;
  if (plane.kind === 'zone' && zone?.id === plane.id && local !== undefined) return [local[0] ?? 0, local[1] ?? 0];
  const onEarth = anchor.georeferenced_position?.coordinates ?? byItsZone(local, zone);
  return onEarth && earthToPlane(onEarth, plane);
}

/** Converts zone meters to longitude and latitude. */
function byItsZone(local: Position | undefined, zone: Zone | undefined): Position | undefined {
  const placed = zone && local && georeferenceZone(zone);
  return placed && local && fromMap(EARTH, placed.toMap(local));
}
