const FIRST_MS = 1000;
const MOST_MS = 30_000;
/** Share of the delay by which chance moves it, so that many hubs do not come back at the same moment. */
const JITTER = 0.25;

/** Time to wait before the next attempt after that many failures in a row; `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  const delayMs = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
}
