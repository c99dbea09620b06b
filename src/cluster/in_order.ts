/** Numbers one behind the other that are missing. */
export interface Gap {
  readonly first: number;
  readonly last: number;
}

/**
 * The numbered messages of one sender, of which each comes in turn and once.
 *
 *   the number of a message is   | then
 *   -----------------------------+---------------------------------------------------------------
 *   below the next one           | it has come already
 *   the next one                 | it is in turn, and so are those kept behind it
 *   above                        | it is early: it is kept until those in front of it have come
 *
 * Which number is the next is not known before the first message, where the sender has begun before. What is missing comes
 * late, or is skipped when it cannot be had.
 */
export class InOrder<Message> {
  #next: number | undefined;
  /** All up to there were sent. */
  #sent = 0;
  readonly #early = new Map<number, Message>();

  /** `next`: the number of the first message; undefined: any. */
  constructor(next: number | undefined) {
    this.#next = next;
  }

  /** A message has come; one that is early is to be kept. hot */
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

  /** The sender has sent all up to a number. */
  reach(number: number): void {
    this.#next ??= number + 1;
    this.#sent = Math.max(this.#sent, number);
  }

  /** Whether all up to a number have come, or were skipped. */
  has(number: number): boolean {
    return this.#next === undefined || this.#next > number;
  }

  /** The number that is in turn; undefined where it is not known. */
  get next(): number | undefined {
    return this.#next;
  }

  /** The first numbers that are missing one behind the other; undefined for none. */
  get missing(): Gap | undefined {
    const first = this.#next;
    if (first === undefined || first > this.#sent || this.#early.has(first)) return undefined;
    const last = Math.min(this.#sent, ...[...this.#early.keys()].map((number) => number - 1));
    return { first, last };
  }

  /** What is missing, as runs of numbers one behind the other in their order; not more runs than so many. */
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

  /** The message that was kept and is in turn now, if there is one. */
  takeNext(): Message | undefined {
    const next = this.#next;
    if (next === undefined) return undefined;
    const message = this.#early.get(next);
    if (message === undefined) return undefined;
    this.#early.delete(next);
    this.#next = next + 1;
    return message;
  }

  /** Forgets what was kept, and returns it. */
  drop(): readonly Message[] {
    const dropped = [...this.#early.values()];
    this.#early.clear();
    return dropped;
  }

  /** What is missing up to a number cannot be had. Messages with such numbers must have been taken before. */
  skip(upTo: number): void {
    this.#next = Math.max(this.#next ?? 0, upTo + 1);
  }
}
