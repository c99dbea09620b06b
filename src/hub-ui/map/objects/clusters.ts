import { CELL, isCrowded, type Spread } from './density.ts';
import { createEmpty, extendCoordinate } from 'ol/extent.js';

/** Objects close together, drawn as one circle with their number. */
export interface Cluster {
  readonly x: number;
  readonly y: number;
  readonly count: number;
  /** Indices of the objects. */
  readonly members: readonly number[];
}

/** Cell size in dense areas. Fewer and larger clusters leave more of the map visible. */
const LARGE_CELL = 104;
/** Minimum distance at which two objects are drawn separately. */
const PAIR_PIXELS = 16;

interface ClusterDraft {
  x: number;
  y: number;
  members: number[];
}

/**
 * Groups nearby objects into clusters. Removes their members from the objects on screen; single objects and `keep` stay. The
 * grid of cells starts at `origin`, a point of the map, so that dragging the map does not change the clusters. hot: once per
 * frame
 */
export function clusterObjects(
  screen: Spread,
  {
    origin: [originX, originY],
    keep,
  }: { readonly origin: readonly [x: number, y: number]; readonly keep?: number | undefined },
): Cluster[] {
  const side = isCrowded(screen) ? LARGE_CELL : CELL;
  const cells = new Map<number, number[]>();
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const column = Math.floor((screen.x[i]! - originX) / side);
    const key = column * 4_194_304 + Math.floor((screen.y[i]! - originY) / side);
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [i]);
    else cell.push(i);
  }
  const alone: number[] = [];
  const large: ClusterDraft[] = [];
  for (const indices of cells.values()) {
    const members = keep === undefined ? indices : indices.filter((i) => i !== keep);
    if (members.length !== indices.length) alone.push(keep as number);
    if (isCluster(screen, members)) large.push({ ...middleOf(screen, members), members });
    else alone.push(...members);
  }
  const clusters = apart(large);
  let drawn = 0;
  for (const i of alone) {
    const below = i === keep ? undefined : clusters.find((each) => isWithin(each, screen.x[i]!, screen.y[i]!));
    if (below === undefined) screen.indices[drawn++] = i;
    else below.members.push(i);
  }
  screen.drawn = drawn;
  return clusters.map(({ x, y, members }) => ({ x, y, count: members.length, members }));
}

function isCluster({ x, y }: Spread, [one = 0, other = 0, ...more]: readonly number[]): boolean {
  if (more.length > 0) return true;
  return one !== other && Math.hypot(x[one]! - x[other]!, y[one]! - y[other]!) < PAIR_PIXELS;
}

function middleOf({ x, y }: Spread, members: readonly number[]): { x: number; y: number } {
  let [sumX, sumY] = [0, 0];
  for (const i of members) {
    sumX += x[i]!;
    sumY += y[i]!;
  }
  return { x: sumX / members.length, y: sumY / members.length };
}

/** Merges overlapping clusters, the smaller into the larger. */
function apart(clusters: readonly ClusterDraft[]): ClusterDraft[] {
  const joined: ClusterDraft[] = [];
  for (const cluster of [...clusters].sort((a, b) => b.members.length - a.members.length)) {
    const radius = radiusOf(cluster.members.length);
    const near = joined.find(({ x, y, members }) => {
      const reach = radius + radiusOf(members.length);
      return (x - cluster.x) ** 2 + (y - cluster.y) ** 2 < reach * reach;
    });
    if (near === undefined) {
      joined.push(cluster);
      continue;
    }
    const share = cluster.members.length / (near.members.length + cluster.members.length);
    near.x += (cluster.x - near.x) * share;
    near.y += (cluster.y - near.y) * share;
    near.members.push(...cluster.members);
  }
  return joined;
}

function isWithin({ x, y, members }: ClusterDraft, px: number, py: number): boolean {
  const radius = radiusOf(members.length) + 4;
  return (x - px) ** 2 + (y - py) ** 2 < radius * radius;
}

/** The cluster at a pixel of the screen. */
export function clusterAt(clusters: readonly Cluster[], [px = 0, py = 0]: readonly number[]): Cluster | undefined {
  return clusters.find(({ x, y, count }) => Math.hypot(x - px, y - py) <= radiusOf(count));
}

/** Bounding boxes of clusters in pixels of the screen: left, top, right and bottom of each. */
export function boxesOf(clusters: readonly Cluster[]): number[] {
  return clusters.flatMap(({ x, y, count }) => {
    const radius = radiusOf(count);
    return [x - radius, y - radius, x + radius, y + radius];
  });
}

/** Bounds of the members of a cluster on the map: left, bottom, right and top. */
export function extentOf(
  { members }: Cluster,
  { x, y }: { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> },
): readonly number[] {
  const extent = createEmpty();
  for (const i of members) extendCoordinate(extent, [x[i]!, y[i]!]);
  return extent;
}

/** Radius of the circle of a cluster by its count, in pixels. */
export function radiusOf(count: number): number {
  // A number of four digits with a separator needs the most room.
  return Math.min(28, 11 + Math.log2(count) * 1.6);
}
