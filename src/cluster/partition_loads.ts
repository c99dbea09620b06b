import { recordIdIn, recordSize } from '../core/location/record.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import { type CountedRun, recordsIn } from '../wire/received_run.ts';

export interface PartitionLoadsOptions {
  /** By what is applied. */
  partitionOf(kind: 'provider', id: string): number;
  /** Time that has passed since some moment. */
  elapsed(): number;
}

/** One location in so many is counted: a prime, so that sampling does not fall into step with providers that take turns. */
const STRIDE = 17;
/** The time constant of the moving average: what was measured that long ago counts for about a third. */
const SMOOTHED_MS = 10_000;

/**
 * How many locations a second come to this hub for each partition that it owns, whichever hub has taken them: by that the
 * first member shares the load (upkeep.ts). They are counted by samples, since the partition of a provider is to be looked up.
 */
export class PartitionLoads {
  readonly #options: PartitionLoadsOptions;
  readonly #counts = new Float64Array(PARTITIONS);
  readonly #rates = new Float64Array(PARTITIONS);
  #left = STRIDE;
  #lookedMs: number;

  constructor(options: PartitionLoadsOptions) {
    this.#options = options;
    this.#lookedMs = options.elapsed();
  }

  /** Whether this location is one to count. To be called for each. */
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

  /** Locations per second by partition, in whole numbers, where there are any. Counts begin anew. */
  measured(): ReadonlyMap<number, number> {
    const nowMs = this.#options.elapsed();
    const lastsMs = nowMs - this.#lookedMs;
    const found = new Map<number, number>();
    if (lastsMs > 0) {
      const share = 1 - Math.exp(-lastsMs / SMOOTHED_MS);
      for (const [partition, count] of this.#counts.entries()) {
        const rate = this.#rates[partition] as number;
        this.#rates[partition] = rate + share * ((count * 1000) / lastsMs - rate);
      }
      this.#counts.fill(0);
      this.#lookedMs = nowMs;
    }
    for (const [partition, rate] of this.#rates.entries()) if (rate >= 0.5) found.set(partition, Math.round(rate));
    return found;
  }
}
