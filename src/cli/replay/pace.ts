import type { RecordedFrame } from './recording.ts';

/** Locations due within this time are sent together. */
const WINDOW_MS = 25;

export interface ReplayPace {
  /** Factor of the recorded speed; Infinity is as fast as possible. */
  readonly speed: number;
  /** Maximum locations of a batch. */
  readonly batch: number;
  nowMs(): number;
  wait(ms: number): Promise<unknown>;
}

/**
 * Divides a recording into batches, each emitted when it is due. The first location is due at once, the others after
 * their recorded delay divided by the speed.
 */
export async function* paced(
  recorded: AsyncIterable<RecordedFrame> | Iterable<RecordedFrame>,
  { speed, batch, nowMs, wait }: ReplayPace,
): AsyncGenerator<RecordedFrame[]> {
  const startMs = nowMs();
  let firstMs: number | undefined;
  let windowMs = 0;
  let pending: RecordedFrame[] = [];
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
