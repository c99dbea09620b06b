import { isObject } from '../model/json_tree.ts';
import { hubsOf, isLoop, type LinkItemTopic, ORIGIN_PROPERTY } from '../model/link.ts';
import { parseTime } from '../model/time.ts';
import type { NewestItems } from './newest_items.ts';

/** Settings of a link that determine which items pass, and how they change. */
export interface PassageSettings {
  /** Id of this hub. */
  readonly hubId: string;
  /** Id of the other hub. */
  readonly peerId: string;
  readonly idPrefix: string;
  readonly sources: Readonly<Record<string, string>>;
  readonly minIntervalMs: number;
}

/** An item that may be accepted by this hub. */
export interface PassedItem {
  readonly topic: LinkItemTopic;
  /** Topic and id of its provider. */
  readonly key: string;
  readonly value: object;
}

/** Numbers of items that did not pass. */
export interface PassageCounts {
  received: number;
  duplicates: number;
  looped: number;
  superseded: number;
  malformed: number;
  originChanges: number;
}

/**
 * Decides which locations and proximities of another hub this hub accepts, and converts them to its own:
 *
 *     passed this hub or the other hub before, by hub.origin      looped
 *     not newer than the last one of the object, by any link      duplicate
 *     within min_interval of the last one                         held; a newer one replaces it
 *     otherwise                                                   passes
 *
 * A pure function of its calls: no clock and no timers. Each hub appends the id of the hub from which it has received an
 * item, so an item of hub A that came by hub B has the origin [A, B].
 */
export class Passage {
  readonly counts: PassageCounts = {
    received: 0,
    duplicates: 0,
    looped: 0,
    superseded: 0,
    malformed: 0,
    originChanges: 0,
  };
  readonly #settings: PassageSettings;
  readonly #newest: NewestItems;
  /** When the last item of each object passed; empty without an interval. Older entries than an interval are useless. */
  readonly #passedMs = new Map<string, number>();
  /** Items that wait for the end of their interval, in the order in which they are due. */
  readonly #held = new Map<string, { readonly dueMs: number; item: PassedItem }>();
  #lastDueMs = 0;

  /** `newest` is shared by all links of the hub. */
  constructor(settings: PassageSettings, newest: NewestItems) {
    this.#settings = settings;
    this.#newest = newest;
  }

  /** Number of items that wait for the end of their interval. */
  get held(): number {
    return this.#held.size;
  }

  /** When the next held item is due; infinite without one. */
  get dueMs(): number {
    for (const { dueMs } of this.#held.values()) return dueMs;
    return Number.POSITIVE_INFINITY;
  }

  /** Returns those of the items of a topic that pass now. */
  take(topic: LinkItemTopic, items: readonly unknown[], nowMs: number): readonly PassedItem[] {
    return items.flatMap((item) => this.#one(topic, item, nowMs) ?? []);
  }

  /** Returns the held items whose interval is over. */
  release(nowMs: number): readonly PassedItem[] {
    const due: PassedItem[] = [];
    for (const [key, { dueMs, item }] of this.#held) {
      if (dueMs > nowMs) break;
      this.#held.delete(key);
      this.#passes(key, nowMs);
      due.push(item);
    }
    return due;
  }

  #one(topic: LinkItemTopic, item: unknown, nowMs: number): PassedItem | undefined {
    const { hubId, peerId, idPrefix, minIntervalMs } = this.#settings;
    const sent = isObject(item) ? item : undefined;
    const id = sent?.['provider_id'];
    if (sent === undefined || typeof id !== 'string' || id === '') {
      this.counts.malformed++;
      return undefined;
    }
    this.counts.received++;
    const hubs = hubsOf(sent);
    if (isLoop(hubs, [hubId, peerId])) {
      this.counts.looped++;
      return undefined;
    }
    const key = keyOf(topic, `${idPrefix}${id}`);
    const origin = hubs[0] ?? peerId;
    const offered = this.#newest.offer(key, { timeMs: timeOf(sent), origin });
    if (offered === 'old') {
      this.counts.duplicates++;
      return undefined;
    }
    if (offered === 'new from another origin') this.counts.originChanges++;
    const passed = { topic, key, value: this.#converted(sent, { id, hubs }) };
    const held = this.#held.get(key);
    if (held !== undefined) {
      this.counts.superseded++;
      held.item = passed;
      return undefined;
    }
    const passedMs = this.#passedMs.get(key);
    if (passedMs !== undefined && nowMs - passedMs < minIntervalMs) {
      // Due in the order of arrival, so no search is needed: at most one interval from now.
      this.#lastDueMs = Math.max(this.#lastDueMs, passedMs + minIntervalMs);
      this.#held.set(key, { dueMs: this.#lastDueMs, item: passed });
      return undefined;
    }
    this.#passes(key, nowMs);
    return passed;
  }

  /** Notes that an item passes, and forgets items whose interval is over. */
  #passes(key: string, nowMs: number): void {
    const { minIntervalMs } = this.#settings;
    if (minIntervalMs === 0) return;
    this.#passedMs.delete(key);
    this.#passedMs.set(key, nowMs);
    for (const [oldest, passedMs] of this.#passedMs) {
      if (nowMs - passedMs < minIntervalMs) return;
      this.#passedMs.delete(oldest);
    }
  }

  /** The item as this hub accepts it. */
  #converted(
    sent: Readonly<Record<string, unknown>>,
    { id, hubs }: { readonly id: string; readonly hubs: readonly string[] },
  ): object {
    const { peerId, idPrefix, sources } = this.#settings;
    // The other hub sets these for its own trackables and clock.
    const { trackables: _trackables, timestamp_sent: _sent, ...rest } = sent;
    const { source, properties } = sent;
    const own = isObject(properties) ? properties : {};
    const mapped = typeof source === 'string' && Object.hasOwn(sources, source) ? sources[source] : undefined;
    return {
      ...rest,
      provider_id: `${idPrefix}${id}`,
      // A device that locates itself is its own source.
      ...(source !== undefined && { source: mapped ?? (source === id ? `${idPrefix}${id}` : source) }),
      properties: { ...own, [ORIGIN_PROPERTY]: [...hubs, peerId] },
    };
  }
}

/** Key of an object, by the id of its provider at this hub. */
export function keyOf(topic: LinkItemTopic, providerId: string): string {
  return `${topic} ${providerId}`;
}

/** Time of the measurement; NaN without a valid one. */
export function timeOf({ timestamp_generated: generated }: Readonly<Record<string, unknown>>): number {
  return typeof generated === 'string' ? parseTime(generated) : Number.NaN;
}
