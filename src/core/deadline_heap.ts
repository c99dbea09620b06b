/**
 * When something is due next: a binary heap with at most one entry per subject.
 *
 * A subject is due at the earliest of its own deadlines, which move later all the time (every location of a member
 * postpones its fence timeout). So only an earlier time moves a subject in the heap. A later one is found when the
 * entry comes up: whoever pops a subject looks at its real deadlines and pushes it again.
 */
export interface Scheduled {
  /** Where the subject stands in the heap, -1 when it is not in it. Owned by the heap. */
  heapIndex: number;
}

export class DeadlineHeap<T extends Scheduled> {
  readonly #times: number[] = [];
  readonly #subjects: T[] = [];

  get size(): number {
    return this.#times.length;
  }

  /** Time of the earliest entry in milliseconds; Infinity when empty. */
  get nextMs(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Wakes the subject at `atMs` at the latest. Infinity, or a time later than its entry's, changes nothing. */
  push(atMs: number, subject: T): void {
    if (atMs === Number.POSITIVE_INFINITY) return;
    const index = subject.heapIndex;
    if (index < 0) {
      subject.heapIndex = this.#times.length;
      this.#times.push(atMs);
      this.#subjects.push(subject);
      this.#up(subject.heapIndex);
      return;
    }
    if (atMs >= (this.#times[index] as number)) return;
    this.#times[index] = atMs;
    this.#up(index);
  }

  /** Takes out the earliest subject whose entry is not later than `nowMs`. */
  popDue(nowMs: number): T | undefined {
    if (this.nextMs > nowMs) return undefined;
    const subject = this.#subjects[0] as T;
    this.#removeAt(0);
    return subject;
  }

  /** Forgets the subject. */
  remove(subject: T): void {
    if (subject.heapIndex >= 0) this.#removeAt(subject.heapIndex);
  }

  #removeAt(index: number): void {
    (this.#subjects[index] as T).heapIndex = -1;
    const time = this.#times.pop() as number;
    const subject = this.#subjects.pop() as T;
    if (index === this.#times.length) return;
    this.#put(index, time, subject);
    this.#up(index);
    this.#down(subject.heapIndex);
  }

  #up(start: number): void {
    const time = this.#times[start] as number;
    const subject = this.#subjects[start] as T;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const parentTime = this.#times[parent] as number;
      if (parentTime <= time) break;
      this.#put(index, parentTime, this.#subjects[parent] as T);
      index = parent;
    }
    this.#put(index, time, subject);
  }

  #down(start: number): void {
    const time = this.#times[start] as number;
    const subject = this.#subjects[start] as T;
    const length = this.#times.length;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && (this.#times[child + 1] as number) < (this.#times[child] as number)) child++;
      const childTime = this.#times[child] as number;
      if (childTime >= time) break;
      this.#put(index, childTime, this.#subjects[child] as T);
      index = child;
    }
    this.#put(index, time, subject);
  }

  #put(index: number, time: number, subject: T): void {
    this.#times[index] = time;
    this.#subjects[index] = subject;
    subject.heapIndex = index;
  }
}
