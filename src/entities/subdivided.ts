import { localPlane } from '../core/fence/fence_plane.ts';
import { DEGREES, type CoordinateSpace, METERS, subdivideRings } from '../core/fence/subdivide.ts';
import type { PlaneTransform } from '../core/geo/crs.ts';
import type { StoredFence } from '../model/fence.ts';
import type { Trackable } from '../model/trackable.ts';
import type { EntityMap, EntityKindName, EntityLookup } from './entity_lookup.ts';

/** A checked entity with additional positions on the long edges of its polygon; any other entity unchanged. */
export function subdivided<K extends EntityKindName>(kind: K, entity: EntityMap[K], known: EntityLookup): EntityMap[K] {
  if (kind === 'fence') return subdividedFence(entity as StoredFence, known) as EntityMap[K];
  if (kind === 'trackable') return subdividedTrackable(entity as Trackable) as EntityMap[K];
  return entity;
}

function subdividedFence(fence: StoredFence, known: EntityLookup): StoredFence {
  const { region } = fence;
  if (region.type !== 'Polygon') return fence;
  const coordinates = subdivideRings(region.coordinates, frameOf(fence, known));
  return { ...fence, region: { ...region, coordinates } };
}

function subdividedTrackable(trackable: Trackable): Trackable {
  const { geometry } = trackable;
  if (geometry == null) return trackable;
  return { ...trackable, geometry: { ...geometry, coordinates: subdivideRings(geometry.coordinates, METERS) } };
}

function frameOf(fence: StoredFence, known: EntityLookup): CoordinateSpace {
  const crs = fence.crs ?? 'EPSG:4326';
  if (crs === 'EPSG:4326') return DEGREES;
  const plane = crs === 'local' ? localPlane(fence, (name) => known.zoneBy(name)) : undefined;
  return plane === undefined ? METERS : planeFrame(plane);
}

/** The unit of a zone's plane depends on its points: lengths are measured on the earth. */
function planeFrame(plane: PlaneTransform): CoordinateSpace {
  const lonLat = ([x = 0, y = 0]: readonly number[]): number[] => {
    const out: [number, number] = [0, 0];
    plane.toWgs84(x, y, out);
    return out;
  };
  return { geographic: false, meters: (from, to) => DEGREES.meters(lonLat(from), lonLat(to)) };
}
