import type { Motion } from '../motion/motion.ts';

/**
 * Puts the motions of several shards into the order of their items. Shards work at their own pace, so a motion waits
 * until no shard can come with an earlier one any more.
 */
export class WatermarkMerge {
  #waiting: Motion[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes motions of one shard, which are in order among themselves. */
  add(motions: readonly Motion[]): void {
    const merged = this.#waiting.length > 0;
    for (const motion of motions) this.#waiting.push(motion);
    if (merged) this.#waiting.sort((a, b) => a.seq - b.seq);
  }

  /** All that wait, in order. */
  get motions(): readonly Motion[] {
    return this.#waiting;
  }

  /** Hands out, in order, all motions of items below the watermark: no shard can come with an earlier one than that. */
  take(watermark: number): readonly Motion[] {
    const end = this.#waiting.findIndex(({ seq }) => seq >= watermark);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }
}
