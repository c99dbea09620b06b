/**
 * Whether this hub can append to its journal: once a second it appends to its own, even if there is nothing to
 * keep. A hub that other hubs have sealed finds out that way, whatever it has heard of the configuration log, and a load
 * balancer learns within two seconds of a hub whose requests would wait in vain.
 */
export interface PulseOptions {
  /** Resolves when an append was kept that began after this call. */
  barrier(): Promise<void>;
  /** Called after each append that was kept. */
  kept(): void;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

const EVERY_MS = 1000;
/** A hub whose last append is older than this is not healthy. */
const LATE_MS = 2000;

export class Pulse {
  readonly #options: PulseOptions;
  /** When the last append began that was kept; undefined before `start`. */
  #keptMs: number | undefined;
  #isBeating = false;
  #cancel: () => void = () => undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  start(): void {
    this.#keptMs = this.#options.elapsed();
    this.#beat();
  }

  stop(): void {
    this.#cancel();
  }

  /** For how many milliseconds no append has been kept; undefined if that is nothing unusual. */
  get lateMs(): number | undefined {
    if (this.#keptMs === undefined) return undefined;
    const silentMs = this.#options.elapsed() - this.#keptMs;
    return silentMs > LATE_MS ? silentMs : undefined;
  }

  #beat(): void {
    this.#cancel = this.#options.schedule(EVERY_MS, () => this.#beat());
    if (!this.#isBeating) void this.#append();
  }

  async #append(): Promise<void> {
    const { barrier, kept, elapsed } = this.#options;
    const begunMs = elapsed();
    this.#isBeating = true;
    try {
      await barrier();
      this.#keptMs = begunMs;
      kept();
    } catch {
      // The journal has ended, and this hub is out: the journal says why.
      this.stop();
    }
    this.#isBeating = false;
  }
}
