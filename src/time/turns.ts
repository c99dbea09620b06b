const LONG_MS = 1;

/**
 * How work that takes long is done on the thread that serves everybody: in pieces of a few milliseconds, each in a turn of
 * the event loop of its own. However much of it there is, each turn does one piece, so everybody else waits for no more
 * than that.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  readonly #line: (() => void)[] = [];
  #isAlone = false;

  /** The moment at which a piece begins. */
  begin(): number {
    return performance.now();
  }

  /** Whether a piece that began then has taken so long that others should have their turn. */
  isLong(begun: number): boolean {
    return performance.now() - begun > LONG_MS;
  }

  /** Resolves in a turn that nobody else has, in the order of asking. Ask before each piece but the first. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  /**
   * Runs work, which asks for its turns, while no other such work is under way: what it holds in memory is held once.
   * `goesOn`: it is the next to run, since it goes on with what has been begun.
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
