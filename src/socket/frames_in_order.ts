import type { WaitingFrames } from './waiting_frames.ts';

export interface FramesOptions {
  /** Runs a frame. Returns a promise if the frame must wait. Must not throw or reject. */
  run(text: string): Promise<void> | undefined;
  /** Called once when too many frames wait. */
  overflowed(): void;
  /** Waiting frames of all connections. */
  readonly all: WaitingFrames;
  readonly waitingMax?: number;
  readonly waitingMaxCharacters?: number;
}

/**
 * Runs the frames of a connection sequentially, since a frame may wait until its token is verified. Accepted frames run
 * even if the connection closes in the meantime, so that a client may publish and disconnect.
 */
export class FramesInOrder {
  readonly #options: FramesOptions;
  #waiting: string[] = [];
  /** Number and total size of the waiting frames. */
  #frames = 0;
  #characters = 0;
  #busy = false;
  #isOver = false;

  constructor(options: FramesOptions) {
    this.#options = options;
  }

  /** Whether the next frame would run immediately. */
  get isIdle(): boolean {
    return !this.#busy && !this.#isOver;
  }

  /** hot: synchronous while no frame waits. */
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
