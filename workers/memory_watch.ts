import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;

/** So much more than there was at least, or half as much again, is likely to be garbage. */
const GROWN_BYTES = 48 * MIB;
/** In so many looks in a row: what comes and goes is left to the engine, which does most of the work beside this thread. */
const LOOKS = 3;
/** The part of its time that a thread works at most while it is calm: then a pause is noticed by few. */
const CALM = 0.5;

export interface MemoryWatchOptions {
  /** Collects this thread's garbage at once. */
  readonly collect: () => void;
  /** Bytes that are in use, or are garbage that has outlived its youth. */
  readonly inUse?: () => number;
  /** The part of its time that this thread has worked since the last call. */
  readonly busy?: () => number;
}

/**
 * Gives memory back after a flood. The engine collects old garbage when it needs the room: a thread that has held
 * hundreds of megabytes for clients that have left would keep them until the next flood. So where much more is in use than
 * there has been at least, garbage is collected, once the thread is calm.
 */
export class MemoryWatch {
  readonly #collect: () => void;
  readonly #inUse: () => number;
  readonly #busy: () => number;
  #least: number;
  #looksGrown = 0;

  constructor({ collect, inUse = oldBytes, busy = busySince() }: MemoryWatchOptions) {
    this.#collect = collect;
    this.#inUse = inUse;
    this.#busy = busy;
    this.#least = inUse();
  }

  /** To be called every few seconds: it takes some 20 µs where there is nothing to do. */
  look(): void {
    const inUse = this.#inUse();
    const isCalm = this.#busy() < CALM;
    this.#least = Math.min(this.#least, inUse);
    const hasGrown = inUse >= this.#least + Math.max(GROWN_BYTES, this.#least / 2);
    this.#looksGrown = hasGrown ? this.#looksGrown + 1 : 0;
    if (!isCalm || this.#looksGrown < LOOKS) return;
    this.#collect();
    this.#looksGrown = 0;
    // What is left is needed.
    this.#least = this.#inUse();
  }
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
