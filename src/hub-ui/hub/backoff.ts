const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** How long to wait before the given attempt, counted from 1: twice as long each time, and never all at once. */
export function waitBefore(attempt: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(whole * (0.5 + random() / 2));
}
