import type { Motion } from '../motion/motion.ts';

/**
 * Merges the motions of several shards in the order of their items. Shards run at their own pace, so a motion waits
 * until no shard can produce an earlier one.
 */
export class WatermarkMerge {
  #waiting: Motion[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Adds motions of one shard, which must be in order. */
  add(motions: readonly Motion[]): void {
    const merged = this.#waiting.length > 0;
    for (const motion of motions) this.#waiting.push(motion);
    if (merged) this.#waiting.sort((a, b) => a.seq - b.seq);
  }

  /** Waiting motions, in order. */
  get motions(): readonly Motion[] {
    return this.#waiting;
  }

  /** Returns, in order, all motions of items below the watermark: no shard can produce an earlier one. */
  take(watermark: number): readonly Motion[] {
    const end = this.#waiting.findIndex(({ seq }) => seq >= watermark);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }
}
