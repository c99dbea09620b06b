import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;

/** Growth over the minimum, in bytes, that is probably garbage; growth by half is as well. */
const GROWN_BYTES = 48 * MIB;
/**
 * Number of consecutive checks with such growth. Short peaks are left to the engine, which works mostly in parallel.
 */
const LOOKS = 3;
/** Number of checks after which a collection is repeated if it left much memory in use; doubled each time. */
const AGAIN_LOOKS = 4;
/** Decay of the peak load per check. A flood is over when the load is below half of the peak. */
const REMEMBERED = 0.95;
/** Maximum load of an idle thread with an event loop, whose timers take some percent of a busy machine. */
const RESTING = 0.1;
/** Maximum load of a calm thread, in which a pause is noticeable and must free at least WORTH_BYTES. */
const CALM = 0.5;
const WORTH_BYTES = 384 * MIB;

export interface MemoryWatchOptions {
  /** Collects the garbage of this thread immediately. */
  readonly collect: () => void;
  /** Returns the bytes in use, including old garbage. */
  readonly inUse?: () => number;
  /** Returns the size of the engine's young generation in bytes, which a collection shrinks after a flood. */
  readonly young?: () => number;
  /** Returns the load of this thread since the last call. */
  readonly busy?: () => number;
  /** Maximum load of the idle thread, in which a pause is not noticeable. */
  readonly resting?: number;
}

/**
 * Frees memory after a flood of work. The engine collects old garbage only when it needs memory, so a thread that used
 * hundreds of megabytes for clients that have disconnected would retain them until the next flood. When much more
 * memory is in use than the minimum, garbage is collected as soon as the thread is idle, or calm if enough can be
 * freed: a full collection takes 30 to 130 ms. The same applies when the young generation has grown much and the flood
 * is over, since the engine does not shrink it. If a collection leaves much memory in use, which may be needed or
 * belong to a flood that is not over, it is repeated at growing intervals.
 */
export class MemoryWatch {
  readonly #collect: () => void;
  readonly #inUse: () => number;
  readonly #young: () => number;
  readonly #busy: () => number;
  readonly #resting: number;
  #least: number;
  #leastYoung: number;
  #looksGrown = 0;
  #lowest: number;
  #busiest = 0;
  /** Number of checks until the collection is repeated; undefined if it is not repeated. */
  #againIn: number | undefined;
  #againLooks = AGAIN_LOOKS;

  constructor({
    collect,
    inUse = oldBytes,
    young = youngBytes,
    busy = busySince(),
    resting = RESTING,
  }: MemoryWatchOptions) {
    this.#collect = collect;
    this.#inUse = inUse;
    this.#young = young;
    this.#busy = busy;
    this.#resting = resting;
    this.#least = inUse();
    this.#lowest = this.#least;
    this.#leastYoung = young();
  }

  /** Checks the memory. Call it every few seconds. A check takes about 20 µs if there is nothing to do. */
  look(): void {
    const inUse = this.#inUse();
    const busy = this.#busy();
    this.#busiest = Math.max(busy, this.#busiest * REMEMBERED);
    this.#least = Math.min(this.#least, inUse);
    this.#lowest = Math.min(this.#lowest, inUse);
    const young = this.#young();
    this.#leastYoung = Math.min(this.#leastYoung, young);
    const isYoungLeft = young >= this.#leastYoung + GROWN_BYTES && busy < this.#busiest / 2;
    this.#looksGrown = hasGrown(inUse, this.#least) || isYoungLeft ? this.#looksGrown + 1 : 0;
    if (this.#againIn !== undefined && this.#againIn > 0) this.#againIn--;
    const isNew = this.#looksGrown >= LOOKS;
    const gain = Math.max(inUse - this.#least, young - this.#leastYoung);
    if (busy >= (gain < WORTH_BYTES ? this.#resting : CALM) || (!isNew && this.#againIn !== 0)) return;
    this.#collect();
    this.#looksGrown = 0;
    this.#busiest = busy;
    this.#least = this.#inUse();
    this.#againLooks = isNew ? AGAIN_LOOKS : 2 * this.#againLooks;
    this.#againIn = hasGrown(this.#least, this.#lowest) ? this.#againLooks : undefined;
  }
}

function hasGrown(inUse: number, least: number): boolean {
  return inUse >= least + Math.max(GROWN_BYTES, least / 2);
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'));
  return young.reduce((sum, { space_size: size }) => sum + size, 0);
}

function oldBytes(): number {
  const { external_memory: external } = getHeapStatistics();
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
  return old.reduce((sum, { space_used_size: used }) => sum + used, external);
}

function busySince(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/** Measures the load of a thread that waits outside its event loop. */
export class BusyMeter {
  readonly #elapsed: () => number;
  #sinceMs: number;
  #begunMs = 0;
  #workedMs = 0;

  /** `elapsed`: monotonic milliseconds. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
    this.#sinceMs = elapsed();
  }

  begin(): void {
    this.#begunMs = this.#elapsed();
  }

  end(): void {
    this.#workedMs += this.#elapsed() - this.#begunMs;
  }

  /** Returns the load since the last call, without unfinished work. */
  part(): number {
    const nowMs = this.#elapsed();
    const part = this.#workedMs / (nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
    this.#workedMs = 0;
    return part;
  }
}
