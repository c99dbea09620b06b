/**
 * A clock shared by all processes of a run, in microseconds since 1970, based on the machine's monotonic clock. The
 * parent measures its offset from the wall-clock time once, and passes the offset to its children.
 */

/** Microseconds of the monotonic clock, which all processes of a machine share, at zero of `performance.now()`. */
const START_US = monotonicUs() - performance.now() * 1000;

/** Offset of the wall-clock time from the monotonic clock, in whole microseconds, read when Date.now() changes. */
export function offsetOfDay(): number {
  const first = Date.now();
  let now = first;
  while (now === first) now = Date.now();
  return Math.round(now * 1000 - monotonicUs());
}

/** Returns a function that reads the time in whole microseconds since 1970. */
export function sharedClock(offsetUs: number): () => number {
  const atZeroUs = START_US + offsetUs;
  return () => Math.floor(atZeroUs + performance.now() * 1000);
}

function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
