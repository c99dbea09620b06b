/**
 * What DuckDB does for a thread, as the owner of the thread sees it. A thread that is terminated while DuckDB works for it takes
 * the process with it; one that JavaScript keeps busy ends in no other way. So both share two words: the owner sets ENDING, and
 * terminates the thread if IN_FLIGHT is 0; the thread raises IN_FLIGHT before it reads ENDING. Whatever the order, one of them
 * sees what the other has done.
 */
export const FLIGHT_WORDS = 2;
const [IN_FLIGHT, ENDING] = [0, 1] as const;
let words: Int32Array = new Int32Array(FLIGHT_WORDS);

/** For the thread: the words that it shares with its owner. */
export function shareFlight(shared: Int32Array): void {
  words = shared;
}

/** For the thread, before DuckDB begins something: whether it may. It lands in either case. */
export function takeOff(): boolean {
  Atomics.add(words, IN_FLIGHT, 1);
  return Atomics.load(words, ENDING) === 0;
}

/** For the thread, when DuckDB is done. */
export function land(): void {
  Atomics.sub(words, IN_FLIGHT, 1);
}

/** For the owner: lets DuckDB begin nothing more for the thread. Returns whether the thread can be terminated now. */
export function grounded(shared: Int32Array): boolean {
  Atomics.store(shared, ENDING, 1);
  return Atomics.load(shared, IN_FLIGHT) === 0;
}
