import { createHash } from 'node:crypto';
import { NotChecked, type ShapeChecks } from '../core/shape_checks.ts';
import { hubError } from '../errors.ts';
import { Problem } from '../problem.ts';
import { lend } from '../model/borrowed.ts';
import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';
import { type ShapeRequest, flattenPolygon, packShape, unpackShapeReply } from '../wire/messages.ts';
import { openThread, type Thread } from './thread.ts';

const SHAPES_WORKER = new URL('../../workers/shapes.ts', import.meta.url);

/**
 * Limits of geometries that are checked synchronously. Within these limits the worst polygon takes 25 ms, most take
 * less than one.
 */
const POSITIONS_AT_ONCE = 2000;
const RINGS_AT_ONCE = 100;
/** Limits of queued geometries and cached answers. */
const WAITING_MAX = 16;
const ANSWERS_MAX = 64;

export interface LargeShapesOptions {
  /** Checks of small geometries, on this thread. */
  readonly small: ShapeChecks;
  readonly limitMs: number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/**
 * Checks geometries, large ones in a separate thread.
 *
 * GEOS takes quadratic time for nested holes and for crossing edges: 44 s for 9,000 rings. It cannot be interrupted and
 * never frees memory. So checking a large geometry throws NotChecked. The thread checks large geometries one after
 * another, is terminated on timeout, and exits when none are left. Results are cached for the next check of the same
 * geometry, with all inputs as the key.
 */
export class LargeShapes implements ShapeChecks {
  readonly #options: LargeShapesOptions;
  readonly #thread: Thread = openThread(SHAPES_WORKER, { isNeeded: false });
  /** Cached results, oldest first. */
  readonly #answers = new Map<string, Problem | undefined>();
  readonly #checking = new Map<string, Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: LargeShapesOptions) {
    this.#options = options;
  }

  regionProblem(fence: Fence): Problem | undefined {
    const { region, crs, entry_tolerance, exit_tolerance } = fence;
    if (region.type !== 'Polygon' || !isLarge(region)) return this.#options.small.regionProblem(fence);
    // Only these members affect the result.
    const rest = { id: '', ...(crs != null && { crs }), entry_tolerance, exit_tolerance } as Omit<Fence, 'region'>;
    return this.#answer({ kind: 'region', fence: rest, polygon: flattenPolygon(region) }, 'region');
  }

  polygonProblem(polygon: Polygon, path: string): Problem | undefined {
    if (!isLarge(polygon)) return this.#options.small.polygonProblem(polygon, path);
    return this.#answer({ kind: 'polygon', polygon: flattenPolygon(polygon), path }, path);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #answer(request: ShapeRequest, path: string): Problem | undefined {
    const key = keyOf(request);
    if (!this.#answers.has(key)) throw new NotChecked(() => this.#look(key, request, path));
    const problem = this.#answers.get(key);
    this.#remember(key, problem);
    return problem;
  }

  #look(key: string, request: ShapeRequest, path: string): Promise<void> {
    const running = this.#checking.get(key);
    if (running !== undefined) return running;
    if (this.#checking.size >= WAITING_MAX) {
      return Promise.reject(hubError('too_many_waiting', { operation: 'check_geometry', count: this.#checking.size }));
    }
    const look = this.#last
      .then(() => this.#run(request, path))
      .then((problem) => this.#remember(key, problem))
      .finally(() => this.#done(key));
    this.#checking.set(key, look);
    this.#last = look.catch(() => undefined);
    return look;
  }

  async #run(request: ShapeRequest, path: string): Promise<Problem | undefined> {
    if (!this.#thread.isAlive) await this.#thread.restart();
    // The startup time must not count towards the timeout of the geometry.
    await this.#thread.signal('ready');
    const bytes = packShape(request);
    const { limitMs, schedule } = this.#options;
    let isLate = false;
    const cancel = schedule(limitMs, () => {
      isLate = true;
      void this.#thread.kill();
    });
    try {
      const { problem } = unpackShapeReply(await this.#thread.run(lend(bytes)));
      return problem && new Problem(problem);
    } catch (error) {
      if (!isLate) throw error;
      throw hubError('check_too_long', { path, limit: limitMs });
    } finally {
      cancel();
    }
  }

  #done(key: string): Promise<void> | undefined {
    this.#checking.delete(key);
    return this.#checking.size === 0 ? this.#thread.kill() : undefined;
  }

  #remember(key: string, problem: Problem | undefined): void {
    this.#answers.delete(key);
    this.#answers.set(key, problem);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest);
  }
}

function isLarge({ coordinates }: Polygon): boolean {
  if (coordinates.length > RINGS_AT_ONCE) return true;
  let positions = 0;
  for (const ring of coordinates) positions += ring.length;
  return positions > POSITIONS_AT_ONCE;
}

/** Returns a digest of all inputs of a check. */
function keyOf({ polygon, ...rest }: ShapeRequest): string {
  const { ringLengths, positions } = polygon;
  return createHash('sha256').update(JSON.stringify(rest)).update(ringLengths).update(positions).digest('base64');
}
