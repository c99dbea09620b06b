import { GAP_MS, type MovingObjects, TAIL } from './moving_objects.ts';

/** Maximum number of points, approximately; the oldest are dropped. */
const POINTS_MAX = 1_000;
const STEP_METERS = 0.3;
/** A longer distance between two positions is a jump in time or space, not movement. */
const JUMP_METERS = 200;

/** Trail of the followed object in map coordinates; x and y alternate. */
export class Trail {
  readonly points: number[] = [];
  #lastSeenMs = Number.NaN;

  /** Extends the trail to the object's position. A new trail starts with the object's tail. */
  follow(objects: MovingObjects, index: number): void {
    const lastSeenMs = objects.lastSeenMs[index]!;
    if (Math.abs(lastSeenMs - this.#lastSeenMs) > GAP_MS) this.points.length = 0;
    this.#lastSeenMs = lastSeenMs;
    if (this.points.length === 0) this.#begin(objects, index);
    const { points } = this;
    const [x, y] = [objects.x[index]!, objects.y[index]!];
    const [lastX = Number.NaN, lastY = Number.NaN] = points.slice(-2);
    const step = Math.abs(x - lastX) + Math.abs(y - lastY);
    if (step < STEP_METERS) return;
    if (step > JUMP_METERS) points.length = 0;
    points.push(x, y);
    if (points.length > 2 * POINTS_MAX) points.splice(0, POINTS_MAX / 5);
  }

  #begin({ tails, tailAt, tailLength }: MovingObjects, index: number): void {
    const length = tailLength[index]!;
    for (let k = 0; k < length; k++) {
      const at = (index * TAIL + ((tailAt[index]! + TAIL - length + k) % TAIL)) * 2;
      this.points.push(tails[at]!, tails[at + 1]!);
    }
  }
}
