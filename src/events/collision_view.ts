import type { PlaneTransform } from '../core/geo/crs.ts';
import { writeInPlane } from '../core/zone/view.ts';
import type { CollisionEvent } from '../model/events.ts';

/**
 * Returns a collision event, given in EPSG:4326, with its coordinates in a plane; undefined if the plane does not reach
 * both trackables. As in subscriptions, an intersection out of range is left out.
 */
export function collisionIn(json: string, plane: PlaneTransform): string | undefined {
  const { collisions, collision_area: area, ...rest } = JSON.parse(json) as CollisionEvent;
  const moved = collisions.map((one) => {
    const [position, geometry] = [inPlane(one.position, plane), inPlane(one.geometry, plane)];
    if (position === 'outside' || geometry === 'outside') return undefined;
    return { ...one, ...(position && { position }), ...(geometry && { geometry }) };
  });
  if (moved.includes(undefined)) return undefined;
  const movedArea = inPlane(area ?? undefined, plane);
  const { center_distance, ...head } = rest;
  return JSON.stringify({
    ...head,
    collisions: moved,
    ...(movedArea !== undefined && movedArea !== 'outside' && { collision_area: movedArea }),
    center_distance,
  });
}

interface Geometry {
  readonly type: string;
  readonly coordinates: unknown;
}

function inPlane<G extends Geometry>(geometry: G | undefined, plane: PlaneTransform): G | 'outside' | undefined {
  if (geometry === undefined) return undefined;
  let isInside = true;
  const convert = (coordinates: unknown): unknown => {
    const [first, second, ...more] = coordinates as readonly unknown[];
    if (typeof first !== 'number') return (coordinates as readonly unknown[]).map(convert);
    const out: [number, number] = [0, 0];
    isInside &&= writeInPlane(first, second as number, plane, out);
    return [...out, ...more];
  };
  const coordinates = convert(geometry.coordinates);
  return isInside ? { ...geometry, coordinates } : 'outside';
}
