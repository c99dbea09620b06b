import type { TrackableMotion } from '../../model/events.ts';
import type { Location } from '../../model/location.ts';

export type LiveItem = Location | TrackableMotion;

export function locationOf(item: LiveItem): Location {
  return 'location' in item ? item.location : item;
}

/** Items collected since the last batch. */
export interface Collected<Added> {
  /** Objects that were not in any batch before, in the order of their indices. */
  readonly added: readonly Added[];
  /** The feed was reset before this batch: earlier indices are invalid. */
  readonly isReset: boolean;
  /** Newest item and its time in milliseconds, by index; the time is NaN if unknown. */
  readonly newest: ReadonlyMap<number, LiveItem>;
  readonly times: readonly number[];
}

/** Collects the newest location or motion of each object until the batch is taken. */
export abstract class Collector<Added, Batch> {
  readonly #indices = new Map<string, number>();
  readonly #times: number[] = [];
  #newest = new Map<number, LiveItem>();
  #added: Added[] = [];
  #isReset = true;

  /** Returns the id of an item's object; undefined or null to skip the item. */
  protected abstract idOf(item: LiveItem): string | null | undefined;
  protected abstract addedOf(id: string, index: number, item: LiveItem): Added;
  protected abstract pack(collected: Collected<Added>): Batch;
  /** Counts an event of an object. */
  protected count?(index: number): void;

  get isEmpty(): boolean {
    return this.#newest.size === 0 && !this.#isReset;
  }

  has(id: string): boolean {
    return this.#indices.has(id);
  }

  /**
   * Adds items of an event or, with `isList`, of a response. Items of a response are not counted, and only newer ones apply.
   * hot: once per update.
   */
  add(items: readonly unknown[], { isList = false }: { readonly isList?: boolean } = {}): void {
    for (const item of items as readonly LiveItem[]) {
      const id = this.idOf(item);
      if (id == null) continue;
      const index = this.#indices.get(id) ?? this.#add(id, item);
      const timeMs = Date.parse(locationOf(item).timestamp_generated ?? '');
      const lastMs = this.#times[index];
      if (isList && lastMs !== undefined && timeMs <= lastMs) continue;
      this.#times[index] = timeMs;
      this.#newest.set(index, item);
      if (!isList) this.count?.(index);
    }
  }

  /** Resets the collector, such as after a reconnect, so that removed objects do not stay. */
  restart(): void {
    this.#indices.clear();
    this.#times.length = 0;
    this.#newest = new Map();
    this.#added = [];
    this.#isReset = true;
  }

  take(): Batch {
    const collected = { added: this.#added, isReset: this.#isReset, newest: this.#newest, times: this.#times };
    const batch = this.pack(collected);
    this.#newest = new Map();
    this.#added = [];
    this.#isReset = false;
    return batch;
  }

  #add(id: string, item: LiveItem): number {
    const index = this.#indices.size;
    this.#indices.set(id, index);
    this.#added.push(this.addedOf(id, index, item));
    return index;
  }
}
