import type { TrackableMotion } from '../../model/events.ts';
import type { Location } from '../../model/location.ts';
import { batteryText } from './battery.ts';

/** Numbers per row: index, time in milliseconds (NaN if unknown), and number of locations since the last batch. */
export const LAST_SEEN_ROW = 3;

/** Providers seen since the last batch, one row each. */
export interface LastSeenBatch {
  /** Ids that were not in any batch before, in the order of their indices. */
  readonly added: readonly string[];
  readonly rows: Float64Array;
  /** Changed battery values, by index. */
  readonly batteries: readonly (readonly [index: number, text: string | undefined])[];
  /** The feed was reset before this batch: earlier indices are invalid. */
  readonly isReset: boolean;
}

/** Collects the number of locations and the last time of each provider until the batch is taken. */
export class LastSeenCollector {
  readonly #indices = new Map<string, number>();
  readonly #times: number[] = [];
  readonly #batteries: (string | undefined)[] = [];
  #last = new Map<number, Location>();
  #counts = new Map<number, number>();
  #added: string[] = [];
  #isReset = true;

  get isEmpty(): boolean {
    return this.#last.size === 0 && !this.#isReset;
  }

  has(id: string): boolean {
    return this.#indices.has(id);
  }

  /**
   * Adds items of an event or, with `isList`, of a response. Items of a response are not counted, and only newer ones apply.
   * hot: once per location.
   */
  add(items: readonly unknown[], { isList = false }: { readonly isList?: boolean } = {}): void {
    for (const item of items as readonly (Location | TrackableMotion)[]) {
      const location = 'location' in item ? item.location : item;
      const id = location.provider_id;
      if (id == null) continue;
      const index = this.#indices.get(id) ?? this.#addProvider(id);
      const timeMs = Date.parse(location.timestamp_generated ?? '');
      const lastMs = this.#times[index];
      if (isList && lastMs !== undefined && timeMs <= lastMs) continue;
      this.#times[index] = timeMs;
      this.#last.set(index, location);
      if (!isList) this.#counts.set(index, (this.#counts.get(index) ?? 0) + 1);
    }
  }

  /** Resets the collector, such as after a reconnect. */
  restart(): void {
    this.#indices.clear();
    this.#times.length = 0;
    this.#batteries.length = 0;
    this.#last = new Map();
    this.#counts = new Map();
    this.#added = [];
    this.#isReset = true;
  }

  take(): LastSeenBatch {
    const rows = new Float64Array(this.#last.size * LAST_SEEN_ROW);
    const batteries: [number, string | undefined][] = [];
    let at = 0;
    for (const [index, { properties }] of this.#last) {
      rows[at] = index;
      rows[at + 1] = this.#times[index] ?? Number.NaN;
      rows[at + 2] = this.#counts.get(index) ?? 0;
      at += LAST_SEEN_ROW;
      const battery = properties == null ? undefined : batteryText(properties);
      // Not every location has a battery value.
      if (battery === undefined || battery === this.#batteries[index]) continue;
      this.#batteries[index] = battery;
      batteries.push([index, battery]);
    }
    const batch = { added: this.#added, rows, batteries, isReset: this.#isReset };
    this.#last = new Map();
    this.#counts = new Map();
    this.#added = [];
    this.#isReset = false;
    return batch;
  }

  #addProvider(id: string): number {
    const index = this.#indices.size;
    this.#indices.set(id, index);
    this.#added.push(id);
    return index;
  }
}
