// hot: run for each pair of neighbours, see bench/kernel/collisions.bench.ts
import type { Body, Moved } from './body.ts';
import type { Area } from './contact.ts';
import { gapMetres } from './shapes.ts';

/**
 * Whether two trackables can collide at all: both take part, at least one has an extent, and neither carries the
 * other nor shares a provider with it, which would put them in the same place for ever.
 */
export function mayCollide(a: Body, b: Body): boolean {
  if (a.reachMetres <= 0 && b.reachMetres <= 0) return false;
  const one = a.motion;
  const other = b.motion;
  if (!one.collides || !other.collides) return false;
  if (one.ancestors.includes(other.id) || other.ancestors.includes(one.id)) return false;
  for (let i = 0; i < one.providers.length; i++) {
    if (other.providers.includes(one.providers[i]!)) return false;
  }
  return true;
}

/** How two trackables are to each other: touching, apart by at most the tolerance, or out of reach. */
export function areaOf(a: Body, b: Body, toleranceMetres: number): Area {
  if (!shareHeight(a.motion, b.motion)) return 'out';
  const gap = gapMetres(a, b, toleranceMetres);
  if (gap === 0) return 'touching';
  return gap <= toleranceMetres ? 'near' : 'out';
}

/**
 * Whether two trackables are on one floor and their heights meet. A trackable without extrusion has every height, and
 * heights measured from different things, or unknown ones, fit any.
 */
function shareHeight(a: Moved, b: Moved): boolean {
  if (a.floor !== b.floor) return false;
  if (a.z === undefined || b.z === undefined) return true;
  if (a.extrusion === undefined || b.extrusion === undefined) return true;
  if (a.elevationRef !== b.elevationRef) return true;
  return a.z <= b.z + b.extrusion && b.z <= a.z + a.extrusion;
}
