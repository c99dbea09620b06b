import type { Arrivals } from './arrivals.ts';
import type { Usage } from './usage.ts';

const SAVE_MS = 60_000;

export interface SavingOptions {
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Told that the usage could not be kept: it is tried again. */
  problem(error: unknown): void;
  readonly arrivals: Arrivals;
  /** Whether there is a provider of that id. */
  exists(provider: string): boolean;
}

/** Saves the usage every minute, and when a month ends. */
export class Saving {
  readonly #usage: Usage;
  readonly #options: SavingOptions;
  #cancel: (() => void) | undefined;

  constructor(usage: Usage, options: SavingOptions) {
    this.#usage = usage;
    this.#options = options;
  }

  start(): void {
    const { now, schedule, arrivals, exists } = this.#options;
    const delayMs = Math.max(1, Math.min(SAVE_MS, this.#usage.endsMs - now()));
    this.#cancel = schedule(delayMs, () => {
      arrivals.retain(exists);
      void this.#save();
      this.start();
    });
  }

  async close(): Promise<void> {
    this.#cancel?.();
    await this.#save();
  }

  async #save(): Promise<void> {
    try {
      await this.#usage.save();
    } catch (error) {
      this.#options.problem(error);
    }
  }
}
