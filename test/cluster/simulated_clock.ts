/** A timer. Of several at the same time, the first scheduled one fires first. */
interface ScheduledCall {
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
  readonly #heap: ScheduledCall[] = [];
  #orders = 0;
  #isRunning = false;

  readonly elapsed = (): number => this.nowMs;

  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    const call: ScheduledCall = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: ++this.#orders,
      callback,
      isOff: false,
    };
    this.#add(call);
    return () => {
      call.isOff = true;
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
    let call = this.#takeFirst();
    while (call?.isOff) call = this.#takeFirst();
    if (call === undefined) return;
    this.nowMs = call.atMs;
    call.callback();
  }

  #add(call: ScheduledCall): void {
    const heap = this.#heap;
    let at = heap.push(call) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent] as ScheduledCall, call)) break;
      heap[at] = heap[parent] as ScheduledCall;
      at = parent;
    }
    heap[at] = call;
  }

  #takeFirst(): ScheduledCall | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as ScheduledCall)) child++;
      if (isBefore(last, heap[child] as ScheduledCall)) break;
      heap[at] = heap[child] as ScheduledCall;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: ScheduledCall, b: ScheduledCall): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
