import type { Anchor } from '../../../model/anchor.ts';
import type { Zone } from '../../../model/zone.ts';
import { earthToPlane, georeferenceZone } from './georeference.ts';
import { EARTH, fromMap, type MapPoint, type Plane, type Position } from './plane.ts';

/**
 * Where an anchor is on a map: by the position that it has in that plane, or else by the other one and the control
 * points of its zone. Undefined where neither is known.
 */
export function anchorPosition(anchor: Anchor, zone: Zone | undefined, plane: Plane): MapPoint | undefined {
  const local = anchor.local_position?.coordinates;
  if (plane.kind === 'zone' && zone?.id === plane.id && local !== undefined) return [local[0] ?? 0, local[1] ?? 0];
  const onEarth = anchor.georeferenced_position?.coordinates ?? byItsZone(local, zone);
  return onEarth && earthToPlane(onEarth, plane);
}

/** Longitude and latitude of a place in the meters of a zone. */
function byItsZone(local: Position | undefined, zone: Zone | undefined): Position | undefined {
  const placed = zone && local && georeferenceZone(zone);
  return placed && local && fromMap(EARTH, placed.toMap(local));
}
