import type { DeliveryBatch, EventSubscriber } from '../../../src/fanout/batch.ts';
import type { SimulatedHub } from './hub.ts';

/** Topics of which a single hub would tell the same, and those of which it would not: motions of several hubs have no order. */
export type HeardTopic = 'location_updates' | 'fence_events' | 'collision_events';

/** A subscription, from its answer to its end. */
export interface Heard {
  readonly hub: string;
  readonly topic: HeardTopic;
  readonly openedMs: number;
  /** Infinity while it goes on: its hub lives, and has not told that something is lost. */
  endedMs: number;
  readonly texts: string[];
}

const AGAIN_MS = 100;

/** A client of one hub that subscribes to all events of a topic, and again when its subscription was ended. */
export class Listener implements EventSubscriber {
  readonly #hub: SimulatedHub;
  readonly #topic: HeardTopic;
  readonly #heard: Heard[];
  #id = 0;
  #now: Heard | undefined;

  /** Adds its subscriptions to `heard`. */
  constructor(hub: SimulatedHub, topic: HeardTopic, heard: Heard[]) {
    this.#hub = hub;
    this.#topic = topic;
    this.#heard = heard;
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
    const told = this.#hub.cluster.fanout?.acknowledged();
    if (told === undefined) this.#open(id);
    else
      told.then(
        () => this.#open(id),
        () => id === this.#id && this.#again(),
      );
  }

  #open(id: number): void {
    if (id !== this.#id || this.#hub.isOver) return;
    const { network, incarnation } = this.#hub.place;
    this.#now = { hub: incarnation, topic: this.#topic, openedMs: network.clock.nowMs, endedMs: Infinity, texts: [] };
    this.#heard.push(this.#now);
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
