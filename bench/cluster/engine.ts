interface ScheduledEvent {
  readonly atUs: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Discrete-event simulation: runs scheduled events in order of time. Times are in microseconds. */
export class Engine {
  nowUs = 0;
  readonly #heap: ScheduledEvent[] = [];
  #orders = 0;

  after(us: number, happen: () => void): void {
    this.#add({ atUs: this.nowUs + us, order: ++this.#orders, happen });
  }

  /** Runs all events until this time. */
  run(untilUs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atUs <= untilUs; next = this.#heap[0]) {
      this.#removeFirst();
      this.nowUs = next.atUs;
      next.happen();
    }
    this.nowUs = untilUs;
  }

  #add(event: ScheduledEvent): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as ScheduledEvent)) break;
      heap[at] = heap[parent] as ScheduledEvent;
      at = parent;
    }
    heap[at] = event;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as ScheduledEvent;
    if (heap.length === 0) return;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < heap.length && isBefore(heap[right] as ScheduledEvent, heap[child] as ScheduledEvent)) child = right;
      if (!isBefore(heap[child] as ScheduledEvent, last)) break;
      heap[at] = heap[child] as ScheduledEvent;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}

/** Threads, or cores, that process one task each at a time, in order of arrival. */
export class Workers {
  readonly #engine: Engine;
  /** Time at which each becomes free. */
  readonly #freeUs: number[];
  #givenUs = 0;

  constructor(engine: Engine, count = 1) {
    this.#engine = engine;
    this.#freeUs = Array.from({ length: count }, () => 0);
  }

  /** Total time of work so far. */
  get busyUs(): number {
    const { nowUs } = this.#engine;
    return this.#freeUs.reduce((us, freeUs) => us - Math.max(0, freeUs - nowUs), this.#givenUs);
  }

  /** Runs a task. Adds `wakeUs` if the thread was asleep. */
  do(us: number, done?: () => void, wakeUs = 0): void {
    const { nowUs } = this.#engine;
    let first = 0;
    for (let at = 1; at < this.#freeUs.length; at++) {
      if ((this.#freeUs[at] as number) < (this.#freeUs[first] as number)) first = at;
    }
    const free = this.#freeUs[first] as number;
    const takesUs = free <= nowUs ? us + wakeUs : us;
    const endUs = Math.max(nowUs, free) + takesUs;
    this.#freeUs[first] = endUs;
    this.#givenUs += takesUs;
    if (done !== undefined) this.#engine.after(endUs - nowUs, done);
  }
}

/** Collects items during a call in flight. They go out with the next call. */
export class Gathered<Each> {
  readonly #send: (all: readonly Each[], done: () => void) => void;
  #waiting: Each[] = [];
  #isUnderWay = false;

  /** `send` receives all waiting items, and calls back when it is done. */
  constructor(send: (all: readonly Each[], done: () => void) => void) {
    this.#send = send;
  }

  add(each: Each): void {
    this.#waiting.push(each);
    if (!this.#isUnderWay) this.#next();
  }

  #next(): void {
    const all = this.#waiting;
    this.#isUnderWay = all.length > 0;
    this.#waiting = [];
    if (all.length > 0) this.#send(all, () => this.#next());
  }
}
