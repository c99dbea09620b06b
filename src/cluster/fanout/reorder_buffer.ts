/** Consecutive missing numbers. */
export interface Gap {
  readonly first: number;
  readonly last: number;
}

/**
 * Puts the numbered messages of one sender in sequence and drops duplicates.
 *
 *   the number of a message is   | then the message
 *   -----------------------------+---------------------------------------------------------------
 *   below the next one           | is a duplicate
 *   the next one                 | is in sequence, and so are the retained ones that follow it
 *   above                        | is early: it is retained until the ones before it have arrived
 *
 * The next number is unknown before the first message if the sender has started before. Missing messages arrive late, or are
 * skipped if they are unavailable.
 */
export class ReorderBuffer<Message> {
  #next: number | undefined;
  /** Highest number that was sent. */
  #sent = 0;
  readonly #early = new Map<number, Message>();

  /** `next`: number of the first message; undefined: any. */
  constructor(next: number | undefined) {
    this.#next = next;
  }

  /** Registers a received message; the caller must then retain an early one. Hot path. */
  come(number: number): 'inTurn' | 'again' | 'early' {
    this.#next ??= number;
    this.#sent = Math.max(this.#sent, number);
    if (number < this.#next || this.#early.has(number)) return 'again';
    if (number > this.#next) return 'early';
    this.#next++;
    return 'inTurn';
  }

  keep(number: number, message: Message): void {
    this.#early.set(number, message);
  }

  /** The sender has sent all numbers up to this one. */
  reach(number: number): void {
    this.#next ??= number + 1;
    this.#sent = Math.max(this.#sent, number);
  }

  /** Whether all numbers up to this one have arrived, or were skipped. */
  has(number: number): boolean {
    return this.#next === undefined || this.#next > number;
  }

  /** Number of the next message in sequence; undefined if unknown. */
  get next(): number | undefined {
    return this.#next;
  }

  /** First range of missing numbers, or undefined. */
  get missing(): Gap | undefined {
    const first = this.#next;
    if (first === undefined || first > this.#sent || this.#early.has(first)) return undefined;
    const last = Math.min(this.#sent, ...[...this.#early.keys()].map((number) => number - 1));
    return { first, last };
  }

  /** Missing numbers as ranges in ascending order, at most that many. */
  gaps(most: number): readonly Gap[] {
    const gaps: Gap[] = [];
    let first = this.#next ?? Infinity;
    for (const early of [...this.#early.keys(), this.#sent + 1].sort((a, b) => a - b)) {
      if (gaps.length === most) break;
      if (early > first) gaps.push({ first, last: early - 1 });
      first = Math.max(first, early + 1);
    }
    return gaps;
  }

  /** Next message in sequence if it was retained. */
  takeNext(): Message | undefined {
    const next = this.#next;
    if (next === undefined) return undefined;
    const message = this.#early.get(next);
    if (message === undefined) return undefined;
    this.#early.delete(next);
    this.#next = next + 1;
    return message;
  }

  /** Drops the retained messages, and returns them. */
  drop(): readonly Message[] {
    const dropped = [...this.#early.values()];
    this.#early.clear();
    return dropped;
  }

  /**
   * Skips missing numbers up to this one, because they are unavailable. Retained messages up to it must have been taken before.
   */
  skip(upTo: number): void {
    this.#next = Math.max(this.#next ?? 0, upTo + 1);
  }
}
