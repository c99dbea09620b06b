const LONG_MS = 1;

/**
 * Scheduler of long work on the main thread: the work runs in pieces of a few milliseconds, each in its own turn of the
 * event loop. However much work there is, other tasks wait for one piece at most.
 */
export class TaskScheduler {
  readonly #waiting: (() => void)[] = [];
  readonly #line: (() => void)[] = [];
  #isAlone = false;

  /** Returns the start time of a piece. */
  begin(): number {
    return performance.now();
  }

  /** Whether a piece that began at `begun` has taken so long that it should yield. */
  isLong(begun: number): boolean {
    return performance.now() - begun > LONG_MS;
  }

  /** Resolves in a turn of its own, in the order of calls. Await it before each piece but the first. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  /**
   * Runs work that yields with `next`, excluding other such work, so that only one holds its memory at a time.
   * `goesOn`: runs next, because it continues work already begun.
   */
  async alone<T>(work: () => T | Promise<T>, { goesOn = false } = {}): Promise<T> {
    if (this.#isAlone) {
      await new Promise<void>((resolve) => (goesOn ? this.#line.unshift(resolve) : this.#line.push(resolve)));
    }
    this.#isAlone = true;
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#isAlone = false;
      else next();
    }
  }

  readonly #give = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#give);
  };
}
