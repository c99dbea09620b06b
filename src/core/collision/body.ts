// hot: run for each motion, see bench/kernel/collisions.bench.ts

import { toEcef } from '../geo/ecef.ts';
import type { Moved } from '../motion/motion.ts';
import type { Contact } from './contact.ts';
import type { Celled } from './grid.ts';

/** A trackable that takes part in collisions, where it was last. */
export interface Body extends Celled {
  motion: Moved;
  /** Whether it has moved since this stage knows it: otherwise its place may be of a moment before. */
  isHeardOf: boolean;
  /** Vertices of its ring in space: x, y, z, x …; undefined for a circle or point. */
  ring: Float64Array | undefined;
  /** The collisions it is in, ordered by the id of the other. */
  readonly contacts: Contact[];
  /** Its part of event texts, by the index of the variant, and the rendering epoch they belong to. */
  texts: (string | undefined)[];
  textsEpoch: number;
}

/** Where a motion is in space. One such value is written again and again. */
export interface Site {
  readonly space: Float64Array;
  /** Greatest distance of any part of the shape from the position; 0 for a point. */
  reachMetres: number;
  ring: Float64Array | undefined;
}

export function newSite(): Site {
  return { space: new Float64Array(3), reachMetres: 0, ring: undefined };
}

export function newBody(motion: Moved): Body {
  return {
    motion,
    isHeardOf: false,
    x: 0,
    y: 0,
    z: 0,
    reachMetres: 0,
    level: 0,
    seenIn: 0,
    ring: undefined,
    contacts: [],
    texts: [],
    textsEpoch: 0,
  };
}

/** Finds the place of a motion. The memory of `reuse`, the body's last ring, is used again where it fits. */
export function locate(motion: Moved, reuse: Float64Array | undefined, out: Site): void {
  toEcef(motion.lon, motion.lat, out.space, 0);
  const { ring } = motion;
  out.ring = undefined;
  out.reachMetres = motion.radiusMetres;
  if (ring === undefined) return;
  const points = ring.length >> 1;
  const space = reuse?.length === 3 * points ? reuse : new Float64Array(3 * points);
  let reachSquared = 0;
  for (let i = 0; i < points; i++) {
    toEcef(ring[2 * i]!, ring[2 * i + 1]!, space, 3 * i);
    const dx = space[3 * i]! - out.space[0]!;
    const dy = space[3 * i + 1]! - out.space[1]!;
    const dz = space[3 * i + 2]! - out.space[2]!;
    reachSquared = Math.max(reachSquared, dx * dx + dy * dy + dz * dz);
  }
  out.ring = space;
  out.reachMetres = Math.sqrt(reachSquared);
}
