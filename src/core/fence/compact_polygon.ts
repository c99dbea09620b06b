import type { StoredFence } from '../../model/fence.ts';

/** Polygons with at least this many positions are stored flat. A position costs 100 bytes as an array. */
const LARGE_POSITIONS = 1000;

type Ring = readonly (readonly number[])[];

/**
 * Returns the fence with a large polygon stored flat, in a fifth of the memory. Reading and serializing it give the
 * same result.
 */
export function withCompactRegion(fence: StoredFence): StoredFence {
  const { region } = fence;
  if (region.type !== 'Polygon' || region instanceof CompactPolygon) return fence;
  const rings = region.coordinates as readonly Ring[];
  const size = rings[0]?.[0]?.length ?? 0;
  const count = rings.reduce((sum, ring) => sum + ring.length, 0);
  const isEven = rings.every((ring) => ring.every((position) => position.length === size));
  if (count < LARGE_POSITIONS || !isEven || Object.keys(region).length !== 2) return fence;
  const flat = rings.map((ring) => flatPositions(ring, size));
  return { ...fence, region: new CompactPolygon(flat, size) as unknown as typeof region };
}

function flatPositions(ring: Ring, size: number): Float64Array {
  const flat = new Float64Array(ring.length * size);
  let at = 0;
  for (const position of ring) for (let i = 0; i < size; i++) flat[at++] = position[i] as number;
  return flat;
}

/** A polygon stored as flat rings. `coordinates` creates its positions on each read. */
export class CompactPolygon {
  readonly type = 'Polygon';
  /** Coordinates of all positions, one array per ring. */
  readonly rings: readonly Float64Array[];
  /** Numbers per position. */
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

  /** Lowest height of the exterior; 0 if its positions have no height. */
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
