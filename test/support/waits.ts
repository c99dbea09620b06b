/** Response times of short requests while a long operation runs. */
export interface Waits {
  /** Number of responses that arrived during the operation. */
  readonly answers: number;
  /** Longest response time in milliseconds. */
  readonly longestMs: number;
  readonly tookMs: number;
}

/** Repeats a short request until the operation is done, and `more` times afterwards. */
export async function waitsDuring(work: Promise<unknown>, ask: () => Promise<unknown>, more = 0): Promise<Waits> {
  const begun = performance.now();
  let [answers, longestMs, tookMs] = [0, 0, 0];
  let isDone = false;
  const done = work.finally(() => {
    tookMs = performance.now() - begun;
    isDone = true;
  });
  for (let left = more; !isDone || left > 0; left -= isDone ? 1 : 0) {
    const asked = performance.now();
    await ask();
    longestMs = Math.max(longestMs, performance.now() - asked);
    if (!isDone) answers++;
  }
  await done;
  return { answers, longestMs, tookMs };
}
