import type { WriteEvents } from '../core/entity_write.ts';
import { EventArea } from './event_area.ts';

/** Maximum bytes of waiting events, while the database accepts no writes. */
const BYTES_MAX = 64 << 20;

/**
 * Events that wait for a commit, in order, and those in flight. Unlike rows, no event supersedes another. Beyond the
 * bound all earlier events are dropped: a log with a gap is worth nothing to a reader before the gap, so that the log
 * then begins after it.
 */
export class WaitingEvents {
  readonly #bytesMax: number;
  #inFlight = new EventArea();
  #waiting = new EventArea();
  /** Whether events before #inFlight, and before #waiting, were dropped. */
  #hasLost = false;
  #losesNext = false;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get inFlight(): EventArea {
    return this.#inFlight;
  }

  /** Whether events before those in flight were dropped. */
  get hasLost(): boolean {
    return this.#hasLost;
  }

  put(write: WriteEvents): void {
    const before = this.#waiting.mark;
    write(this.#waiting);
    if (before.count === 0 || this.#waiting.size <= this.#bytesMax) return;
    this.#waiting.dropBefore(before);
    this.#losesNext = true;
  }

  /** Moves the waiting events into flight, after the previous ones were committed or have failed. */
  begin(): void {
    [this.#inFlight, this.#waiting] = [this.#waiting, this.#inFlight];
    this.#waiting.clear();
    this.#hasLost = this.#losesNext;
    this.#losesNext = false;
  }

  committed(): void {
    this.#inFlight.clear();
    this.#hasLost = false;
  }

  /** Puts the events in flight back before the waiting ones. */
  failed(): void {
    const [before, after] = [this.#inFlight, this.#waiting];
    const fits = before.count === 0 || after.count === 0 || before.size + after.size <= this.#bytesMax;
    // Dropping waiting events has dropped the ones in flight as well.
    if (fits && !this.#losesNext) {
      before.append(after);
      [this.#inFlight, this.#waiting] = [after, before];
      this.#losesNext = this.#hasLost;
    } else this.#losesNext = true;
    this.committed();
  }
}
