import { GAP_MS, type MovingObjects } from '../map/objects/moving_objects.ts';
import type { Range } from './history_api.ts';
import type { PackedTracks } from './tracks.ts';

/**
 * Tracks of one kind of object, in chunks of time that are fetched ahead of playback.
 *
 * Each resolution has its own grid of chunks: fast playback uses long chunks with few points. Each chunk has the last
 * position of every object before it – from the previous chunk, or from a snapshot – so that stationary objects are drawn.
 */

/** Resolution of tracks, up to a playback speed. */
interface Pace {
  readonly speedMax: number;
  readonly stepMs: number;
  readonly chunkMs: number;
}

const PACES: readonly Pace[] = [
  { speedMax: 5, stepMs: 500, chunkMs: 60_000 },
  { speedMax: 30, stepMs: 2_000, chunkMs: 150_000 },
  { speedMax: 60, stepMs: 4_000, chunkMs: 240_000 },
  { speedMax: Number.POSITIVE_INFINITY, stepMs: 8_000, chunkMs: 480_000 },
];

/** Number of chunks to prefetch after the current one. */
const AHEAD = 2;
/** Number of retained chunks, so that short steps back need no requests. */
const RETAINED_MAX = 16;
/** Objects that were silent for longer than this are hidden. */
const SHOWN_MS = 600_000;
/** Movement in map units below which a heading would be noise. */
const STILL = 0.2;
/** Number of positions of a tail after a seek, and the time between them. */
const TAIL_POINTS = 32;
const TAIL_STEP_MS = 1_000;

/** Request for a chunk. */
export interface ChunkRequest extends Range {
  readonly stepMs: number;
  /** Whether a snapshot is needed because the previous chunk is not loaded. */
  readonly needsBefore: boolean;
}

export interface Loaded {
  readonly tracks: PackedTracks;
  /** Positions at the start of the chunk; empty if not requested. */
  readonly before: PackedTracks;
  /** Whether points were omitted. */
  readonly isCut: boolean;
  /** Whether the hub could not read all files. */
  readonly isIncomplete: boolean;
}

interface Chunk extends Range {
  readonly tracks: PackedTracks;
  /** Row of each object in the tracks; −1 if absent. */
  readonly rows: Int32Array;
  /** Last position of each object before the chunk; NaN if unknown. */
  readonly beforeMs: Float64Array;
  readonly beforeX: Float64Array;
  readonly beforeY: Float64Array;
  readonly beforeFloor: Float32Array;
  /** End of the fetched data: earlier than the chunk's end if it was fetched before that. */
  readonly fetchedUntilMs: number;
  readonly isCut: boolean;
  readonly isIncomplete: boolean;
}

/** Fetched time range. */
export interface Covered extends Range {
  /** Whether it has records. */
  readonly hasData: boolean;
  /** Whether the range has nothing to draw, including stationary objects from earlier chunks. */
  readonly isEmpty: boolean;
}

export interface TrackStoreOptions {
  readonly objects: MovingObjects;
  readonly load: (wanted: ChunkRequest, signal: AbortSignal) => Promise<Loaded>;
  readonly nameOf: (id: string) => string | undefined;
  readonly now: () => number;
  /** Called when a chunk has arrived or failed. */
  readonly onChange: () => void;
}

export class TrackStore {
  readonly objects: MovingObjects;
  readonly #load: TrackStoreOptions['load'];
  readonly #nameOf: TrackStoreOptions['nameOf'];
  readonly #now: TrackStoreOptions['now'];
  readonly #onChange: TrackStoreOptions['onChange'];
  readonly #chunks = new Map<number, Chunk>();
  #pace = PACES[0]!;
  #wantedMs = Number.NaN;
  #loading: AbortController | undefined;
  #loadingKey = Number.NaN;
  #shownMs = Number.NaN;
  #problem: unknown;

  constructor({ objects, load, nameOf, now, onChange }: TrackStoreOptions) {
    this.objects = objects;
    this.#load = load;
    this.#nameOf = nameOf;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Error of the last chunk; undefined if it has loaded. */
  get problem(): unknown {
    return this.#problem;
  }

  get isIncomplete(): boolean {
    return this.#chunks.get(this.#keyOf(this.#shownMs))?.isIncomplete === true;
  }

  get isCut(): boolean {
    return this.#chunks.get(this.#keyOf(this.#shownMs))?.isCut === true;
  }

  /** Loaded chunks around the current time. */
  covered(): Covered[] {
    return [...this.#chunks.values()].map(({ fromMs, toMs, fetchedUntilMs, tracks, beforeMs }) => {
      const hasData = tracks.ids.length > 0;
      const isEmpty = !hasData && !beforeMs.some((atMs) => fromMs - atMs <= SHOWN_MS);
      return { fromMs, toMs: Math.min(toMs, fetchedUntilMs), hasData, isEmpty };
    });
  }

