const LONG_MS = 1;

/**
 * Scheduler of long work on the main thread. The work runs in pieces of a few milliseconds, each in its own turn of the
 * event loop, so that other tasks wait for at most one piece.
 */
export class TaskScheduler {
  readonly #waiting: (() => void)[] = [];
  readonly #line: (() => void)[] = [];
  #isAlone = false;

  /** Returns the start time of a piece. */
  begin(): number {
    return performance.now();
  }

  /** Whether a piece that started at `begun` has run so long that it should yield. */
  isLong(begun: number): boolean {
    return performance.now() - begun > LONG_MS;
  }

  /**
   * Resolves in a separate turn of the event loop, in the order of calls. Await it before each piece except the first.
   */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  /**
   * Runs work that yields with `next`, exclusively, so that only one such work uses its memory at a time. `goesOn`
   * gives precedence to work that continues earlier work.
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
