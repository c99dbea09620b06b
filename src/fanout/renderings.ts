import { hubError, type HubError } from '../errors.ts';
import type { EventSubscriber } from './batch.ts';

/**
 * Maximum number of distinct renderings of one connection, and of all connections. For every event, each rendering
 * costs the shards time.
 */
export interface RenderingBounds {
  readonly ofSubscriber: number;
  readonly inAll: number;
}

/** Counts the renderings of each subscriber, and rejects subscriptions beyond the bounds. */
export class Renderings {
  readonly #bounds: RenderingBounds;
  /** Number of subscriptions, by rendering key. */
  readonly #bySubscriber = new Map<EventSubscriber, Map<string, number>>();

  constructor(bounds: RenderingBounds) {
    this.#bounds = bounds;
  }

  /**
   * Adds a subscription to a rendering. `others` is the number of existing renderings if this one is new, otherwise 0.
   * Throws HUB_BAD_REQUEST beyond the bounds.
   */
  add(subscriber: EventSubscriber, key: string, others: number): void {
    const { ofSubscriber, inAll } = this.#bounds;
    const own = this.#bySubscriber.get(subscriber) ?? new Map<string, number>();
    const isOwn = own.has(key);
    if (!isOwn && own.size >= ofSubscriber) throw beyond('websocket_max_renderings', ofSubscriber, own.size + 1);
    if (!isOwn && others >= inAll) throw beyond('max_renderings', inAll, others + 1);
    this.#bySubscriber.set(subscriber, own);
    own.set(key, (own.get(key) ?? 0) + 1);
  }

  remove(subscriber: EventSubscriber, key: string): void {
    const own = this.#bySubscriber.get(subscriber);
    const left = (own?.get(key) ?? 0) - 1;
    if (left > 0) own?.set(key, left);
    else own?.delete(key);
    if (own?.size === 0) this.#bySubscriber.delete(subscriber);
  }
}

function beyond(setting: string, limit: number, found: number): HubError {
  return hubError('too_many_renderings', { path: 'subscriptions', setting, limit, found });
}
