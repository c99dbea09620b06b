import { HubError } from '../errors.ts';
import { grouped } from '../model/bounds.ts';
import type { Subscriber } from './batch.ts';

/** Different renderings of one connection, and of all together: each costs the shards its share of every event. */
export interface RenderingBounds {
  readonly ofSubscriber: number;
  readonly inAll: number;
}

/** Counts which renderings each subscriber has, and refuses what is beyond the bounds. */
export class Renderings {
  readonly #bounds: RenderingBounds;
  /** By their key, with the number of subscriptions. */
  readonly #bySubscriber = new Map<Subscriber, Map<string, number>>();

  constructor(bounds: RenderingBounds) {
    this.#bounds = bounds;
  }

  /**
   * A subscription to a rendering; `others` is how many there are in all, without it if it is a new one. Throws
   * HUB_BAD_REQUEST when it would be one too many.
   */
  add(subscriber: Subscriber, key: string, others: number): void {
    const { ofSubscriber, inAll } = this.#bounds;
    const own = this.#bySubscriber.get(subscriber) ?? new Map<string, number>();
    const isOwn = own.has(key);
    if (!isOwn && own.size >= ofSubscriber) throw beyond('websocket_max_renderings', ofSubscriber, own.size + 1);
    if (!isOwn && others >= inAll) throw beyond('max_renderings', inAll, others + 1);
    this.#bySubscriber.set(subscriber, own);
    own.set(key, (own.get(key) ?? 0) + 1);
  }

  remove(subscriber: Subscriber, key: string): void {
    const own = this.#bySubscriber.get(subscriber);
    const left = (own?.get(key) ?? 0) - 1;
    if (left > 0) own?.set(key, left);
    else own?.delete(key);
    if (own?.size === 0) this.#bySubscriber.delete(subscriber);
  }
}

function beyond(setting: string, max: number, found: number): HubError {
  const what = 'different renderings (topic, GeoJSON, crs and zone_id)';
  const wanted = `must be of at most ${grouped(max)} ${what}, as ${setting} says`;
  return new HubError('HUB_BAD_REQUEST', `subscriptions: ${wanted}, found ${grouped(found)}`);
}
