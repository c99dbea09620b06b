import { recordIdIn, recordSize } from '../../core/location/record.ts';
import { PARTITIONS_MAX } from '../../shards/affinity.ts';
import { type CountedRun, recordsIn } from '../../wire/received_run.ts';
import type { ClusterContext } from '../context.ts';

export interface PartitionLoadsOptions extends Pick<ClusterContext, 'elapsed'> {
  /** Partition by the applied configuration. */
  partitionOf(kind: 'provider', id: string): number;
}

/** One of this many locations is counted: a prime, so that sampling does not fall into step with providers that take turns. */
const STRIDE = 17;
/** Time constant of the moving average: a measurement of that age counts for about a third. */
const SMOOTHED_MS = 10_000;

/**
 * Locations per second in each partition that this hub owns, whichever hub has received them; the first member balances the
 * load by these (coordinator.ts). They are sampled, because looking up the partition of a provider takes time.
 */
export class PartitionLoads {
  readonly #options: PartitionLoadsOptions;
  readonly #counts = new Float64Array(PARTITIONS_MAX);
  readonly #rates = new Float64Array(PARTITIONS_MAX);
  #left = STRIDE;
  #lookedMs: number;

  constructor(options: PartitionLoadsOptions) {
    this.#options = options;
    this.#lookedMs = options.elapsed();
  }

  /** Whether to count this location. Call it for each. */
  // hot
  isSample(): boolean {
    if (--this.#left > 0) return false;
    this.#left = STRIDE;
    return true;
  }

  /** Counts a sample, for all the locations it stands for. */
  count(provider: string): void {
    const partition = this.#options.partitionOf('provider', provider);
    this.#counts[partition] = (this.#counts[partition] as number) + STRIDE;
  }

  /** Counts the locations of a run. */
  // hot
  countRun({ bytes }: CountedRun): void {
    const records = recordsIn(bytes);
    for (let at = 0; at < bytes.length; at += recordSize(records, at)) {
      if (this.isSample()) this.count(recordIdIn(records, at));
    }
  }

  /** Locations per second by partition, in whole numbers, where there are any. Resets the counts. */
  measured(): ReadonlyMap<number, number> {
    const nowMs = this.#options.elapsed();
    const lastsMs = nowMs - this.#lookedMs;
    const found = new Map<number, number>();
    if (lastsMs > 0) {
      const share = 1 - Math.exp(-lastsMs / SMOOTHED_MS);
      for (let partition = 0; partition < PARTITIONS_MAX; partition++) {
        const perSecond = ((this.#counts[partition] as number) * 1000) / lastsMs;
        const rate = this.#rates[partition] as number;
        this.#rates[partition] = rate + share * (perSecond - rate);
      }
      this.#counts.fill(0);
      this.#lookedMs = nowMs;
    }
    for (let partition = 0; partition < PARTITIONS_MAX; partition++) {
      const rate = this.#rates[partition] as number;
      if (rate >= 0.5) found.set(partition, Math.round(rate));
    }
    return found;
  }
}
