import type Polygon from 'ol/geom/Polygon.js';
import { type MoveBatch, ROW } from '../../hub/moves.ts';
import { northOf } from '../plane/georeference.ts';
import { mapX, mapY, type Plane, type Position } from '../plane/plane.ts';
import { Glides, type GlideView } from './glides.ts';

/** Number of positions in a tail. */
export const TAIL = 32;
/** Distance between positions of a tail, in meters. Stationary objects get no tail. */
const TAIL_STEP_METERS = 0.15;

/** Interval between locations after which a movement is unknown: it is not drawn as a tail. */
export const GAP_MS = 30_000;

/** Properties of a moving object that are not in columns. */
export interface ObjectFacts {
  readonly id: string;
  readonly name: string | undefined;
  readonly providerType: string;
}

/**
 * Moving objects on one plane, as columns, since each frame reads thousands of them. An object keeps its index until a reset.
 */
export class MovingObjects {
  readonly plane: Plane;
  /** Direction of north on the plane, in degrees clockwise from up. */
  readonly north: number;
  /** Objects on the way to their last reported positions. All others are drawn there. */
  readonly glides = new Glides();
  count = 0;
  /** Drawn positions. */
  x = new Float64Array(256);
  y = new Float64Array(256);
  /** Heading in degrees clockwise from north; NaN if unknown. */
  heading = new Float32Array(256);
  /** Accuracy in meters; NaN if unknown. */
  accuracy = new Float32Array(256);
  floor = new Float32Array(256);
  /** Time of the last location, in milliseconds. */
  lastSeenMs = new Float64Array(256);
  /** 1 for objects that are not drawn: deleted, or silent at the time of playback. */
  removed = new Uint8Array(256);
  /** Group that sets the color; 0 is the default color. */
  group = new Uint8Array(256);
  /** 1 for objects inside a fence, for the ranking of labels. */
  inside = new Uint8Array(256);
  /** 1 for objects marked by `markBy`. */
  marked = new Uint8Array(256);
  /** Last positions as ring buffers of TAIL points; x and y alternate. */
  tails = new Float64Array(256 * TAIL * 2);
  tailAt = new Uint8Array(256);
  tailLength = new Uint8Array(256);
  facts: ObjectFacts[] = [];
  /** Outlines on the map; x and y alternate. */
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

  /** Hides a deleted object. Its next position shows it again. */
  remove(id: string): void {
    const index = this.#indices.get(id);
    if (index !== undefined) this.removed[index] = 1;
  }

  /** Marks the objects that match a test, now and when they are added. */
  markBy(isMarked: ((id: string) => boolean) | undefined): void {
    this.#isMarked = isMarked;
    for (let i = 0; i < this.count; i++) this.marked[i] = Number(isMarked?.(this.facts[i]?.id ?? '') === true);
  }

  /** Applies a batch. Objects glide to their positions in a view, and are at once there without one. hot */
  take({ added, rows, outlines, isReset }: MoveBatch, nowMs: number, view?: GlideView): void {
    if (isReset) this.#forget();
    for (const { index, ...facts } of added) this.#add(index, facts);
    const isEarth = this.plane.kind === 'earth';
    for (let at = 0; at < rows.length; at += ROW) {
      const index = rows[at]!;
      const x = isEarth ? mapX(rows[at + 1]!) : rows[at + 1]!;
      const y = isEarth ? mapY(rows[at + 2]!) : rows[at + 2]!;
      const intervalMs = nowMs - this.lastSeenMs[index]!;
      if (intervalMs > GAP_MS) this.cutTail(index);
      const heading = rows[at + 3]!;
      const floor = rows[at + 5]!;
      const isThere = this.removed[index] === 0 && Object.is(this.floor[index], floor);
      const target = this.glides.targetOf(index);
      const [lastX, lastY] = target ?? [this.x[index]!, this.y[index]!];
      const move = { x, y, heading, intervalMs };
      const isGliding = view !== undefined && isThere && this.glides.start(index, this, move, view);
      // The tail has all reported positions but the last, to which its last segment leads. A glide may end before its target.
      if ((isGliding || target !== undefined) && this.#isStep(lastX - x, lastY - y)) {
        this.#lengthenTail(index, lastX, lastY);
      }
      if (!isGliding) {
        this.glides.stop(index);
        this.move(index, x, y);
        this.heading[index] = heading;
      }
      this.accuracy[index] = rows[at + 4]!;
      this.floor[index] = floor;
      // Clocks differ, so new locations count as received now. Listed locations have their own time.
      this.lastSeenMs[index] = isReset ? Math.min(nowMs, rows[at + 6]!) : nowMs;
      this.removed[index] = 0;
      this.outlines[index] = undefined;
    }
    this.#takeOutlines(outlines, isEarth);
  }

  /**
   * Returns the index of an object, and adds it if necessary. A new object is hidden until it moves and is no longer `removed`.
   */
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

  /** Moves gliding objects on to a monotonic time. Returns whether some have not arrived. hot: once per frame */
  advance(atMs: number): boolean {
    return this.glides.advance(this, atMs);
  }

  /** Moves an object to a point of the map and extends its tail. hot */
  move(index: number, x: number, y: number): void {
    if (this.#isStep(x - this.x[index]!, y - this.y[index]!)) this.#lengthenTail(index, x, y);
    this.x[index] = x;
    this.y[index] = y;
  }

  /** Clears the tail of an object, before it moves across a gap. */
  cutTail(index: number): void {
    this.tailAt[index] = 0;
    this.tailLength[index] = 0;
  }

  /** Clears all tails, before objects jump to other positions. */
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

  /** Whether a movement is long enough for a tail. */
  #isStep(dx: number, dy: number): boolean {
    const unit = this.plane.kind === 'earth' ? TAIL_STEP_METERS * 1.5 : TAIL_STEP_METERS;
    return Math.abs(dx) + Math.abs(dy) > unit;
  }

  /** Adds a point to a tail, unless it is the last one already. */
  #lengthenTail(index: number, x: number, y: number): void {
    const at = this.tailAt[index]!;
    const last = (index * TAIL + ((at + TAIL - 1) % TAIL)) * 2;
    if (this.tailLength[index] !== 0 && this.tails[last] === x && this.tails[last + 1] === y) return;
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
    this.glides.clear();
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

/** An area on the map; without a floor it applies to all floors. */
export interface MapArea {
  readonly extent: readonly number[];
  readonly rings: readonly (readonly Position[])[];
  readonly floor: number | undefined;
}

export function areaOf(polygon: Polygon, floor: number | null | undefined): MapArea {
  return { extent: polygon.getExtent(), rings: polygon.getCoordinates(), floor: floor ?? undefined };
}

/**
 * Marks the objects inside the areas by their current positions: label ranking does not wait for the hub's fence timers. hot:
 * once per second, for all objects
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
