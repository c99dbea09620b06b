import { GAP_MS, type MovingObjects, TAIL } from './moving_objects.ts';

/** Maximum number of points, approximately; the oldest are dropped. */
const POINTS_MAX = 1_000;
/** A longer distance between two positions is a jump in time or space, not movement. */
const JUMP_METERS = 200;

/**
 * Trail of the followed object in map coordinates: all points of its tail since it is followed, which are reported positions, and
 * the position at which it is drawn. A glide takes shortcuts between reported positions, so its own way is no trail.
 */
export class Trail {
  /** x and y alternate. */
  readonly points: number[] = [];
  /** Drawn position of the object. */
  head: readonly [x: number, y: number] = [Number.NaN, Number.NaN];
  #lastSeenMs = Number.NaN;
  /** End and length of the tail at the last frame. */
  #tailAt = 0;
  #tailLength = 0;

  /** Extends the trail by the points that the object's tail has gained. */
  follow({ lastSeenMs, tails, tailAt, tailLength, x, y }: MovingObjects, index: number): void {
    const [seenMs, at, length] = [lastSeenMs[index]!, tailAt[index]!, tailLength[index]!];
    const isCut = Math.abs(seenMs - this.#lastSeenMs) > GAP_MS || length < this.#tailLength;
    if (isCut) this.points.length = 0;
    const gained = isCut || this.#tailLength === 0 ? length : (at - this.#tailAt + TAIL) % TAIL;
    for (let k = gained; k > 0; k--) {
      const place = (index * TAIL + ((at - k + TAIL) % TAIL)) * 2;
      this.#lengthen(tails[place]!, tails[place + 1]!);
    }
    this.head = [x[index]!, y[index]!];
    this.#lastSeenMs = seenMs;
    this.#tailAt = at;
    this.#tailLength = length;
  }

  #lengthen(x: number, y: number): void {
    const { points } = this;
    const [lastX = x, lastY = y] = points.slice(-2);
    if (Math.abs(x - lastX) + Math.abs(y - lastY) > JUMP_METERS) points.length = 0;
    points.push(x, y);
    if (points.length > 2 * POINTS_MAX) points.splice(0, POINTS_MAX / 5);
  }
}
