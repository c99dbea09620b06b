import { copied } from '../model/borrowed.ts';
import type { PackedMotions } from '../wire/messages.ts';

/** Maximum size of the finished motions to retain, in bytes: about 20,000 motions. */
const DONE_MAX_BYTES = 4 << 20;

interface PendingMotions {
  readonly packed: Uint8Array;
  readonly lastSeq: number;
  isSent: boolean;
}

/**
 * Packed motions that the collision worker has not finished: motions not sent yet, and motions that wait in the worker
 * for slower shards. When the worker dies, its replacement receives all of them again. It also needs the positions
 * before them, so the last finished motions are retained.
 */
export class UnfinishedMotions {
  #pending: PendingMotions[] = [];
  #bytes = 0;
  #finishedTo = 0;
  readonly #done: Uint8Array[] = [];
  #doneBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of the first item whose motions are not finished. */
  get finishedTo(): number {
    return this.#finishedTo;
  }

  /** The last finished motions, in order. */
  get done(): readonly Uint8Array[] {
    return this.#done;
  }

  add({ packed, lastSeq }: PackedMotions): void {
    const own = copied(packed);
    this.#bytes += own.byteLength;
    this.#pending.push({ packed: own, lastSeq, isSent: false });
  }

  /** Returns the unsent motions in order and marks them as sent. */
  send(): readonly Uint8Array[] {
    const sent: Uint8Array[] = [];
    for (const pending of this.#pending) {
      if (pending.isSent) continue;
      pending.isSent = true;
      sent.push(pending.packed);
    }
    return sent;
  }

  /** Marks all motions as unsent, for a new worker. */
  resend(): void {
    for (const pending of this.#pending) pending.isSent = false;
  }

  /** Finishes the sent motions of items before `watermark`. */
  finish(watermark: number): void {
    const left: PendingMotions[] = [];
    for (const pending of this.#pending) {
      if (!pending.isSent || pending.lastSeq >= watermark) left.push(pending);
      else this.#finishOne(pending);
    }
    this.#pending = left;
    // If all items are done, `watermark` is not the number of an item.
    if (watermark !== Number.MAX_SAFE_INTEGER) this.#finishedTo = Math.max(this.#finishedTo, watermark);
  }

  /** Drops the motions that were sent, because their batch was lost. */
  giveUp(): void {
    const left = this.#pending.filter(({ isSent }) => !isSent);
    this.#bytes = left.reduce((sum, { packed }) => sum + packed.byteLength, 0);
    this.#pending = left;
  }

  #finishOne({ packed, lastSeq }: PendingMotions): void {
    this.#bytes -= packed.byteLength;
    this.#finishedTo = Math.max(this.#finishedTo, lastSeq + 1);
    this.#done.push(packed);
    this.#doneBytes += packed.byteLength;
    while (this.#doneBytes > DONE_MAX_BYTES) this.#doneBytes -= this.#done.shift()?.byteLength ?? 0;
  }
}
