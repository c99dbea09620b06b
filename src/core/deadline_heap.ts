/**
 * Binary heap of the next deadline of each subject, with at most one entry per subject.
 *
 * Most changes postpone a deadline: every location of a member restarts its fence timeout. So only an earlier time
 * moves a subject in the heap. When an entry is popped, the caller computes the actual deadline and pushes the subject
 * again if that is later.
 */
export interface Scheduled {
  /** Index of the subject in the heap; -1 if it is not in the heap. Written only by the heap. */
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

  /**
   * Schedules the subject for `atMs` or earlier. Does nothing if `atMs` is Infinity or later than the existing entry.
   */
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

  /** Removes and returns the earliest subject if its entry is not later than `nowMs`. */
  popDue(nowMs: number): T | undefined {
    if (this.nextMs > nowMs) return undefined;
    const subject = this.#subjects[0] as T;
    this.#removeAt(0);
    return subject;
  }

  /** Removes the subject from the heap. */
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
