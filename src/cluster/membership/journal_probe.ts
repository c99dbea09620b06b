import type { ClusterContext } from '../context.ts';
/**
 * Liveness probe of the journal: once a second this hub appends to its own journal, even if there is nothing to store. A hub
 * that others have sealed finds out that way, whatever it has received of the configuration log, and a load balancer learns
 * within two seconds of a hub whose requests would wait in vain.
 */
export interface JournalProbeOptions extends Pick<ClusterContext, 'elapsed' | 'schedule'> {
  /** Resolves when an append was stored that began after this call. */
  barrier(): Promise<void>;
  /** Called after each stored append. */
  committed(): void;
}

const EVERY_MS = 1000;
/** Age of the last append beyond which a hub is unhealthy. */
const LATE_MS = 2000;

export class JournalProbe {
  readonly #options: JournalProbeOptions;
  /** Start of the last stored append; undefined before `start`. */
  #keptMs: number | undefined;
  #isBeating = false;
  #cancel: () => void = () => undefined;

  constructor(options: JournalProbeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#keptMs = this.#options.elapsed();
    this.#beat();
  }

  stop(): void {
    this.#cancel();
  }

  /** Milliseconds without a stored append; undefined if that is normal. */
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
    const { barrier, committed, elapsed } = this.#options;
    const begunMs = elapsed();
    this.#isBeating = true;
    try {
      await barrier();
      this.#keptMs = begunMs;
      committed();
    } catch {
      // The journal is closed, and this hub is out; the journal reports why.
      this.stop();
    }
    this.#isBeating = false;
  }
}
