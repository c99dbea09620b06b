// hot: runs for each pair of neighbors with a polygon, see bench/kernel/collisions.bench.ts
/**
 * Closed rings in a plane, x, y, x … in meters, the last point equal to the first. A ring may cross itself: a point is
 * inside if a ray from it crosses an odd number of edges.
 */

export function contains(ring: Float64Array, x: number, y: number): boolean {
  let inside = false;
  for (let i = 2; i < ring.length; i += 2) {
    const x0 = ring[i - 2]!;
    const y0 = ring[i - 1]!;
    const x1 = ring[i]!;
    const y1 = ring[i + 1]!;
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
  }
  return inside;
}

/**
 * Returns the distance of a point to the nearest edge, also from inside. `nearest`, if given, receives the nearest
 * point.
 */
export function edgeMeters(ring: Float64Array, x: number, y: number, nearest?: [number, number]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 2; i < ring.length; i += 2) {
    const x0 = ring[i - 2]!;
    const y0 = ring[i - 1]!;
    const dx = ring[i]! - x0;
    const dy = ring[i + 1]! - y0;
    const lengthSquared = dx * dx + dy * dy;
    let along = lengthSquared === 0 ? 0 : ((x - x0) * dx + (y - y0) * dy) / lengthSquared;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    const awayX = x0 + along * dx - x;
    const awayY = y0 + along * dy - y;
    const squared = awayX * awayX + awayY * awayY;
    if (squared >= best) continue;
    best = squared;
    if (nearest !== undefined) {
      nearest[0] = x + awayX;
      nearest[1] = y + awayY;
    }
  }
  return Math.sqrt(best);
}

/** Returns the distance between two rings; 0 if they touch or overlap. */
export function ringGapMeters(a: Float64Array, b: Float64Array): number {
  if (contains(a, b[0]!, b[1]!) || contains(b, a[0]!, a[1]!)) return 0;
  if (crossings(a, b, 1).length > 0) return 0;
  // Rings that do not cross are nearest at a vertex of one of them.
  return Math.min(vertexMeters(a, b), vertexMeters(b, a));
}

/**
 * Returns the distance of the vertices of `of` to the nearest edge of `ring`. `nearest` receives the point on the edge.
 */
export function vertexMeters(ring: Float64Array, of: Float64Array, nearest?: [number, number]): number {
  const found: [number, number] = [0, 0];
  let best = Number.POSITIVE_INFINITY;
  for (let i = 2; i < of.length; i += 2) {
    const distance = edgeMeters(ring, of[i]!, of[i + 1]!, found);
    if (distance >= best) continue;
    best = distance;
    if (nearest !== undefined) {
      nearest[0] = found[0];
      nearest[1] = found[1];
    }
  }
  return best;
}

/** Returns the crossings of the edges of two rings, x, y, x …; at most `most` points. Collinear edges do not cross. */
export function crossings(a: Float64Array, b: Float64Array, most = Number.POSITIVE_INFINITY): number[] {
  const found: number[] = [];
  for (let i = 2; i < a.length; i += 2) {
    const ax = a[i - 2]!;
    const ay = a[i - 1]!;
    const adx = a[i]! - ax;
    const ady = a[i + 1]! - ay;
    for (let j = 2; j < b.length; j += 2) {
      const bx = b[j - 2]! - ax;
      const by = b[j - 1]! - ay;
      const bdx = b[j]! - b[j - 2]!;
      const bdy = b[j + 1]! - b[j - 1]!;
      const cross = adx * bdy - ady * bdx;
      if (cross === 0) continue;
      const alongA = (bx * bdy - by * bdx) / cross;
      if (alongA < 0 || alongA > 1) continue;
      const alongB = (bx * ady - by * adx) / cross;
      if (alongB < 0 || alongB > 1) continue;
      found.push(ax + alongA * adx, ay + alongA * ady);
      if (found.length >= 2 * most) return found;
    }
  }
  return found;
}

/**
 * Returns two points that are far apart, as x, y, x, y: the point farthest from the first one, and the point farthest
 * from that.
 */
export function widest(points: ArrayLike<number>): [number, number, number, number] {
  const one = farthest(points, points[0]!, points[1]!);
  const other = farthest(points, points[one]!, points[one + 1]!);
  return [points[one]!, points[one + 1]!, points[other]!, points[other + 1]!];
}

function farthest(points: ArrayLike<number>, x: number, y: number): number {
  let index = 0;
  let most = -1;
  for (let i = 0; i < points.length; i += 2) {
    const dx = points[i]! - x;
    const dy = points[i + 1]! - y;
    const squared = dx * dx + dy * dy;
    if (squared <= most) continue;
    most = squared;
    index = i;
  }
  return index;
}
