import type { DeliveryBatch, EventSubscriber } from '../../../src/fanout/batch.ts';
import type { SimulatedHub } from './hub.ts';

/** Topics to which clients subscribe. Collisions may differ from those of a single hub: motions of several hubs have no order. */
export type ObservedTopic = 'location_updates' | 'fence_events' | 'collision_events';

/** A subscription from its acknowledgement to its end, and its events. */
export interface ObservedSubscription {
  readonly hub: string;
  readonly topic: ObservedTopic;
  readonly openedMs: number;
  /** Infinity while it is open: its hub runs, and has reported no lost event. */
  endedMs: number;
  readonly texts: string[];
}

const AGAIN_MS = 100;

/** Client of one hub that subscribes to all events of a topic, and resubscribes after its subscription has ended. */
export class Listener implements EventSubscriber {
  readonly #hub: SimulatedHub;
  readonly #topic: ObservedTopic;
  readonly #observed: ObservedSubscription[];
  #id = 0;
  #now: ObservedSubscription | undefined;

  /** Adds its subscriptions to `observed`. */
  constructor(hub: SimulatedHub, topic: ObservedTopic, observed: ObservedSubscription[]) {
    this.#hub = hub;
    this.#topic = topic;
    this.#observed = observed;
    void hub.over.then(() => this.#end());
    this.#subscribe();
  }

  deliver(id: number, { strings: texts }: DeliveryBatch): void {
    if (id === this.#id && !this.#hub.isOver) this.#now?.texts.push(...texts);
  }

  missed(id: number): void {
    if (id === this.#id) this.#again();
  }

  #subscribe(): void {
    const { fanout } = this.#hub.parts;
    this.#id = fanout.subscribe(this, { topic: this.#topic, view: { crs: 'EPSG:4326' } });
    const id = this.#id;
    const acknowledged = this.#hub.cluster.fanout?.acknowledged();
    if (acknowledged === undefined) this.#open(id);
    else
      acknowledged.then(
        () => this.#open(id),
        () => id === this.#id && this.#again(),
      );
  }

  #open(id: number): void {
    if (id !== this.#id || this.#hub.isOver) return;
    const { network, incarnation } = this.#hub.place;
    this.#now = { hub: incarnation, topic: this.#topic, openedMs: network.clock.nowMs, endedMs: Infinity, texts: [] };
    this.#observed.push(this.#now);
  }

  #again(): void {
    this.#end();
    const { network, incarnation } = this.#hub.place;
    this.#hub.parts.fanout.unsubscribe(this.#id);
    this.#id = 0;
    network.schedule(incarnation, AGAIN_MS, () => this.#subscribe());
  }

  #end(): void {
    if (this.#now !== undefined) this.#now.endedMs = this.#hub.place.network.clock.nowMs;
    this.#now = undefined;
  }
}
