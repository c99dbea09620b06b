/** A timer. Of several at the same time, the first scheduled one fires first. */
interface Happening {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  isOff: boolean;
}

/**
 * A clock that jumps to the next timer as soon as there is nothing left to do. All consequences of one event, in promises too,
 * complete before the next. So hours pass in a moment, and the same seed gives the same run.
 */
export class SimulatedClock {
  nowMs = 0;
  readonly #heap: Happening[] = [];
  #orders = 0;
  #isRunning = false;

  readonly elapsed = (): number => this.nowMs;

  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    const happening: Happening = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: ++this.#orders,
      callback,
      isOff: false,
    };
    this.#add(happening);
    return () => {
      happening.isOff = true;
    };
  };

  /** Lets time pass until the returned function is called. */
  run(): () => void {
    this.#isRunning = true;
    const step = (): void => {
      if (!this.#isRunning) return;
      this.#next();
      setImmediate(step);
    };
    setImmediate(step);
    return () => {
      this.#isRunning = false;
    };
  }

  /** Resolves after that many milliseconds, while the clock is running. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(ms, resolve));
  }

  #next(): void {
    let happening = this.#takeFirst();
    while (happening?.isOff) happening = this.#takeFirst();
    if (happening === undefined) return;
    this.nowMs = happening.atMs;
    happening.callback();
  }

  #add(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent] as Happening, happening)) break;
      heap[at] = heap[parent] as Happening;
      at = parent;
    }
    heap[at] = happening;
  }

  #takeFirst(): Happening | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Happening)) child++;
      if (isBefore(last, heap[child] as Happening)) break;
      heap[at] = heap[child] as Happening;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
