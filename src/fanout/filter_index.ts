import { type FilterFields, type FilterKey, type KeyValue, keyOf, type EventSelector } from '../model/topics.ts';
import type { Filter } from './filter.ts';

/** A subscription with a filter. */
export interface Filtering {
  readonly filter: Filter;
}

/**
 * Index of subscriptions by the field values that their filters match, so that a subscription to one provider costs
 * nothing for events of other providers. Filters without a key are evaluated for every event.
 */
export class FilterIndex<S extends Filtering> {
  readonly #unkeyed = new Set<S>();
  /** Subscriptions by field index, then by value. */
  readonly #keyed = new Map<number, Map<KeyValue, Set<S>>>();
  #size = 0;
  /** Number of distinct values. */
  #values = 0;
  /** Number of subscriptions with neither key, limit nor box. */
  #unlimited = 0;
  /** Version of the result of `wanted`. */
  #changes = 0;

  get size(): number {
    return this.#size;
  }

  add(subscription: S): void {
    this.#size++;
    const { key } = subscription.filter;
    if (key === undefined) {
      this.#unkeyed.add(subscription);
      if (isUnlimited(subscription)) this.#unlimited++;
      this.#changes++;
      return;
    }
    const byValue = this.#keyed.get(key.at) ?? new Map<KeyValue, Set<S>>();
    this.#keyed.set(key.at, byValue);
    for (const value of key.values) {
      const own = byValue.get(value);
      if (own === undefined) {
        byValue.set(value, new Set([subscription]));
        this.#values++;
        this.#changes++;
      } else own.add(subscription);
    }
  }

  delete(subscription: S): void {
    this.#size--;
    if (this.#unkeyed.delete(subscription)) {
      this.#changes++;
      if (isUnlimited(subscription)) this.#unlimited--;
    }
    const { key } = subscription.filter;
    const byValue = key && this.#keyed.get(key.at);
    if (byValue === undefined) return;
    for (const value of key?.values ?? []) {
      const own = byValue.get(value);
      own?.delete(subscription);
      if (own?.size !== 0) continue;
      byValue.delete(value);
      this.#values--;
      this.#changes++;
    }
    if (byValue.size === 0) this.#keyed.delete(key?.at ?? 0);
  }

  /** Version of the result of `wanted`; undefined if it returns undefined. */
  wantedNumber(max: number): number | undefined {
    return this.#unlimited > 0 || this.#values + this.#unkeyed.size > max ? undefined : this.#changes;
  }

  /** Returns at most `max` values, limits and boxes that cover every matching event; undefined if any event may match. */
  wanted(max: number): EventSelector | undefined {
    if (this.wantedNumber(max) === undefined) return undefined;
    const limits = [...this.#unkeyed].flatMap(({ filter: { limit } }) => (limit === undefined ? [] : [limit]));
    const keys = [...this.#keyed].map(([at, byValue]): FilterKey => ({ at, values: [...byValue.keys()] }));
    const boxes = [...this.#unkeyed].flatMap(({ filter: { box } }) => (box === undefined ? [] : [box]));
    return { keys, limits, ...(boxes.length > 0 && { boxes }) };
  }

  /** Returns the indexes of the events that match each subscription, without subscriptions that match none. hot */
  match(events: readonly FilterFields[]): Map<S, number[]> {
    const found = new Map<S, number[]>();
    for (const subscription of this.#unkeyed) {
      for (let i = 0; i < events.length; i++) {
        if (subscription.filter(events[i] as FilterFields)) note(found, subscription, i);
      }
    }
    for (const [at, byValue] of this.#keyed) {
      for (let i = 0; i < events.length; i++) {
        const fields = events[i] as FilterFields;
        const value = fields[at];
        if (value === undefined) continue;
        for (const subscription of byValue.get(keyOf(value)) ?? []) {
          if (subscription.filter(fields)) note(found, subscription, i);
        }
      }
    }
    return found;
  }
}

function isUnlimited({ filter: { limit, box } }: Filtering): boolean {
  return limit === undefined && box === undefined;
}

function note<S>(found: Map<S, number[]>, subscription: S, place: number): void {
  const places = found.get(subscription);
  if (places === undefined) found.set(subscription, [place]);
  else places.push(place);
}
