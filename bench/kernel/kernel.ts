/** One part of a location's way, measured alone and in this process. */
export interface Kernel {
  readonly name: string;
  /** What one call does. */
  readonly summary: string;
  /** Makes what the calls need; the function does `calls` of them. */
  prepare(): Promise<(calls: number) => unknown> | ((calls: number) => unknown);
}

const WARMUP_MS = 300;
const ROUNDS = 5;

/** Nanoseconds of a call: the best of some rounds, since other work on the machine only ever adds. */
export async function measureKernel({ prepare }: Kernel, roundMs: number): Promise<number> {
  const run = await prepare();
  let calls = 1;
  let spentMs = 0;
  const untilMs = performance.now() + Math.min(WARMUP_MS, 3 * roundMs);
  while (performance.now() < untilMs || spentMs < roundMs / 4) {
    const fromMs = performance.now();
    run(calls);
    spentMs = performance.now() - fromMs;
    if (spentMs < roundMs / 2) calls *= 2;
  }
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const fromMs = performance.now();
    run(calls);
    best = Math.min(best, ((performance.now() - fromMs) * 1e6) / calls);
  }
  return best;
}
