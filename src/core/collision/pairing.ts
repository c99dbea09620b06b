// hot: runs for each pair of neighbors, see bench/kernel/collisions.bench.ts
import type { TrackableMotion } from '../motion/motion.ts';
import type { Body } from './body.ts';
import type { PairArea } from './hold.ts';
import { gapMeters } from './shapes.ts';

/**
 * Whether two trackables can collide: both take part, at least one has an extent, neither carries the other, and they
 * share no provider. Trackables with a common provider or carrier would always be at the same position.
 */
export function mayCollide(a: Body, b: Body): boolean {
  if (a.reachMeters <= 0 && b.reachMeters <= 0) return false;
  const one = a.motion;
  const other = b.motion;
  if (!one.collides || !other.collides) return false;
  if (one.ancestors.includes(other.id) || other.ancestors.includes(one.id)) return false;
  for (let i = 0; i < one.providers.length; i++) {
    if (other.providers.includes(one.providers[i]!)) return false;
  }
  return true;
}

/** Returns the area of a pair: touching, apart by at most the tolerance, or out of reach. */
export function areaOf(a: Body, b: Body, toleranceMeters: number): PairArea {
  if (!shareHeight(a.motion, b.motion)) return 'out';
  const gap = gapMeters(a, b, toleranceMeters);
  if (gap === 0) return 'touching';
  return gap <= toleranceMeters ? 'near' : 'out';
}

/**
 * Whether two trackables are on one floor and their heights overlap. A trackable without extrusion has every height. A
 * height overlaps every other if it is unknown, or if no zone relates its reference to the other's.
 */
function shareHeight(a: TrackableMotion, b: TrackableMotion): boolean {
  if (a.floor !== b.floor) return false;
  if (a.z === undefined || b.z === undefined) return true;
  if (a.extrusion === undefined || b.extrusion === undefined) return true;
  const apart = apartMeters(a, b);
  if (apart === undefined) return true;
  const z = a.z + apart;
  return z <= b.z + b.extrusion && b.z <= z + a.extrusion;
}

/** Returns how far the reference of `a` lies above that of `b`, in meters; undefined if unknown. */
function apartMeters(a: TrackableMotion, b: TrackableMotion): number | undefined {
  if (a.elevationRef === b.elevationRef) return 0;
  const [onFloor, other] = a.elevationRef === 'wgs84' ? [b, a] : [a, b];
  const level = onFloor.levelMeters ?? other.levelMeters;
  if (level === undefined) return undefined;
  return onFloor === a ? level : -level;
}
