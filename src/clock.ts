/** The clock and the timers of the hub. Everybody else is handed them by hub.ts. */

/** Now, in milliseconds since 1970; stands still where the system's clock is set back. */
export function risingClock(): () => number {
  let lastMs = 0;
  return () => {
    lastMs = Math.max(lastMs, Date.now());
    return lastMs;
  };
}

/** Calls back after a delay; returns how to call it off. */
export function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Calls back at every interval, and never for 0; returns how to call it off. */
export function every(intervalMs: number, callback: () => void): () => void {
  if (intervalMs === 0) return () => undefined;
  const timer = setInterval(callback, intervalMs);
  return () => clearInterval(timer);
}