  /** Whether a time can be drawn. */
  isReady(atMs: number): boolean {
    const chunk = this.#chunks.get(this.#keyOf(atMs));
    return chunk !== undefined && atMs < chunk.fetchedUntilMs;
  }

  /** Starts to load the chunk of a time and the following chunks. */
  want(atMs: number, speed: number): void {
    const pace = PACES.find(({ speedMax }) => speed <= speedMax) ?? PACES[0]!;
    if (pace !== this.#pace) {
      this.#pace = pace;
      this.#chunks.clear();
      this.#stop();
      this.#shownMs = Number.NaN;
    }
    this.#wantedMs = atMs;
    this.#loadNext();
  }

  /** Retries failed chunks. */
  tryAgain(): void {
    this.#problem = undefined;
    this.#loadNext();
  }

  /** Aborts pending requests. */
  close(): void {
    this.#stop();
    this.#wantedMs = Number.NaN;
  }

  /** Moves all objects to their positions at a time. Does nothing if its chunk is not loaded. */
  show(atMs: number, speed: number): void {
    if (!this.isReady(atMs)) return;
    const passedMs = atMs - this.#shownMs;
    // A late frame is not a seek.
    if (!(passedMs >= 0 && passedMs <= Math.max(2_000, speed * 1_000))) {
      this.objects.cutTails();
      this.objects.lastSeenMs.fill(0);
      for (let k = TAIL_POINTS; k > 0; k--) this.#moveTo(atMs - k * TAIL_STEP_MS);
    }
    this.#moveTo(atMs);
    this.#shownMs = atMs;
  }

  #keyOf(atMs: number): number {
    return Math.floor(atMs / this.#pace.chunkMs);
  }

