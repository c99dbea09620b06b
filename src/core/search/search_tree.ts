import { CODES, latOf, lonOf, type ObjectTree, type Positioned, spanOf, type TreeNode } from './object_tree.ts';
import { type DistanceBound, metersBetween, type SearchRegion } from './search_area.ts';

interface Located extends Positioned {
  readonly id: string;
}

/** A point with the bound of distances from it. */
export interface SearchOrigin {
  readonly lon: number;
  readonly lat: number;
  readonly bound: DistanceBound;
}

/** Conditions of a search. */
export interface SearchTerms<T extends Located> {
  /** Orders the result by distance; without it, objects are found in the order of their codes. */
  readonly near: SearchOrigin | undefined;
  /** Greatest distance from `near` in meters; Infinity for any. */
  readonly radius: number;
  readonly region: SearchRegion | undefined;
  /** Maximum number of objects. */
  readonly most: number;
  /** Further conditions on an object that has a fix. */
  accepts(object: T): boolean;
}

export interface FoundObject<T> {
  readonly object: T;
  /** Meters; 0 without `near`. */
  readonly distance: number;
}

/** The objects found, by distance and then id, and the code from which to continue; undefined at the end. */
export interface SearchSlice<T> {
  readonly found: readonly FoundObject<T>[];
  readonly next: number | undefined;
}

/**
 * Returns the nearest objects, evaluating those of nearer leaves first. Undefined if that would evaluate more than
 * `budget` objects.
 */
export function nearestObjects<T extends Located>(
  tree: ObjectTree<T>,
  terms: SearchTerms<T> & { readonly near: SearchOrigin },
  budget: number,
): readonly FoundObject<T>[] | undefined {
  const results = new Results(terms);
  const { bound } = terms.near;
  let left = budget;
  const visit = (node: TreeNode<T>): boolean => {
    if (terms.region?.mayTouch(node) === false || bound(node) > results.limit) return true;
    if (node.children === undefined) {
      left -= node.entries.length;
      if (left < 0) return false;
      for (const { object } of node.entries) results.offer(object);
      return true;
    }
    const ordered = node.children.map((child) => [bound(child), child] as const).sort(([a], [b]) => a - b);
    return ordered.every(([, child]) => visit(child));
  };
  return visit(tree.root) ? results.found : undefined;
}

/** Evaluates about `budget` objects, beginning at a code. */
export function searchSlice<T extends Located>(
  tree: ObjectTree<T>,
  terms: SearchTerms<T>,
  { from, budget }: { readonly from: number; readonly budget: number },
): SearchSlice<T> {
  const results = new Results(terms);
  let left = budget;
  let next: number | undefined;
  const visit = (node: TreeNode<T>): void => {
    const end = node.code + spanOf(node);
    if (next !== undefined || end <= from || terms.region?.mayTouch(node) === false) return;
    if (terms.near !== undefined && terms.near.bound(node) > results.limit) return;
    if (node.children !== undefined) {
      for (const child of node.children) visit(child);
      return;
    }
    if (left <= 0 || (terms.near === undefined && results.found.length >= terms.most)) {
      next = Math.max(node.code, from);
      return;
    }
    left -= node.entries.length;
    for (const { object } of node.entries) results.offer(object);
  };
  visit(tree.root);
  return { found: results.found, next: next === undefined || next >= CODES ? undefined : next };
}

/** Evaluates listed objects. */
export function searchList<T extends Located>(objects: Iterable<T>, terms: SearchTerms<T>): readonly FoundObject<T>[] {
  const results = new Results(terms);
  for (const object of objects) results.offer(object);
  return results.found;
}

/** The best results so far. */
class Results<T extends Located> {
  readonly found: FoundObject<T>[] = [];
  readonly #terms: SearchTerms<T>;
  /** Greatest distance that a further result can have. */
  limit: number;

  constructor(terms: SearchTerms<T>) {
    this.#terms = terms;
    this.limit = terms.radius;
  }

  // hot
  offer(object: T): void {
    const { near, region, most, accepts } = this.#terms;
    const { fix } = object;
    if (fix === undefined) return;
    const [lon, lat] = [lonOf(object, fix), latOf(object, fix)];
    const distance = near === undefined ? 0 : metersBetween(near.lon, near.lat, lon, lat);
    if (distance > this.limit || region?.contains(lon, lat) === false || !accepts(object)) return;
    const { found } = this;
    if (near === undefined) {
      found.push({ object, distance });
      return;
    }
    let [low, high] = [0, found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = found[middle] as FoundObject<T>;
      if (other.distance < distance || (other.distance === distance && other.object.id < object.id)) low = middle + 1;
      else high = middle;
    }
    found.splice(low, 0, { object, distance });
    if (found.length > most) found.pop();
    if (found.length === most) this.limit = (found.at(-1) as FoundObject<T>).distance;
  }
}
