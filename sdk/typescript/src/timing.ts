/** Waiting: pauses between attempts, and promises with a deadline. */

/** Longest pause between two attempts, before the random factor. */
const PAUSE_MAX_MS = 5000;
const FIRST_PAUSE_MS = 100;

/**
 * Returns the pause in milliseconds before the next attempt: none before the first one, then doubling from 100 ms to 5 s, times
 * a random factor from 0.5 to 1.5, so that clients that failed together do not return together. `random` is from 0 to 1.
 */
export function pauseMs(failures: number, random: number): number {
  if (failures <= 0) return 0;
  return Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + random);
}

/** Resolves after a time, or when the signal aborts. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal?.addEventListener('abort', done, { once: true });
  });
}
