import { formatTime } from './time.ts';

/** Crossings of a step. */
export interface CrossedStep {
  readonly fromMs: number;
  readonly left: number;
  readonly right: number;
}

/** Returns a reply with the crossings of steps, and their sums. `sinceMs`: time since which they are counted. */
export function crossingsText(
  { fromMs, toMs, stepMs }: { readonly fromMs: number; readonly toMs: number; readonly stepMs: number },
  steps: readonly CrossedStep[],
  sinceMs?: number,
): string {
  const crossed = steps.filter(({ left, right }) => left + right > 0);
  return JSON.stringify({
    from: formatTime(fromMs),
    to: formatTime(toMs),
    since: sinceMs === undefined ? null : formatTime(sinceMs),
    step: stepMs,
    left: crossed.reduce((sum, { left }) => sum + left, 0),
    right: crossed.reduce((sum, { right }) => sum + right, 0),
    steps: crossed.map(({ fromMs: startMs, left, right }) => ({ from: formatTime(startMs), left, right })),
  });
}
