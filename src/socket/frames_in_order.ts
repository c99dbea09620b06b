import type { WaitingFrames } from './waiting_frames.ts';

export interface FramesOptions {
  /** Runs a frame: at once, or as a promise where it has to wait. Neither may fail. */
  run(text: string): Promise<void> | undefined;
  /** Told once when more wait than may. */
  overflowed(): void;
  /** Those of all connections together. */
  readonly all: WaitingFrames;
  readonly waitingMax?: number;
  readonly waitingMaxCharacters?: number;
}

/**
 * The frames of a connection, each run when the one before is done: a token may have to be verified first. What has been
 * taken is run, also when the connection ends meanwhile: whoever publishes and leaves has published.
 */
export class FramesInOrder {
  readonly #options: FramesOptions;
  #waiting: string[] = [];
  /** Of those that have not begun. */
  #frames = 0;
  #characters = 0;
  #busy = false;
  #isOver = false;

  constructor(options: FramesOptions) {
    this.#options = options;
  }

  /** Whether a frame that comes now would be run at once. */
  get isIdle(): boolean {
    return !this.#busy && !this.#isOver;
  }

  /** hot: at once where nothing waits. */
  push(text: string): void {
    if (this.#isOver) return;
    if (this.#busy) {
      this.#wait(text);
      return;
    }
    const running = this.#options.run(text);
    if (running !== undefined) void this.#goOn(running, text);
  }

  #wait(text: string): void {
    const { all, overflowed, waitingMax = 10_000, waitingMaxCharacters = 32 << 20 } = this.#options;
    if (this.#frames >= waitingMax || this.#characters + text.length > waitingMaxCharacters || all.isFull) {
      this.#isOver = true;
      overflowed();
      return;
    }
    this.#waiting.push(text);
    this.#frames++;
    this.#characters += text.length;
    all.add(text);
  }

  async #goOn(running: Promise<void>, first: string): Promise<void> {
    const { all, run } = this.#options;
    this.#busy = true;
    all.add(first);
    await running;
    all.remove(first);
    while (this.#waiting.length > 0) {
      const frames = this.#waiting;
      this.#waiting = [];
      for (const frame of frames) {
        this.#frames--;
        this.#characters -= frame.length;
        await run(frame);
        all.remove(frame);
      }
    }
    this.#busy = false;
  }
}
