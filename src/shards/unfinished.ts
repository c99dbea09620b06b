import { copied } from '../model/borrowed.ts';
import type { PackedMotions } from '../wire/messages.ts';

/** What is remembered of finished motions: some 20,000 of them. */
const DONE_MAX_BYTES = 4 << 20;

interface Kept {
  readonly packed: Uint8Array;
  readonly lastSeq: number;
  isSent: boolean;
}

/**
 * Motions that the collision worker has not finished, still packed: those that it was not sent yet, and those that wait in
 * it for slower shards. What is in here when it dies, the next one is sent again. That one has to know as well where
 * everybody was before, so the last that are finished are remembered.
 */
export class Unfinished {
  #kept: Kept[] = [];
  #bytes = 0;
  #finishedTo = 0;
  readonly #done: Uint8Array[] = [];
  #doneBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** All motions of items before this one are finished. */
  get finishedTo(): number {
    return this.#finishedTo;
  }

  /** The last motions that are finished, in the order in which they came. */
  get done(): readonly Uint8Array[] {
    return this.#done;
  }

  add({ packed, lastSeq }: PackedMotions): void {
    const own = copied(packed);
    this.#bytes += own.byteLength;
    this.#kept.push({ packed: own, lastSeq, isSent: false });
  }

  /** What was not sent yet, in the order in which it came. */
  send(): readonly Uint8Array[] {
    const sent: Uint8Array[] = [];
    for (const kept of this.#kept) {
      if (kept.isSent) continue;
      kept.isSent = true;
      sent.push(kept.packed);
    }
    return sent;
  }

  /** A new worker is sent everything. */
  sendAgain(): void {
    for (const kept of this.#kept) kept.isSent = false;
  }

  /** What was sent is finished, as far as it is of items before this one. */
  finish(watermark: number): void {
    const left: Kept[] = [];
    for (const kept of this.#kept) {
      if (!kept.isSent || kept.lastSeq >= watermark) left.push(kept);
      else this.#finishOne(kept);
    }
    this.#kept = left;
    // Where all items are done, that number is none of an item.
    if (watermark !== Number.MAX_SAFE_INTEGER) this.#finishedTo = Math.max(this.#finishedTo, watermark);
  }

  /** What was sent is lost. */
  giveUp(): void {
    const left = this.#kept.filter(({ isSent }) => !isSent);
    this.#bytes = left.reduce((sum, { packed }) => sum + packed.byteLength, 0);
    this.#kept = left;
  }

  #finishOne({ packed, lastSeq }: Kept): void {
    this.#bytes -= packed.byteLength;
    this.#finishedTo = Math.max(this.#finishedTo, lastSeq + 1);
    this.#done.push(packed);
    this.#doneBytes += packed.byteLength;
    while (this.#doneBytes > DONE_MAX_BYTES) this.#doneBytes -= this.#done.shift()?.byteLength ?? 0;
  }
}
