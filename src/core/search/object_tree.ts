import type { Fix } from '../location/fix.ts';

/** An object of the tree. */
export interface Positioned {
  readonly kind?: 'provider' | 'trackable';
  readonly fix: Fix | undefined;
}

/** Longitude and latitude of an object with a fix: as sent for a provider, and filtered for a trackable. */
export function lonOf({ kind }: Positioned, fix: Fix): number {
  return kind === 'trackable' ? fix.filteredLon : fix.lon;
}

export function latOf({ kind }: Positioned, fix: Fix): number {
  return kind === 'trackable' ? fix.filteredLat : fix.lat;
}

/** A node of the tree: a rectangle in longitude and latitude, scaled to 0 to 1, with four children or some objects. */
export interface TreeNode<T extends Positioned> {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly depth: number;
  /** First of the codes of the node. A child has a quarter of them, so codes number all positions along a Z-order curve. */
  readonly code: number;
  children: readonly TreeNode<T>[] | undefined;
  entries: TreeEntry<T>[];
}

/** An object and its leaf. */
export interface TreeEntry<T extends Positioned> {
  readonly object: T;
  leaf: TreeNode<T>;
}

const DEPTH_MAX = 26;
/** Number of all codes. A code is exact as a number. */
export const CODES = 4 ** DEPTH_MAX;
const OBJECTS_MAX = 32;
/** Largest scaled coordinate. */
const LAST = 1 - 2 ** -DEPTH_MAX;

/**
 * Quadtree of the last positions of objects, a PR quadtree with buckets (Samet, Foundations of Multidimensional and
 * Metric Data Structures, 2006, ch. 1.4.2). Leaves have at most 32 objects, except at the greatest depth, which is 60
 * cm at the equator. Since leaves adapt to the density, a search needs no scale. An object that moves within its leaf
 * changes nothing.
 */
export class ObjectTree<T extends Positioned> {
  readonly root: TreeNode<T> = leaf<T>(0, 0, 1, { depth: 0, code: 0 });
  readonly #entries = new Map<T, TreeEntry<T>>();
  #nodes = 1;

  get size(): number {
    return this.#entries.size;
  }

  /** Number of nodes. Leaves are not merged, so it may grow beyond the number of objects. */
  get nodes(): number {
    return this.#nodes;
  }

  /** Inserts an object, or updates its position; removes it if it has none. */
  put(object: T): void {
    const { fix } = object;
    if (fix === undefined) {
      this.remove(object);
      return;
    }
    const [x, y] = [scaled(lonOf(object, fix), 360), scaled(latOf(object, fix), 180)];
    const known = this.#entries.get(object);
    if (known !== undefined) {
      if (contains(known.leaf, x, y)) return;
      removeFrom(known.leaf, known);
    }
    let node = this.root;
    while (node.children !== undefined) node = childAt(node, node.children, x, y);
    const entry = known ?? { object, leaf: node };
    if (known === undefined) this.#entries.set(object, entry);
    this.#add(node, entry);
  }

  remove(object: T): void {
    const entry = this.#entries.get(object);
    if (entry === undefined) return;
    this.#entries.delete(object);
    removeFrom(entry.leaf, entry);
  }

  #add(node: TreeNode<T>, entry: TreeEntry<T>): void {
    node.entries.push(entry);
    entry.leaf = node;
    if (node.entries.length > OBJECTS_MAX && node.depth < DEPTH_MAX) this.#split(node);
  }

  #split(node: TreeNode<T>): void {
    const { entries, x, y, depth, code } = node;
    const size = node.size / 2;
    const span = 4 ** (DEPTH_MAX - depth - 1);
    const children = [0, 1, 2, 3].map((i) =>
      leaf<T>(x + size * (i & 1), y + size * (i >> 1), size, { depth: depth + 1, code: code + i * span }),
    );
    node.children = children;
    node.entries = [];
    this.#nodes += children.length;
    for (const entry of entries) {
      const { object } = entry;
      const { fix } = object;
      // An object may have moved since its position was put: it is put again before the next search.
      if (fix === undefined) this.#entries.delete(object);
      else this.#add(childAt(node, children, scaled(lonOf(object, fix), 360), scaled(latOf(object, fix), 180)), entry);
    }
  }
}

/** Number of codes of a node. */
export function spanOf({ depth }: { readonly depth: number }): number {
  return 4 ** (DEPTH_MAX - depth);
}

function leaf<T extends Positioned>(
  x: number,
  y: number,
  size: number,
  { depth, code }: { readonly depth: number; readonly code: number },
): TreeNode<T> {
  return { x, y, size, depth, code, children: undefined, entries: [] };
}

function removeFrom<T extends Positioned>({ entries }: TreeNode<T>, entry: TreeEntry<T>): void {
  const last = entries.pop() as TreeEntry<T>;
  if (last !== entry) entries[entries.indexOf(entry)] = last;
}

/** Scales -range/2 … range/2 to 0 … below 1. */
function scaled(degrees: number, range: number): number {
  return Math.min(LAST, Math.max(0, degrees / range + 0.5));
}

function contains({ x, y, size }: Pick<TreeNode<Positioned>, 'x' | 'y' | 'size'>, atX: number, atY: number): boolean {
  return atX >= x && atX < x + size && atY >= y && atY < y + size;
}

function childAt<T extends Positioned>(
  { x, y, size }: TreeNode<T>,
  children: readonly TreeNode<T>[],
  atX: number,
  atY: number,
): TreeNode<T> {
  const half = size / 2;
  return children[(atX >= x + half ? 1 : 0) + (atY >= y + half ? 2 : 0)] as TreeNode<T>;
}
