import { batteryText } from './battery.ts';
import { type Collected, Collector, type LiveItem, locationOf } from './collector.ts';

/** Numbers per row: index, time in milliseconds (NaN if unknown), and number of locations since the last batch. */
export const LAST_SEEN_ROW = 3;

/** Providers seen since the last batch, one row each. */
export interface LastSeenBatch extends Pick<Collected<string>, 'added' | 'isReset'> {
  readonly rows: Float64Array;
  /** Changed battery values, by index. */
  readonly batteries: readonly (readonly [index: number, text: string | undefined])[];
}

/** Collects the number of locations and the last time of each provider until the batch is taken. */
export class LastSeenCollector extends Collector<string, LastSeenBatch> {
  readonly #batteries: (string | undefined)[] = [];
  #counts = new Map<number, number>();

  override restart(): void {
    super.restart();
    this.#batteries.length = 0;
    this.#counts = new Map();
  }

  protected override idOf(item: LiveItem): string | null | undefined {
    return locationOf(item).provider_id;
  }

  protected override addedOf(id: string): string {
    return id;
  }

  protected override count(index: number): void {
    this.#counts.set(index, (this.#counts.get(index) ?? 0) + 1);
  }

  protected override pack({ newest, times, added, isReset }: Collected<string>): LastSeenBatch {
    const rows = new Float64Array(newest.size * LAST_SEEN_ROW);
    const batteries: [number, string | undefined][] = [];
    let at = 0;
    for (const [index, item] of newest) {
      rows[at] = index;
      rows[at + 1] = times[index] ?? Number.NaN;
      rows[at + 2] = this.#counts.get(index) ?? 0;
      at += LAST_SEEN_ROW;
      const { properties } = locationOf(item);
      const battery = properties == null ? undefined : batteryText(properties);
      // Not every location has a battery value.
      if (battery === undefined || battery === this.#batteries[index]) continue;
      this.#batteries[index] = battery;
      batteries.push([index, battery]);
    }
    this.#counts = new Map();
    return { added, rows, batteries, isReset };
  }
}
