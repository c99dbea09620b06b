/** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
export type Schedule = (delayMs: number, callback: () => void) => () => void;

/** Named deadlines that share one timer. */
export class Ticker<Name> {
  readonly #now: () => number;
  readonly #schedule: Schedule;
  readonly #due: (name: Name) => void;
  readonly #times = new Map<Name, number>();
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #stopped = false;

  constructor(options: { now: () => number; schedule: Schedule; due: (name: Name) => void }) {
    this.#now = options.now;
    this.#schedule = options.schedule;
    this.#due = options.due;
  }

  /** Sets the deadline at which `due` is called with the name, replacing a previous one. Infinity removes it. */
  set(name: Name, atMs: number): void {
    if (this.#stopped) return;
    if (atMs === Number.POSITIVE_INFINITY) this.#times.delete(name);
    else this.#times.set(name, atMs);
    this.#arm();
  }

  /** Cancels all deadlines, and ignores further ones. */
  stop(): void {
    this.#stopped = true;
    this.#times.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const next = Math.min(...this.#times.values());
    if (this.#timer !== undefined && this.#timer.atMs <= next) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (next === Number.POSITIVE_INFINITY) return;
    // Node's timers are limited to 2^31 ms and may fire a millisecond early.
    const delayMs = Math.min(Math.max(1, Math.ceil(next - this.#now())), 0x7fffffff);
    this.#timer = { atMs: next, cancel: this.#schedule(delayMs, () => this.#fire()) };
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = this.#now();
    for (const [name, atMs] of [...this.#times]) {
      if (atMs > nowMs) continue;
      this.#times.delete(name);
      this.#due(name);
    }
    this.#arm();
  }
}
