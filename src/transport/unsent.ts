import type { CountUnsent, UnsentData } from '../exchange.ts';

/**
 * Bound on the unsent bytes of all connections together, in responses and frames. Exceeding it closes the connection
 * with the most unsent bytes, which is never a client that reads.
 */
export class Unsent implements CountUnsent {
  readonly #maxBytes: number;
  readonly #waiting = new Set<UnsentData>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  changed(by: number, one: UnsentData): void {
    this.#bytes += by;
    if (one.bytes > 0) this.#waiting.add(one);
    else this.#waiting.delete(one);
    while (this.#bytes > this.#maxBytes) {
      const longest = this.#longest();
      if (longest === undefined) return;
      longest.drop();
      // A later report by the connection itself is ignored.
      this.#waiting.delete(longest);
    }
  }

  #longest(): UnsentData | undefined {
    let longest: UnsentData | undefined;
    for (const one of this.#waiting) {
      if (longest === undefined || one.bytes > longest.bytes) longest = one;
    }
    return longest;
  }
}
