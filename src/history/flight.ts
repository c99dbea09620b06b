/**
 * Shared state about DuckDB's work in a thread. Terminating a thread while DuckDB works for it crashes the process; a
 * thread kept busy by JavaScript can only be terminated. So thread and owner share two words: the owner sets ENDING,
 * and terminates the thread if IN_FLIGHT is 0; the thread increments IN_FLIGHT before it reads ENDING. In any order, at
 * least one of them sees the other's write.
 */
export const FLIGHT_WORDS = 2;
const [IN_FLIGHT, ENDING] = [0, 1] as const;
let words: Int32Array = new Int32Array(FLIGHT_WORDS);

/** In the thread: sets the words shared with its owner. */
export function shareFlight(shared: Int32Array): void {
  words = shared;
}

/** In the thread, before a statement: returns whether it may begin. `land` must follow in either case. */
export function takeOff(): boolean {
  Atomics.add(words, IN_FLIGHT, 1);
  return Atomics.load(words, ENDING) === 0;
}

/** In the thread: a statement has finished. */
export function land(): void {
  Atomics.sub(words, IN_FLIGHT, 1);
}

/** In the owner: prevents further statements. Returns whether the thread can be terminated now. */
export function grounded(shared: Int32Array): boolean {
  Atomics.store(shared, ENDING, 1);
  return Atomics.load(shared, IN_FLIGHT) === 0;
}
