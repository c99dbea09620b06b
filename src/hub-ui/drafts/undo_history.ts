import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

/** Depth of the undo stack. */
const PAST_MAX = 200;

/** Versions of a value under edit, with undo and redo. */
export class UndoHistory<T> {
  /** Current version. */
  readonly value: ReadonlySignal<T>;
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly canRedo = computed(() => this.#future.value.length > 0);
  readonly #value: Signal<T>;
  readonly #past = signal<readonly T[]>([]);
  readonly #future = signal<readonly T[]>([]);
  #lastStep: string | undefined;

  constructor(first: T) {
    this.#value = signal(first);
    this.value = this.#value;
  }

  /** Adds a version. Consecutive versions with the same `step`, such as the letters of a word, are one undo step. */
  add(next: T, step?: string): void {
    const continues = step !== undefined && step === this.#lastStep && this.canUndo.peek();
    if (!continues) this.#past.value = [...this.#past.peek().slice(-PAST_MAX), this.#value.peek()];
    this.#future.value = [];
    this.#value.value = next;
    this.#lastStep = step;
  }

  /** Replaces the current version. */
  replace(next: T): void {
    this.#value.value = next;
    this.#lastStep = undefined;
  }

  undo(): void {
    this.#step(this.#past, this.#future);
  }

  redo(): void {
    this.#step(this.#future, this.#past);
  }

  /** Pops a version from one stack and pushes the current one onto the other. */
  #step(from: Signal<readonly T[]>, to: Signal<readonly T[]>): void {
    if (from.peek().length === 0) return;
    const next = from.peek().at(-1) as T;
    from.value = from.peek().slice(0, -1);
    to.value = [...to.peek(), this.#value.peek()];
    this.replace(next);
  }
}
