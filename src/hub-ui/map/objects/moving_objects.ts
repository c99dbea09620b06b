import type Polygon from 'ol/geom/Polygon.js';
import { type MoveBatch, ROW } from '../../hub/moves.ts';
import { northOf } from '../plane/georeference.ts';
import { mapX, mapY, type Plane, type Position } from '../plane/plane.ts';

/** Positions of a tail. */
export const TAIL = 32;
/** A tail gets a new position when the object has moved this far, in meters: standing objects have none. */
const TAIL_STEP_METERS = 0.15;

/** Facts of one moving object, apart from its numbers. */
export interface ObjectFacts {
  readonly id: string;
  readonly name: string | undefined;
  readonly providerType: string;
}

/**
 * Objects that move on one plane, as columns: thousands of them are read at each frame. An index belongs to an object
 * until everything is forgotten.
 */
export class MovingObjects {
  readonly plane: Plane;
  /** Direction of north on the plane, in degrees clockwise from up. */
  readonly north: number;
  count = 0;
  x = new Float64Array(256);
  y = new Float64Array(256);
  /** Degrees clockwise from north; NaN where unknown. */
  heading = new Float32Array(256);
  /** Meters; NaN where unknown. */
  accuracy = new Float32Array(256);
  floor = new Float32Array(256);
  /** Time of the last location, in milliseconds. */
  lastSeenMs = new Float64Array(256);
  /** 1 for objects that are not there: deleted, or silent at the time in the past that is looked at. */
  removed = new Uint8Array(256);
  /** Which color of its layer it has; 0 is the usual one. */
  group = new Uint8Array(256);
  /** 1 for objects in a fence, as far as names are concerned. */
  inside = new Uint8Array(256);
  /** 1 for objects that are drawn as something else, as `markBy` says. */
  marked = new Uint8Array(256);
  /** The last positions, x and y in turn, as rings of TAIL. */
  tails = new Float64Array(256 * TAIL * 2);
  tailAt = new Uint8Array(256);
  tailLength = new Uint8Array(256);
  facts: ObjectFacts[] = [];
  /** Outlines on the map, x and y in turn. */
  outlines: (Float64Array | undefined)[] = [];
  readonly #indices = new Map<string, number>();
  #isMarked: ((id: string) => boolean) | undefined;

  constructor(plane: Plane) {
    this.plane = plane;
    this.north = northOf(plane);
  }

  indexOf(id: string): number | undefined {
    return this.#indices.get(id);
  }

  /** Map position of an object, or undefined. */
  positionOf(id: string): [number, number] | undefined {
    const index = this.#indices.get(id);
    if (index === undefined || this.removed[index] === 1) return undefined;
    return [this.x[index]!, this.y[index]!];
  }

  /** Marks an object that is no more. It comes back with its next position. */
  remove(id: string): void {
    const index = this.#indices.get(id);
    if (index !== undefined) this.removed[index] = 1;
  }

  /** Marks those that a test holds for, now and when they are met. */
  markBy(isMarked: ((id: string) => boolean) | undefined): void {
    this.#isMarked = isMarked;
    for (let i = 0; i < this.count; i++) this.marked[i] = Number(isMarked?.(this.facts[i]?.id ?? '') === true);
  }

  /** Takes a batch. hot */
  take({ added: fresh, rows, outlines, isReset: isFirst }: MoveBatch, nowMs: number): void {
    if (isFirst) this.#forget();
    for (const { index, ...facts } of fresh) this.#add(index, facts);
    const isEarth = this.plane.kind === 'earth';
    for (let at = 0; at < rows.length; at += ROW) {
      const index = rows[at]!;
      const x = isEarth ? mapX(rows[at + 1]!) : rows[at + 1]!;
      const y = isEarth ? mapY(rows[at + 2]!) : rows[at + 2]!;
      this.move(index, x, y);
      this.heading[index] = rows[at + 3]!;
      this.accuracy[index] = rows[at + 4]!;
      this.floor[index] = rows[at + 5]!;
      // Clocks differ: new locations count as fresh; older ones have their own time.
      this.lastSeenMs[index] = isFirst ? Math.min(nowMs, rows[at + 6]!) : nowMs;
      this.removed[index] = 0;
      this.outlines[index] = undefined;
    }
    this.#takeOutlines(outlines, isEarth);
  }

  /** Adds an object, or returns the index of a known one. It is visible once it has moved and is not `gone`. */
  add(facts: ObjectFacts): number {
    const existing = this.#indices.get(facts.id);
    if (existing !== undefined) return existing;
    this.#add(this.count, facts);
    const index = this.count - 1;
    this.removed[index] = 1;
    this.heading[index] = Number.NaN;
    this.accuracy[index] = Number.NaN;
    return index;
  }

