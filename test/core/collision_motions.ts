import { type Body, locate, newBody, newSite } from '../../src/core/collision/body.ts';
import { destination } from '../../src/core/geo/geodesic.ts';
import type { Motion, TrackableMotion } from '../../src/core/motion/motion.ts';

/** Default tangent point of the plane. */
export const ORIGIN = { lon: 8.68, lat: 50.11 };

/** Longitude and latitude of the position some meters east and north of an origin, by the exact geodesic. */
export function placeAt(east: number, north: number, origin = ORIGIN): { lon: number; lat: number } {
  const out: [number, number] = [0, 0];
  destination(origin.lon, origin.lat, (Math.atan2(east, north) * 180) / Math.PI, Math.hypot(east, north), out);
  return { lon: out[0], lat: out[1] };
}

/** Closed ring of vertices, given in meters from an origin. */
export function ringAt(vertices: readonly (readonly [number, number])[], origin = ORIGIN): Float64Array {
  const closed = [...vertices, vertices[0] as readonly [number, number]];
  return Float64Array.from(
    closed.flatMap(([east, north]) => {
      const { lon, lat } = placeAt(east, north, origin);
      return [origin.lon + wrapped(lon - origin.lon), lat];
    }),
  );
}

function wrapped(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}

/** Motion of a trackable without tolerances; by default a point at the origin. */
export function moved(id: string, atMs: number, more: Partial<TrackableMotion> = {}): TrackableMotion {
  return {
    kind: 'moved',
    seq: 0,
    id,
    receivedMs: atMs,
    eventTimeMs: atMs,
    ...ORIGIN,
    z: undefined,
    elevationRef: 'floor',
    levelMeters: undefined,
    floor: 0,
    extrusion: undefined,
    collides: true,
    radiusMeters: 0,
    ring: undefined,
    exitToleranceMeters: 0,
    toleranceTimeoutMs: undefined,
    exitDelayMs: undefined,
    providers: [`provider of ${id}`],
    ancestors: [],
    ...more,
  };
}

export function gone(id: string, receivedMs: number): Motion {
  return { kind: 'gone', seq: 0, id, receivedMs };
}

/** Body of a motion, as the stage creates it. */
export function bodyOf(motion: TrackableMotion): Body {
  const body = newBody(motion);
  const site = newSite();
  locate(motion, undefined, site);
  body.x = site.space[0] as number;
  body.y = site.space[1] as number;
  body.z = site.space[2] as number;
  body.reachMeters = site.reachMeters;
  body.ring = site.ring;
  return body;
}
