import type { EncodedEvents } from '../core/entity_write.ts';

/** Maximum bytes of waiting events, while the database accepts no writes. */
const BYTES_MAX = 64 << 20;

/**
 * Events that wait for a commit, in order, and those in flight. Unlike rows, no event supersedes another. Beyond the
 * bound all waiting events are dropped: a log with a gap is worth nothing to a reader before the gap, so that the log
 * then begins after it.
 */
export class WaitingEvents {
  readonly #bytesMax: number;
  #inFlight: readonly EncodedEvents[] = [];
  #waiting: EncodedEvents[] = [];
  #waitingBytes = 0;
  /** Whether events before #inFlight, and before #waiting, were dropped. */
  #hasLost = false;
  #losesNext = false;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get inFlight(): readonly EncodedEvents[] {
    return this.#inFlight;
  }

  /** Whether events before those in flight were dropped. */
  get hasLost(): boolean {
    return this.#hasLost;
  }

  put(events: EncodedEvents): void {
    if (this.#waitingBytes + events.bytes.length > this.#bytesMax) this.#drop();
    this.#waiting.push(events);
    this.#waitingBytes += events.bytes.length;
  }

  /** Moves the waiting events into flight, after the previous ones were committed or have failed. */
  begin(): void {
    this.#inFlight = this.#waiting;
    this.#hasLost = this.#losesNext;
    this.#clear();
  }

  committed(): void {
    this.#inFlight = [];
    this.#hasLost = false;
  }

  /** Puts the events in flight back before the waiting ones. */
  failed(): void {
    const before = this.#waiting;
    const losesNext = this.#losesNext;
    this.#clear();
    // Dropping the waiting events has dropped the ones in flight as well.
    if (!losesNext) for (const events of this.#inFlight) this.put(events);
    for (const events of before) this.put(events);
    this.#losesNext ||= losesNext || this.#hasLost;
    this.committed();
  }

  #drop(): void {
    this.#clear();
    this.#losesNext = true;
  }

  #clear(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#losesNext = false;
  }
}
