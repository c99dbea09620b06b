import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;

/** So much more than there was at least, or half as much again, is likely to be garbage. */
const GROWN_BYTES = 48 * MIB;
/** In so many looks in a row: what comes and goes is left to the engine, which does most of the work beside this thread. */
const LOOKS = 3;
/** After so many looks it is collected again where much was left, and after twice as many the next time. */
const AGAIN_LOOKS = 4;
/** What is left, with each look, of how busy the thread was: a flood is over when it does half of that. */
const REMEMBERED = 0.95;
/** The part of its time that a thread works at most while it rests: then a pause is noticed by nobody. */
const RESTING = 0.1;
/** While it works more than that, up to this part, a pause is noticed by some: so much must be gained by it. */
const CALM = 0.5;
const WORTH_BYTES = 384 * MIB;

export interface MemoryWatchOptions {
  /** Collects this thread's garbage at once. */
  readonly collect: () => void;
  /** Bytes that are in use, or are garbage that has outlived its youth. */
  readonly inUse?: () => number;
  /** Bytes that the engine has taken for young objects. A collection gives back what a flood needed. */
  readonly young?: () => number;
  /** The part of its time that this thread has worked since the last call. */
  readonly busy?: () => number;
}

/**
 * Gives memory back after a flood. The engine collects old garbage when it needs the room: a thread that has held
 * hundreds of megabytes for clients that have left would keep them until the next flood. So where much more is in use than
 * there has been at least, garbage is collected, once the thread rests, or is calm where that is worth it: a collection of
 * all garbage takes 30 to 60 ms. So is it where the young generation has become much larger and the work that it was for is
 * over: the engine leaves it as large as it was. What is left by a collection may be needed, or held by a flood that is not
 * over yet: so where that is much, it is tried again, ever more seldom.
 */
export class MemoryWatch {
  readonly #collect: () => void;
  readonly #inUse: () => number;
  readonly #young: () => number;
  readonly #busy: () => number;
  #least: number;
  #leastYoung: number;
  #looksGrown = 0;
  #lowest: number;
  #busiest = 0;
  /** Looks until it is collected again; undefined where nothing is to be expected of that. */
  #againIn: number | undefined;
  #againLooks = AGAIN_LOOKS;

  constructor({ collect, inUse = oldBytes, young = youngBytes, busy = busySince() }: MemoryWatchOptions) {
    this.#collect = collect;
    this.#inUse = inUse;
    this.#young = young;
    this.#busy = busy;
    this.#least = inUse();
    this.#lowest = this.#least;
    this.#leastYoung = young();
  }

  /** To be called every few seconds: it takes some 20 µs where there is nothing to do. */
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
    if (busy >= (gain < WORTH_BYTES ? RESTING : CALM) || (!isNew && this.#againIn !== 0)) return;
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

/** What part of its time a thread works that waits outside of its event loop. */
export class BusyMeter {
  readonly #elapsed: () => number;
  #sinceMs: number;
  #begunMs = 0;
  #workedMs = 0;

  /** `elapsed`: milliseconds since some moment. */
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

  /** Of the time since the last call, without the work that has begun and not ended. */
  part(): number {
    const nowMs = this.#elapsed();
    const part = this.#workedMs / (nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
    this.#workedMs = 0;
    return part;
  }
}
