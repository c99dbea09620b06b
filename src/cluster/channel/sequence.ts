/** Consecutive missing numbers. */
export interface Gap {
  readonly first: number;
  readonly last: number;
}

/**
 * Numbered messages of one sender on their way to be delivered in order, each once:
 *
 *   the number of a message is   | then the message
 *   -----------------------------+----------------------------------------------------------------------
 *   below `next`                 | was delivered, or given up
 *   `next`                       | is to be delivered; it is held if it has to wait
 *   above                        | is early: it is held until those before it are delivered, or given up
 */
export class Sequence<Message> {
  #next = 1;
  /** Highest number that was sent. */
  #sent = 0;
  readonly #held = new Map<number, Message>();

  /** Number of the next message to deliver. */
  get next(): number {
    return this.#next;
  }

  get sent(): number {
    return this.#sent;
  }

  /** Whether everything that was sent is delivered. */
  get isComplete(): boolean {
    return this.#next > this.#sent;
  }

  /** The next message to deliver, if it is held. */
  get first(): Message | undefined {
    return this.#held.get(this.#next);
  }

  /** Whether a number is missing. */
  get hasGaps(): boolean {
    return this.#held.size < this.#sent - this.#next + 1;
  }

  /** Whether a message was delivered, was given up, or is held. */
  has(number: number): boolean {
    return number < this.#next || this.#held.has(number);
  }

  /** The sender has sent all numbers up to this one. */
  reach(number: number): void {
    this.#sent = Math.max(this.#sent, number);
  }

  hold(number: number, message: Message): void {
    this.reach(number);
    this.#held.set(number, message);
  }

  /** The next message is delivered. Hot path. */
  advance(): void {
    this.#held.delete(this.#next);
    this.reach(this.#next);
    this.#next++;
  }

  /** Ranges of missing numbers in ascending order, at most that many. */
  gaps(most: number): readonly Gap[] {
    if (this.isComplete) return [];
    const gaps: Gap[] = [];
    let first = this.#next;
    for (const held of [...this.#held.keys(), this.#sent + 1].sort((a, b) => a - b)) {
      if (gaps.length === most) break;
      if (held > first) gaps.push({ first, last: held - 1 });
      first = Math.max(first, held + 1);
    }
    return gaps;
  }

  /** Gives up all numbers up to this one. Returns the messages of them that were held. */
  skip(upTo: number): readonly Message[] {
    const dropped: Message[] = [];
    for (const [number, message] of this.#held) {
      if (number > upTo) continue;
      dropped.push(message);
      this.#held.delete(number);
    }
    this.#next = Math.max(this.#next, upTo + 1);
    this.reach(upTo);
    return dropped;
  }
}
