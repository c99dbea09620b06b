export interface FramesOptions {
  /** Runs a frame: at once, or as a promise where it has to wait. Neither may fail. */
  run(text: string): Promise<void> | undefined;
  /** Told once when more wait than may. */
  overflowed(): void;
  readonly waitingMax?: number;
  readonly waitingMaxCharacters?: number;
}

/** The frames of a connection, each run when the one before is done: a token may have to be verified first. */
export class FramesInOrder {
  readonly #options: FramesOptions;
  #waiting: string[] = [];
  #waitingCharacters = 0;
  #busy = false;
  #closed = false;

  constructor(options: FramesOptions) {
    this.#options = options;
  }

  /** hot: at once where nothing waits. */
  push(text: string): void {
    if (this.#closed) return;
    if (this.#busy) {
      this.#wait(text);
      return;
    }
    const running = this.#options.run(text);
    if (running !== undefined) void this.#goOn(running);
  }

  /** Runs nothing any more. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
  }

  #wait(text: string): void {
    const { overflowed, waitingMax = 10_000, waitingMaxCharacters = 32 << 20 } = this.#options;
    this.#waiting.push(text);
    this.#waitingCharacters += text.length;
    if (this.#waiting.length <= waitingMax && this.#waitingCharacters <= waitingMaxCharacters) return;
    this.close();
    overflowed();
  }

  async #goOn(running: Promise<void>): Promise<void> {
    this.#busy = true;
    await running;
    while (this.#waiting.length > 0) {
      const frames = this.#waiting;
      this.#waiting = [];
      this.#waitingCharacters = 0;
      for (const frame of frames) if (!this.#closed) await this.#options.run(frame);
    }
    this.#busy = false;
  }
}
