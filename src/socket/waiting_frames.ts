/** Memory of a frame besides its characters. */
const OVERHEAD = 128;

/**
 * Counts the frames of all connections, including closed ones, that wait for an access token to be verified. A bound
 * per connection alone would not limit clients that reconnect.
 */
export class WaitingFrames {
  readonly #maxCharacters: number;
  #characters = 0;
  #settled: (() => void)[] = [];

  constructor(maxCharacters = 128 << 20) {
    this.#maxCharacters = maxCharacters;
  }

  /** Whether the bound is reached. */
  get isFull(): boolean {
    return this.#characters >= this.#maxCharacters;
  }

  add(text: string): void {
    this.#characters += text.length + OVERHEAD;
  }

  remove(text: string): void {
    this.#characters -= text.length + OVERHEAD;
    if (this.#characters > 0) return;
    for (const resolve of this.#settled) resolve();
    this.#settled = [];
  }

  /** Resolves when no frame waits. */
  settled(): Promise<void> {
    if (this.#characters === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }
}