  #stop(): void {
    this.#loading?.abort();
    this.#loading = undefined;
    this.#loadingKey = Number.NaN;
  }

  /** First needed chunk that is not loaded, or was fetched before its end. */
  #missing(): number | undefined {
    const nowMs = this.#now();
    const first = this.#keyOf(this.#wantedMs);
    for (let key = first; key <= first + AHEAD; key++) {
      if (key * this.#pace.chunkMs >= nowMs) return undefined;
      const chunk = this.#chunks.get(key);
      if (chunk === undefined) return key;
      if (key === first && this.#wantedMs >= chunk.fetchedUntilMs && nowMs > chunk.fetchedUntilMs) return key;
    }
    return undefined;
  }

  #loadNext(): void {
    if (!Number.isFinite(this.#wantedMs)) return;
    const key = this.#missing();
    if (key === undefined || this.#problem !== undefined) return;
    if (this.#loading !== undefined) {
      // After a seek, pending chunks of the old time are not needed.
      const first = this.#keyOf(this.#wantedMs);
      if (key === this.#loadingKey || (this.#loadingKey >= first && this.#loadingKey <= first + AHEAD)) return;
      this.#stop();
    }
    void this.#fetch(key);
  }

  async #fetch(key: number): Promise<void> {
    const { chunkMs, stepMs } = this.#pace;
    const controller = new AbortController();
    this.#loading = controller;
    this.#loadingKey = key;
    const fromMs = key * chunkMs;
    const nowMs = this.#now();
    const previous = this.#chunks.get(key - 1);
    const needsBefore = previous === undefined || previous.fetchedUntilMs < previous.toMs;
    try {
      const wanted = { fromMs, toMs: fromMs + chunkMs, stepMs, needsBefore };
      const loaded = await this.#load(wanted, controller.signal);
      if (controller.signal.aborted) return;
      const before = needsBefore ? undefined : previous;
      this.#chunks.set(
        key,
        this.#chunkOf(wanted, { ...loaded, fetchedUntilMs: Math.min(fromMs + chunkMs, nowMs) }, before),
      );
      this.#forgetFarthest(key);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#problem = error;
    }
    this.#loading = undefined;
    this.#loadingKey = Number.NaN;
    this.#onChange();
    this.#loadNext();
  }

  #forgetFarthest(key: number): void {
    const around = [...this.#chunks.keys()].sort((a, b) => Math.abs(b - key) - Math.abs(a - key));
    for (const far of around.slice(0, Math.max(0, around.length - RETAINED_MAX))) this.#chunks.delete(far);
  }

  #chunkOf(range: Range, loaded: Loaded & { readonly fetchedUntilMs: number }, previous: Chunk | undefined): Chunk {
    const { tracks, before, isCut, isIncomplete, fetchedUntilMs } = loaded;
    const indices = tracks.ids.map((id) => this.#meet(id));
    const indicesBefore = before.ids.map((id) => this.#meet(id));
    const { count } = this.objects;
    const chunk: Chunk = {
      fromMs: range.fromMs,
      toMs: range.toMs,
      tracks,
      rows: new Int32Array(count).fill(-1),
      beforeMs: new Float64Array(count).fill(Number.NaN),
      beforeX: new Float64Array(count),
      beforeY: new Float64Array(count),
      beforeFloor: new Float32Array(count),
      fetchedUntilMs,
      isCut,
      isIncomplete,
    };
    indices.forEach((index, row) => {
      chunk.rows[index] = row;
    });
    if (previous === undefined) {
      indicesBefore.forEach((index, row) => {
        setBefore(chunk, index, before, row);
      });
    } else for (let index = 0; index < previous.rows.length; index++) inherit(chunk, index, previous);
    return chunk;
  }

  #meet(id: string): number {
    return this.objects.add({ id, name: this.#nameOf(id), providerType: '' });
  }

  /** hot: once per frame, see bench/ui/playback.bench.ts */
  #moveTo(atMs: number): void {
    const chunk = this.#chunks.get(this.#keyOf(atMs));
    if (chunk === undefined) return;
    const after = this.#chunks.get(this.#keyOf(atMs) + 1);
    const { objects } = this;
    const { timeMs, x, y, floor, starts } = chunk.tracks;
    const { rows, beforeMs, beforeX, beforeY, beforeFloor } = chunk;
    const gapMs = Math.max(GAP_MS, this.#pace.stepMs * 4);
    const rowCount = rows.length;
    for (let i = 0; i < objects.count; i++) {
      const row = i < rowCount ? rows[i]! : -1;
      let lo = 0;
      let hi = 0;
      if (row >= 0) {
        lo = starts[row]!;
        hi = starts[row + 1]!;
      }
      // Binary search for the first later point.
      let next = lo;
      for (let end = hi; next < end; ) {
        const middle = (next + end) >> 1;
        if (timeMs[middle]! <= atMs) next = middle + 1;
        else end = middle;
      }
      const hasPoint = next > lo;
      const fromMs = hasPoint ? timeMs[next - 1]! : i < rowCount ? beforeMs[i]! : Number.NaN;
      if (!(atMs - fromMs <= SHOWN_MS)) {
        objects.removed[i] = 1;
        continue;
      }
      const fromX = hasPoint ? x[next - 1]! : beforeX[i]!;
      const fromY = hasPoint ? y[next - 1]! : beforeY[i]!;
      const onFloor = hasPoint ? floor[next - 1]! : beforeFloor[i]!;
      let toMs = Number.NaN;
      let toX = 0;
      let toY = 0;
      let toFloor = 0;
      if (next < hi) {
        toMs = timeMs[next]!;
        toX = x[next]!;
        toY = y[next]!;
        toFloor = floor[next]!;
      } else if (after !== undefined && i < after.rows.length && after.rows[i]! >= 0) {
        const { tracks } = after;
        const first = tracks.starts[after.rows[i]!]!;
        toMs = tracks.timeMs[first]!;
        toX = tracks.x[first]!;
        toY = tracks.y[first]!;
        toFloor = tracks.floor[first]!;
      }
      const isOnItsWay = toMs - fromMs <= gapMs && (onFloor === toFloor || Number.isNaN(onFloor));
      const share = isOnItsWay ? (atMs - fromMs) / (toMs - fromMs) : 0;
      const previousMs = next - 1 > lo ? timeMs[next - 2]! : hasPoint && i < rowCount ? beforeMs[i]! : Number.NaN;
      const isNewPoint = fromMs > objects.lastSeenMs[i]!;
      if (isNewPoint && fromMs - previousMs > gapMs) objects.cutTail(i);
      objects.removed[i] = 0;
      objects.floor[i] = onFloor;
      objects.lastSeenMs[i] = isOnItsWay ? atMs : fromMs;
      const isGoing = isOnItsWay && Math.abs(toX - fromX) + Math.abs(toY - fromY) > STILL;
      objects.heading[i] = isGoing
        ? (Math.atan2(toX - fromX, toY - fromY) * 180) / Math.PI - objects.north
        : Number.NaN;
      if (isOnItsWay) objects.move(i, fromX + (toX - fromX) * share, fromY + (toY - fromY) * share);
      else objects.move(i, fromX, fromY);
    }
  }
}

function setBefore(chunk: Chunk, index: number, { starts, timeMs, x, y, floor }: PackedTracks, row: number): void {
  const last = starts[row + 1]! - 1;
  if (last < starts[row]!) return;
  chunk.beforeMs[index] = timeMs[last]!;
  chunk.beforeX[index] = x[last]!;
  chunk.beforeY[index] = y[last]!;
  chunk.beforeFloor[index] = floor[last]!;
}

/** Takes the last position of an object from the previous chunk. */
function inherit(chunk: Chunk, index: number, previous: Chunk): void {
  const row = previous.rows[index]!;
  if (row >= 0 && previous.tracks.starts[row + 1]! > previous.tracks.starts[row]!) {
    setBefore(chunk, index, previous.tracks, row);
    return;
  }
  chunk.beforeMs[index] = previous.beforeMs[index]!;
  chunk.beforeX[index] = previous.beforeX[index]!;
  chunk.beforeY[index] = previous.beforeY[index]!;
  chunk.beforeFloor[index] = previous.beforeFloor[index]!;
}
