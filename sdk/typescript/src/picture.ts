import type { Item } from './subscription.ts';
import type { Topic, Topics } from './topics.ts';

/** Members of events and states that identify their objects. */
interface Identified {
  readonly id?: string;
  readonly provider_id?: string | null;
  readonly trackable_id?: string | null;
  readonly fence_id?: string;
  readonly event_type?: string;
  readonly object?: object;
}

/**
 * The current state of a topic, from the items of a subscription: the last location of each provider, the last motion of each
 * trackable, the objects in each fence, or the entities.
 */
export class Picture<T extends Topic> {
  readonly topic: T;
  readonly #elements = new Map<string, Topics[T]['state']>();

  constructor(topic: T) {
    this.topic = topic;
  }

  /** By provider id, trackable id, entity id, or `fence trackable` and `fence provider`. */
  get elements(): ReadonlyMap<string, Topics[T]['state']> {
    return this.#elements;
  }

  /** Applies an item. Items of one subscription must be applied in order. */
  apply(item: Item<T>): void {
    if (item.kind === 'gap') return;
    if (item.kind === 'state') {
      this.#elements.clear();
      for (const element of item.state) this.#elements.set(this.#keyOf(element as Identified), element);
      return;
    }
    for (const event of item.events as readonly Identified[]) {
      const { event_type: type } = event;
      if (type === 'region_exit' || type === 'delete') this.#elements.delete(this.#keyOf(event));
      else this.#elements.set(this.#keyOf(event), this.#elementOf(event));
    }
  }

  #elementOf(event: Identified): Topics[T]['state'] {
    if (event.event_type === undefined) return event as Topics[T]['state'];
    if (this.topic !== 'fence_events') return event.object as Topics[T]['state'];
    const { fence_id, trackable_id, provider_id } = event;
    return { fence_id, ...(trackable_id == null ? { provider_id } : { trackable_id }) } as Topics[T]['state'];
  }

  #keyOf({ id, fence_id: fence, trackable_id: trackable, provider_id: provider }: Identified): string {
    if (this.topic === 'location_updates') return provider ?? '';
    return this.topic === 'fence_events' ? `${fence} ${trackable ?? provider}` : (id ?? '');
  }
}
