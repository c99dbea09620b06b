/**
 * Malformed messages of other hubs, of one sort. They are skipped and counted. Only the first one is logged, since others will
 * be of the same kind.
 */
export class ProtocolErrors {
  readonly #sort: string;
  readonly #notice: (text: string) => void;
  #count = 0;

  /** `sort`: completes "Skipped a malformed message about". */
  constructor(sort: string, notice: (text: string) => void) {
    this.#sort = sort;
    this.#notice = notice;
  }

  get count(): number {
    return this.#count;
  }

  /** Reads a message; an error that this throws counts. Returns undefined then. */
  reading<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      this.add(error);
      return undefined;
    }
  }

  add(error: unknown): void {
    this.#count++;
    if (this.#count > 1) return;
    this.#notice(`Skipped a malformed message about ${this.#sort}: ${(error as Error).message}`);
  }
}
