/**
 * What no hub has answered is tried again: a hub may have ended, and a load balancer knows of another, or soon will.
 * Attempts are further and further apart, and no two pages make theirs at the same time.
 */

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** How long to wait before the given attempt, counted from 1: twice as long each time, and never all at once. */
export function backoffMs(attempt: number, random: () => number): number {
  const whole = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(whole * (0.5 + random() / 2));
}

/** Whether a status says that nobody could answer now, which others may do, or the same a little later: 0 is no answer. */
export function isTransient(status: number): boolean {
  return status === 0 || status === 502 || status === 503 || status === 504;
}

/** Resolves after a while, or rejects with the reason of the signal. */
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
