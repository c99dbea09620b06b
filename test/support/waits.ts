/** How others were served while something went on. */
export interface Waits {
  /** Small answers that arrived in the meantime. */
  readonly answers: number;
  /** The longest that anybody waited for one, in milliseconds. */
  readonly longestMs: number;
  readonly tookMs: number;
}

/** Asks for something small, again and again, until the work is done, and `more` times afterwards. */
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
