import { BASE_CELLS, DIGITS, FINEST_RESOLUTION, PATH_LENGTH, writeCellPath } from '../../wasm/h3.ts';
import { type Ball, ballOfBox, type LonLatBox } from './lon_lat_box.ts';

/**
 * Prefilter of fences by position: a tree of H3 cells.
 *
 * A fence belongs to the cell around its middle, at a resolution at which cells are larger than the fence, or coarser:
 * a cell is divided into its children only once it has more than LEAF_SLOTS fences. H3 is only used to group nearby
 * fences. Child cells extend beyond their parents and fences beyond their cells, so every node stores a ball around all
 * fences below it, and a search follows the balls. So no fence is missed, whatever the shape of cells, including at
 * poles and pentagons.
 */
export class FenceTree {
  readonly #roots: (Node | undefined)[] = new Array(BASE_CELLS).fill(undefined);
  readonly #nodes: (Node | undefined)[] = [];
  /** Index of each slot in its node. */
  #places = new Int32Array(64);
  #paths = new Uint8Array(64 * PATH_LENGTH);
  /** Four numbers per slot: x, y, z and radius of the ball around the fence. */
  #balls = new Float64Array(64 * 4);
  /** Four numbers per slot: middle longitude, half width, south, north. */
  #boxes = new Float64Array(64 * 4);

  /** Four numbers per slot: middle longitude, half width, south and north of its box. Replaced when slots are added. */
  get boxes(): Float64Array {
    return this.#boxes;
  }

  insert(slot: number, box: LonLatBox): void {
    this.#reserve(slot);
    const ball = ballOfBox(box);
    this.#balls.set([ball.x, ball.y, ball.z, ball.radius], slot * 4);
    this.#boxes.set([box.lon, box.halfWidth, box.south, box.north], slot * 4);
    const middle = (Math.max(-90, box.south) + Math.min(90, box.north)) / 2;
    writeCellPath({ lon: box.lon, lat: middle }, this.#paths, slot * PATH_LENGTH);
    const base = this.#paths[slot * PATH_LENGTH]!;
    let node = this.#roots[base];
    if (node === undefined) {
      node = new Node(undefined, base, ball);
      this.#roots[base] = node;
    }
    this.#place(slot, node, finestResolution(ball.radius));
  }

  /** Removes a slot; unknown slots are ignored. */
  remove(slot: number): void {
    const node = this.#nodes[slot];
    if (node === undefined) return;
    this.#nodes[slot] = undefined;
    // An empty box, which overlaps nothing.
    this.#boxes.set([0, -1, Infinity, -Infinity], slot * 4);
    this.#take(slot, node);
    for (let empty: Node | undefined = node; empty?.isEmpty(); empty = empty.parent) {
      if (empty.parent === undefined) this.#roots[empty.digit] = undefined;
      else empty.parent.dropChild(empty.digit);
    }
  }

  /**
   * Writes the slots whose boxes overlap the box into `found`, unordered, and returns their number. Stops and returns
   * `limit` if there are at least that many.
   */
  search(box: LonLatBox, found: number[], limit: number): number {
    const ball = ballOfBox(box);
    const stack: Node[] = [];
    for (const root of this.#roots) {
      if (root?.touches(ball)) stack.push(root);
    }
    found.length = 0;
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      this.#collect(node.slots, box, found);
      if (found.length >= limit) return limit;
      const { children } = node;
      if (children === undefined) continue;
      for (let digit = 0; digit < DIGITS; digit++) {
        const child = children[digit];
        if (child?.touches(ball)) stack.push(child);
      }
    }
    return found.length;
  }

