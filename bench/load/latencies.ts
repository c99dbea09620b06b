import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Latencies in milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** An HDR histogram of latencies in microseconds, exact to three digits. */
export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 });

  record(us: number): void {
    this.#histogram.record(us < 1 ? 1 : Math.round(us));
  }

  reset(): void {
    this.#histogram.reset();
  }

  percentiles(): Percentiles {
    const histogram = this.#histogram;
    const ms = (percentile: number): number => (histogram.count === 0 ? 0 : histogram.percentile(percentile) / 1000);
    const max = histogram.count === 0 ? 0 : histogram.max / 1000;
    return { count: histogram.count, p50: ms(50), p90: ms(90), p99: ms(99), p999: ms(99.9), max };
  }
}
