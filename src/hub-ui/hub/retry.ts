/**
 * Retries with exponential backoff and jitter, for requests that no hub has answered: the hub may have stopped, and the
 * load balancer soon routes to another.
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** Returns the delay before an attempt, counted from 1: doubles each time, with jitter. */
export function backoffMs(attempt: number, random: () => number): number {
  const whole = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(whole * (0.5 + random() / 2));
}

/** Returns whether a status is transient, so that a retry may succeed. 0 means no response. */
export function isTransient(status: number): boolean {
  return status === 0 || status === 502 || status === 503 || status === 504;
}

/** Resolves after a delay, or rejects with the reason of the signal. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
