interface Happening {
  readonly atUs: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Time in which things happen one after the other, in microseconds. */
export class Engine {
  nowUs = 0;
  readonly #heap: Happening[] = [];
  #orders = 0;

  after(us: number, happen: () => void): void {
    this.#add({ atUs: this.nowUs + us, order: ++this.#orders, happen });
  }

  /** Lets everything happen until then. */
  run(untilUs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atUs <= untilUs; next = this.#heap[0]) {
      this.#removeFirst();
      this.nowUs = next.atUs;
      next.happen();
    }
    this.nowUs = untilUs;
  }

  #add(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(happening, heap[parent] as Happening)) break;
      heap[at] = heap[parent] as Happening;
      at = parent;
    }
    heap[at] = happening;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Happening;
    if (heap.length === 0) return;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < heap.length && isBefore(heap[right] as Happening, heap[child] as Happening)) child = right;
      if (!isBefore(heap[child] as Happening, last)) break;
      heap[at] = heap[child] as Happening;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}

/** Threads, or cores, that do one piece of work each at a time, first come, first served. */
export class Workers {
  readonly #engine: Engine;
  /** When each of them is free. */
  readonly #freeUs: number[];
  #givenUs = 0;

  constructor(engine: Engine, count = 1) {
    this.#engine = engine;
    this.#freeUs = Array.from({ length: count }, () => 0);
  }

  /** For how long they have worked so far, all together. */
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

/** Items that wait during a call in flight, and go with the next one. */
export class Gathered<Each> {
  readonly #send: (all: readonly Each[], done: () => void) => void;
  #waiting: Each[] = [];
  #isUnderWay = false;

  /** `send` is handed all that waits, and says when it is done. */
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
