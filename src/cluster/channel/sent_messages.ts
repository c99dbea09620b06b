/** Bytes of retained messages: initially per receiver, at most per receiver, and of all together. */
const [BYTES_AT_FIRST, BYTES_MAX, BYTES_OF_ALL] = [1 << 16, 8 << 20, 32 << 20] as const;
/** Heartbeats for which a message is retained: at one a second, two to three seconds. */
const KEPT_BEATS = 2;
/** Slots of dropped messages before the list is compacted. */
const GONE_MAX = 1000;

/** Memory budget of all receivers. */
export class SentBudget {
  #bytes = 0;

  /** Reserves bytes; false if the budget does not allow it. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > BYTES_OF_ALL) return false;
    this.#bytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Result of a retransmission request. */
export interface SentAgain {
  /** Last unavailable number; 0 for none. */
  readonly lost: number;
  /** All later messages. Their bytes are valid until a message is added. */
  readonly messages: readonly Uint8Array[];
}

interface Slot {
  readonly number: number;
  readonly at: number;
  readonly length: number;
  readonly beat: number;
}

/**
 * Messages sent to one receiver in the last seconds, for retransmission. They are in a ring buffer, which grows up to its
 * bound, and then drops the oldest messages.
 */
export class SentMessages {
  readonly #budget: SentBudget;
  #bytes = new Uint8Array(0);
  #slots: Slot[] = [];
  /** Index of the oldest message that is still there. */
  #oldest = 0;
  /** Offset of the next message. */
  #end = 0;
  #beats = 0;

  constructor(budget: SentBudget) {
    this.#budget = budget;
  }

  /** Retains a copy, unless it is too large. Numbers must rise. Hot path. */
  add(number: number, message: Uint8Array): void {
    const { length } = message;
    if (length > BYTES_MAX) return;
    for (let at = this.#roomFor(length); ; at = this.#roomFor(length)) {
      if (at !== undefined) {
        this.#bytes.set(message, at);
        this.#slots.push({ number, at, length, beat: this.#beats });
        this.#end = at + length;
        return;
      }
      if (this.#grow(length)) continue;
      if (this.#isEmpty) return;
      this.#dropOldest();
    }
  }

  /** Messages with these numbers, as far as they are retained. */
  again(first: number, last: number): SentAgain {
    const found = this.#slots.slice(this.#oldest).filter(({ number }) => number >= first && number <= last);
    let lost = last;
    while (found.length > 0 && found.at(lost - last - 1)?.number === lost) lost--;
    const messages = found.filter(({ number }) => number > lost);
    return {
      lost: lost < first ? 0 : lost,
      messages: messages.map(({ at, length }) => this.#bytes.subarray(at, at + length)),
    };
  }

  /** Drops messages that are older than two seconds. Call it once a second. */
  beat(): void {
    this.#beats++;
    while (!this.#isEmpty && (this.#slots[this.#oldest] as Slot).beat < this.#beats - KEPT_BEATS) this.#dropOldest();
    if (this.#isEmpty) this.clear();
  }

  /** Drops all messages and releases the memory. */
  clear(): void {
    this.#budget.giveBack(this.#bytes.length);
    this.#bytes = new Uint8Array(0);
    this.#slots = [];
    this.#oldest = 0;
    this.#end = 0;
  }

  get #isEmpty(): boolean {
    return this.#oldest === this.#slots.length;
  }

  /** Offset with room for that many bytes: after the newest message, or before the oldest one. */
  #roomFor(length: number): number | undefined {
    const size = this.#bytes.length;
    if (this.#isEmpty) return length <= size ? 0 : undefined;
    const { at: begin } = this.#slots[this.#oldest] as Slot;
    if (this.#end <= begin) return this.#end + length <= begin ? this.#end : undefined;
    if (this.#end + length <= size) return this.#end;
    return length <= begin ? 0 : undefined;
  }

  #grow(length: number): boolean {
    const places = this.#slots.slice(this.#oldest);
    const before = this.#bytes;
    const needed = places.reduce((sum, place) => sum + place.length, length);
    const size = Math.max(BYTES_AT_FIRST, 2 * before.length, 2 ** Math.ceil(Math.log2(needed)));
    if (size > BYTES_MAX || !this.#budget.take(size - before.length)) return false;
    this.#bytes = new Uint8Array(size);
    this.#end = 0;
    this.#oldest = 0;
    this.#slots = places.map((place) => {
      const at = this.#end;
      this.#bytes.set(before.subarray(place.at, place.at + place.length), at);
      this.#end += place.length;
      return { ...place, at };
    });
    return true;
  }

  #dropOldest(): void {
    this.#oldest++;
    if (this.#oldest < GONE_MAX || 2 * this.#oldest < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#oldest);
    this.#oldest = 0;
  }
}
