import type { Recorded } from './recording.ts';

/** Locations that are due within this time go together. */
const WINDOW_MS = 25;

export interface Pace {
  /** How many times faster than recorded; Infinity is as fast as possible. */
  readonly speed: number;
  /** Largest number of locations in a batch. */
  readonly batch: number;
  nowMs(): number;
  wait(ms: number): Promise<unknown>;
}

/**
 * Cuts a recording into batches, each handed out when it is due. The first location is due at once, the others as much
 * later as they were recorded later, divided by the speed.
 */
export async function* paced(
  recorded: AsyncIterable<Recorded> | Iterable<Recorded>,
  { speed, batch, nowMs, wait }: Pace,
): AsyncGenerator<Recorded[]> {
  const startMs = nowMs();
  let firstMs: number | undefined;
  let windowMs = 0;
  let pending: Recorded[] = [];
  for await (const location of recorded) {
    firstMs ??= location.atMs;
    const dueMs = (location.atMs - firstMs) / speed;
    if (pending.length > 0 && (pending.length >= batch || dueMs >= windowMs + WINDOW_MS)) {
      yield pending;
      pending = [];
    }
    if (pending.length === 0) {
      const earlyMs = startMs + dueMs - nowMs();
      if (earlyMs > 0) await wait(earlyMs);
      windowMs = dueMs;
    }
    pending.push(location);
  }
  if (pending.length > 0) yield pending;
}
