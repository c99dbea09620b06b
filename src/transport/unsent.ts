import type { CountUnsent, UnsentData } from '../exchange.ts';

/**
 * One bound on what clients have not read yet, replies and frames of all connections together. What would go beyond it
 * ends the connection that has most: those that read are never the ones that wait for most.
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
      // Whatever it says of that itself is late.
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
