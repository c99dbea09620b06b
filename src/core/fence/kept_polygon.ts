import type { StoredFence } from '../../model/fence.ts';

/** Positions of a polygon from which on it is kept in numbers: each costs 100 bytes as an array. */
const LARGE = 1000;

type Ring = readonly (readonly number[])[];

/** A fence whose region, where that is a large polygon, takes a fifth of the memory; it reads and prints the same. */
export function withKeptRegion(fence: StoredFence): StoredFence {
  const { region } = fence;
  if (region.type !== 'Polygon' || region instanceof KeptPolygon) return fence;
  const rings = region.coordinates as readonly Ring[];
  const size = rings[0]?.[0]?.length ?? 0;
  const count = rings.reduce((sum, ring) => sum + ring.length, 0);
  const isEven = rings.every((ring) => ring.every((position) => position.length === size));
  if (count < LARGE || !isEven || Object.keys(region).length !== 2) return fence;
  const flat = rings.map((ring) => flatPositions(ring, size));
  return { ...fence, region: new KeptPolygon(flat, size) as unknown as typeof region };
}

function flatPositions(ring: Ring, size: number): Float64Array {
  const flat = new Float64Array(ring.length * size);
  let at = 0;
  for (const position of ring) for (let i = 0; i < size; i++) flat[at++] = position[i] as number;
  return flat;
}

/** A polygon as flat rings, whose positions are made anew each time that they are read. */
export class KeptPolygon {
  readonly type = 'Polygon';
  /** Numbers of all positions of each ring. */
  readonly rings: readonly Float64Array[];
  /** Numbers of a position. */
  readonly size: number;

  constructor(rings: readonly Float64Array[], size: number) {
    this.rings = rings;
    this.size = size;
  }

  get coordinates(): number[][][] {
    const { rings, size } = this;
    return rings.map((flat) =>
      Array.from({ length: flat.length / size }, (_, i) => [...flat.subarray(i * size, (i + 1) * size)]),
    );
  }

  /** The lowest height of the exterior; 0 where positions have none. */
  get base(): number {
    const { rings, size } = this;
    if (size < 3) return 0;
    let base = Number.POSITIVE_INFINITY;
    for (let i = 2; i < (rings[0]?.length ?? 0); i += size) base = Math.min(base, rings[0]?.[i] as number);
    return base;
  }

  toJSON(): object {
    return { type: this.type, coordinates: this.coordinates };
  }
}
