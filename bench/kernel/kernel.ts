/** A stage of the processing of locations, measured in isolation in this process. */
export interface Kernel {
  readonly name: string;
  /** Describes one call. */
  readonly summary: string;
  /** Prepares the input of the calls. */
  prepare(): Promise<Calls> | Calls;
}

export interface Calls {
  /** Makes at least this many calls. Returns their number and their CPU time. */
  run(calls: number): Timed;
  close?(): void;
}

export interface Timed {
  readonly calls: number;
  readonly spentMs: number;
}

const WARMUP_ROUNDS = 2;
const ROUNDS = 5;

/** Nanoseconds of CPU time per call: the minimum of several rounds, since other work on the machine only adds time. */
export async function measureKernel(kernel: Kernel, roundMs: number): Promise<number> {
  const calls = await kernel.prepare();
  let count = 1;
  while (calls.run(count).spentMs < roundMs / 2) count *= 2;
  let best = Number.POSITIVE_INFINITY;
  for (let round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
    const timed = calls.run(count);
    if (round >= 0) best = Math.min(best, (timed.spentMs * 1e6) / timed.calls);
  }
  calls.close?.();
  return best;
}

/** Results of calls, stored so that the compiler cannot eliminate the calls. */
const sink: { last: unknown } = { last: undefined };

/** Creates a kernel that calls a function repeatedly, with 0, 1, 2 … */
export function repeated(call: (turn: number) => unknown): Calls {
  return {
    run(calls) {
      const from = process.cpuUsage();
      for (let turn = 0; turn < calls; turn++) sink.last = call(turn);
      return { calls, spentMs: cpuMsSince(from) };
    },
  };
}

/**
 * Creates a kernel from a function that processes several items at once, a fixed number or that of each input. The time
 * of `prepared`, which creates its input, is excluded.
 */
export function inBatches<Input>(
  size: number | ((input: Input) => number),
  prepared: () => Input,
  call: (input: Input) => unknown,
): Calls {
  return {
    run(calls) {
      let [done, spentMs] = [0, 0];
      while (done < calls) {
        const input = prepared();
        const from = process.cpuUsage();
        sink.last = call(input);
        spentMs += cpuMsSince(from);
        done += typeof size === 'number' ? size : size(input);
      }
      return { calls: done, spentMs };
    },
  };
}

/** CPU time of the process, including garbage collection. Other work on the machine does not count. */
function cpuMsSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