  /** Writes the given slots whose boxes overlap the box into `found`, in order, and returns their number. */
  // hot
  overlapping(slots: Int32Array, box: LonLatBox, found: Int32Array): number {
    let count = 0;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (overlaps(this.#boxes, slot, box)) found[count++] = slot;
    }
    return count;
  }

  // hot
  #collect(slots: readonly number[], box: LonLatBox, found: number[]): void {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (overlaps(this.#boxes, slot, box)) found.push(slot);
    }
  }

  /** Inserts a slot into the node or below it; the balls on the path grow around it. */
  #place(slot: number, from: Node, finest: number): void {
    let node = from;
    for (;;) {
      node.grow(this.#balls, slot);
      if (node.resolution >= finest || node.children === undefined) break;
      node = this.#childFor(slot, node);
    }
    this.#put(slot, node);
    if (node.children === undefined && node.slots.length > LEAF_SLOTS) this.#divide(node);
  }

  /** Moves the fences of a leaf that are small enough to its children. */
  #divide(node: Node): void {
    if (node.resolution >= FINEST_RESOLUTION) return;
    const movable = node.slots.filter((slot) => finestResolution(this.#balls[slot * 4 + 3]!) > node.resolution);
    if (movable.length <= LEAF_SLOTS) return;
    node.children = new Array(DIGITS).fill(undefined);
    for (const slot of movable) {
      this.#take(slot, node);
      this.#place(slot, this.#childFor(slot, node), finestResolution(this.#balls[slot * 4 + 3]!));
    }
  }

  #childFor(slot: number, node: Node): Node {
    const digit = this.#paths[slot * PATH_LENGTH + node.resolution + 1]!;
    const children = node.children as (Node | undefined)[];
    let child = children[digit];
    if (child === undefined) {
      const at = slot * 4;
      const balls = this.#balls;
      child = new Node(node, digit, { x: balls[at]!, y: balls[at + 1]!, z: balls[at + 2]!, radius: balls[at + 3]! });
      children[digit] = child;
    }
    return child;
  }

  #put(slot: number, node: Node): void {
    this.#nodes[slot] = node;
    this.#places[slot] = node.slots.push(slot) - 1;
  }

  #take(slot: number, node: Node): void {
    const place = this.#places[slot]!;
    const last = node.slots.pop()!;
    if (last === slot) return;
    node.slots[place] = last;
    this.#places[last] = place;
  }

  #reserve(slot: number): void {
    if (slot < this.#places.length) return;
    const size = Math.max(slot + 1, this.#places.length * 2);
    this.#places = enlarged(this.#places, new Int32Array(size));
    this.#paths = enlarged(this.#paths, new Uint8Array(size * PATH_LENGTH));
    this.#balls = enlarged(this.#balls, new Float64Array(size * 4));
    this.#boxes = enlarged(this.#boxes, new Float64Array(size * 4));
  }
}

const LEAF_SLOTS = 24;

function enlarged<T extends Int32Array | Uint8Array | Float64Array>(before: T, after: T): T {
  after.set(before);
  return after;
}

/**
 * Returns the finest resolution at which cells are larger than a fence. Cells shrink by the square root of 7 per
 * resolution.
 */
function finestResolution(radius: number): number {
  if (radius <= 0) return FINEST_RESOLUTION;
  const resolution = Math.floor(Math.log(COARSEST_EDGE / (2 * radius)) / Math.log(Math.sqrt(DIGITS)));
  return Math.max(0, Math.min(FINEST_RESOLUTION, resolution));
}

/** Mean length of the edges of base cells, relative to the radius of the earth. */
const COARSEST_EDGE = 0.2;

/** Whether the box of a slot overlaps another box. */
// hot
function overlaps(boxes: Float64Array, slot: number, { lon, halfWidth, south, north }: LonLatBox): boolean {
  const at = slot * 4;
  if (boxes[at + 2]! > north || boxes[at + 3]! < south) return false;
  const apart = Math.abs(boxes[at]! - lon);
  return (apart > 180 ? 360 - apart : apart) <= boxes[at + 1]! + halfWidth;
}

class Node {
  readonly parent: Node | undefined;
  readonly digit: number;
  readonly resolution: number;
  readonly slots: number[] = [];
  children: (Node | undefined)[] | undefined;
  readonly #x: number;
  readonly #y: number;
  readonly #z: number;
  /** Only grows: the ball still includes removed fences until the node is empty and removed. */
  #radius: number;

  constructor(parent: Node | undefined, digit: number, { x, y, z, radius }: Ball) {
    this.parent = parent;
    this.digit = digit;
    this.resolution = parent === undefined ? 0 : parent.resolution + 1;
    this.#x = x;
    this.#y = y;
    this.#z = z;
    this.#radius = radius;
  }

  grow(balls: Float64Array, slot: number): void {
    const at = slot * 4;
    const dx = balls[at]! - this.#x;
    const dy = balls[at + 1]! - this.#y;
    const dz = balls[at + 2]! - this.#z;
    const radius = Math.sqrt(dx * dx + dy * dy + dz * dz) + balls[at + 3]!;
    if (radius > this.#radius) this.#radius = radius;
  }

  // hot
  touches(ball: Ball): boolean {
    const dx = ball.x - this.#x;
    const dy = ball.y - this.#y;
    const dz = ball.z - this.#z;
    const reach = ball.radius + this.#radius;
    return dx * dx + dy * dy + dz * dz <= reach * reach;
  }

  isEmpty(): boolean {
    return this.slots.length === 0 && this.children === undefined;
  }

  dropChild(digit: number): void {
    const children = this.children as (Node | undefined)[];
    children[digit] = undefined;
    if (children.every((child) => child === undefined)) this.children = undefined;
  }
}
