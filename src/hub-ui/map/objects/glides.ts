/** Longest duration of a glide, and so the longest time by which a drawn position is late. */
const GLIDE_MAX_MS = 1_000;
/** Interval between two locations above which the path between them is unknown. */
export const UNKNOWN_PATH_MS = 3_000;
/** Speed above which a change of position counts as a jump. */
const JUMP_METERS_PER_SECOND = 50;
/** Delay of a location that does not stop its object. Batches of locations are this irregular. */
const SLACK_MS = 50;
/** Smallest turn that is animated, in degrees. */
const TURN_MIN = 5;

/** View in which objects glide. */
export interface GlideView {
  /** Monotonic time in milliseconds. */
  readonly atMs: number;
  /** Left, bottom, right and top of the visible map. */
  readonly extent: readonly number[];
  /** Shortest visible movement, in map units. */
  readonly step: number;
  readonly unitsPerMeter: number;
}

/** Drawn positions and headings that glides change. Headings are in degrees; NaN if unknown. */
interface Drawn {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly heading: Float32Array;
}

export interface ReportedMove {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
  /** Time since the previous location of the object. */
  readonly intervalMs: number;
}

interface Glide {
  readonly fromX: number;
  readonly fromY: number;
  readonly fromHeading: number;
  readonly toX: number;
  readonly toY: number;
  readonly toHeading: number;
  readonly startMs: number;
  readonly durationMs: number;
}

/**
 * Movements of objects from their drawn to their last reported positions. A drawn position is always between two reported ones: it
 * never passes the last one. Jumps, unknown paths and movements outside of the view are not animated.
 */
export class Glides {
  readonly #active = new Map<number, Glide>();

  /** Starts to move an object to its reported position. Returns false if the object has to be drawn there at once. */
  start(index: number, { x, y, heading }: Drawn, move: ReportedMove, view: GlideView): boolean {
    this.#active.delete(index);
    const { intervalMs } = move;
    if (!(intervalMs > 0 && intervalMs <= UNKNOWN_PATH_MS)) return false;
    const [fromX, fromY, fromHeading] = [x[index]!, y[index]!, heading[index]!];
    const distance = Math.hypot(move.x - fromX, move.y - fromY);
    if (distance > (JUMP_METERS_PER_SECOND * view.unitsPerMeter * (intervalMs + SLACK_MS)) / 1_000) return false;
    const turn = Math.abs(turnBetween(fromHeading, move.heading));
    if (distance < view.step && !(turn >= TURN_MIN)) return false;
    if (!isIn(view.extent, fromX, fromY) && !isIn(view.extent, move.x, move.y)) return false;
    this.#active.set(index, {
      fromX,
      fromY,
      fromHeading,
      toX: move.x,
      toY: move.y,
      toHeading: move.heading,
      startMs: view.atMs,
      durationMs: Math.min(GLIDE_MAX_MS, intervalMs + SLACK_MS),
    });
    return true;
  }

  /** Cancels the glide of an object. */
  stop(index: number): void {
    this.#active.delete(index);
  }

  clear(): void {
    this.#active.clear();
  }

  /** Moves all objects to their positions at a time. Returns whether some have not arrived. hot: once per frame */
  advance({ x, y, heading }: Drawn, atMs: number): boolean {
    for (const [index, glide] of this.#active) {
      const share = Math.min(1, Math.max(0, (atMs - glide.startMs) / glide.durationMs));
      x[index] = glide.toX + (glide.fromX - glide.toX) * (1 - share);
      y[index] = glide.toY + (glide.fromY - glide.toY) * (1 - share);
      heading[index] = headingAt(glide, share);
      if (share === 1) this.#active.delete(index);
    }
    return this.#active.size > 0;
  }

  /** Distance from the drawn to the reported position of an object, in map units. */
  ahead(index: number, { x, y }: Drawn): readonly [dx: number, dy: number] {
    const glide = this.#active.get(index);
    return glide === undefined ? NOTHING : [glide.toX - x[index]!, glide.toY - y[index]!];
  }

  /** Last reported position of an object; undefined if it is drawn there. */
  targetOf(index: number): readonly [x: number, y: number] | undefined {
    const glide = this.#active.get(index);
    return glide && [glide.toX, glide.toY];
  }
}

const NOTHING = [0, 0] as const;

/** Turn from one heading to another the shorter way, from -180 to 180 degrees; NaN if one is unknown. */
export function turnBetween(from: number, to: number): number {
  const turn = (((to - from) % 360) + 360) % 360;
  return turn > 180 ? turn - 360 : turn;
}

/** Heading during a glide: turns start and end slowly. An unknown heading has no turn. */
function headingAt({ fromHeading, toHeading }: Glide, share: number): number {
  const turn = turnBetween(fromHeading, toHeading);
  if (Number.isNaN(turn) || share === 1) return toHeading;
  return fromHeading + turn * share * share * (3 - 2 * share);
}

function isIn([left = 0, bottom = 0, right = 0, top = 0]: readonly number[], x: number, y: number): boolean {
  return x >= left && x <= right && y >= bottom && y <= top;
}
