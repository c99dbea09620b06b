/** What a frame counts beside its text. */
const OVERHEAD = 128;

/**
 * The frames that wait for access tokens to be verified, of all connections together, those that have ended included: a
 * bound for each connection is none for clients that come and go.
 */
export class WaitingFrames {
  readonly #maxCharacters: number;
  #characters = 0;
  #settled: (() => void)[] = [];

  constructor(maxCharacters = 128 << 20) {
    this.#maxCharacters = maxCharacters;
  }

  /** Whether no other frame may wait. */
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

  /** Resolves when none waits. */
  settled(): Promise<void> {
    if (this.#characters === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }
}