  /** Moves an object to a point of the map; its tail follows. hot */
  move(index: number, x: number, y: number): void {
    const unit = this.plane.kind === 'earth' ? TAIL_STEP_METERS * 1.5 : TAIL_STEP_METERS;
    if (Math.abs(x - this.x[index]!) + Math.abs(y - this.y[index]!) > unit) this.#lengthenTail(index, x, y);
    this.x[index] = x;
    this.y[index] = y;
  }

  /** Forgets where objects have come from, since they are about to be somewhere else. */
  cutTails(): void {
    this.tailAt.fill(0);
    this.tailLength.fill(0);
  }

  #add(index: number, { id, name, providerType }: ObjectFacts): void {
    this.#reserve(index + 1);
    this.facts[index] = { id, name, providerType };
    this.#indices.set(id, index);
    this.marked[index] = Number(this.#isMarked?.(id) === true);
    this.count = Math.max(this.count, index + 1);
  }

  #takeOutlines(outlines: Float64Array, isEarth: boolean): void {
    let at = 0;
    while (at < outlines.length) {
      const index = outlines[at]!;
      const points = outlines[at + 1]!;
      const ring = outlines.slice(at + 2, at + 2 + points * 2);
      if (isEarth) {
        for (let i = 0; i < ring.length; i += 2) {
          ring[i] = mapX(ring[i]!);
          ring[i + 1] = mapY(ring[i + 1]!);
        }
      }
      this.outlines[index] = ring;
      at += 2 + points * 2;
    }
  }

  #lengthenTail(index: number, x: number, y: number): void {
    const at = this.tailAt[index]!;
    const place = (index * TAIL + at) * 2;
    this.tails[place] = x;
    this.tails[place + 1] = y;
    this.tailAt[index] = (at + 1) % TAIL;
    this.tailLength[index] = Math.min(TAIL, this.tailLength[index]! + 1);
  }

  #forget(): void {
    this.count = 0;
    this.facts = [];
    this.outlines = [];
    this.#indices.clear();
    this.group.fill(0);
    this.inside.fill(0);
    this.cutTails();
  }

  #reserve(size: number): void {
    if (size <= this.x.length) return;
    const length = Math.max(size, this.x.length * 2);
    this.x = grown(this.x, new Float64Array(length));
    this.y = grown(this.y, new Float64Array(length));
    this.heading = grown(this.heading, new Float32Array(length));
    this.accuracy = grown(this.accuracy, new Float32Array(length));
    this.floor = grown(this.floor, new Float32Array(length));
    this.lastSeenMs = grown(this.lastSeenMs, new Float64Array(length));
    this.removed = grown(this.removed, new Uint8Array(length));
    this.group = grown(this.group, new Uint8Array(length));
    this.inside = grown(this.inside, new Uint8Array(length));
    this.marked = grown(this.marked, new Uint8Array(length));
    this.tails = grown(this.tails, new Float64Array(length * TAIL * 2));
    this.tailAt = grown(this.tailAt, new Uint8Array(length));
    this.tailLength = grown(this.tailLength, new Uint8Array(length));
  }
}

/** An area on the map; without a floor it is on all of them. */
export interface MapArea {
  readonly extent: readonly number[];
  readonly rings: readonly (readonly Position[])[];
  readonly floor: number | undefined;
}

export function areaOf(polygon: Polygon, floor: number | null | undefined): MapArea {
  return { extent: polygon.getExtent(), rings: polygon.getCoordinates(), floor: floor ?? undefined };
}

/**
 * Finds out which objects are in one of the areas, by where they are now: which names go first need not wait for the timers of
 * the hub. hot: once a second, for all objects
 */
export function markInside(objects: MovingObjects, areas: readonly MapArea[]): void {
  const { count, x, y, floor, inside } = objects;
  inside.fill(0, 0, count);
  for (const area of areas) {
    const [left = 0, bottom = 0, right = 0, top = 0] = area.extent;
    for (let i = 0; i < count; i++) {
      if (inside[i] === 1 || x[i]! < left || x[i]! > right || y[i]! < bottom || y[i]! > top) continue;
      if (area.floor !== undefined && !Number.isNaN(floor[i]!) && floor[i] !== area.floor) continue;
      if (isInRings(area.rings, x[i]!, y[i]!)) inside[i] = 1;
    }
  }
}

/** Whether a line from a point to the right crosses an odd number of edges. */
function isInRings(rings: MapArea['rings'], x: number, y: number): boolean {
  let isIn = false;
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [x0 = 0, y0 = 0] = ring[j]!;
      const [x1 = 0, y1 = 0] = ring[i]!;
      if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) isIn = !isIn;
    }
  }
  return isIn;
}

function grown<T extends Float64Array | Float32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
