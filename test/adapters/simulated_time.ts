interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock with timers that the test advances. */
export class SimulatedTime {
  nowMs = Date.UTC(2026, 10, 20, 10);
  readonly #timers = new Set<Timer>();

  readonly now = (): number => this.nowMs;

  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { dueMs: this.nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Times until the pending timers are due, in order. */
  get pendingMs(): number[] {
    return [...this.#timers].map(({ dueMs }) => dueMs - this.nowMs).sort((a, b) => a - b);
  }

  /** Advances the time, and runs timers at their due times. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let timer = this.#first(endMs); timer !== undefined; timer = this.#first(endMs)) {
      this.#timers.delete(timer);
      this.nowMs = timer.dueMs;
      timer.callback();
    }
    this.nowMs = endMs;
  }

  #first(endMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= endMs);
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }
}
