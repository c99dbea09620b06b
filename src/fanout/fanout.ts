import { dequal } from 'dequal/lite';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import { type FilterFields, TOPICS, type Topic, type Variant, type View } from '../model/topics.ts';
import { Batch, type Subscriber } from './batch.ts';
import type { Filter } from './filter.ts';
import { FilterIndex, type Filtering } from './filter_index.ts';
import { type RenderingBounds, Renderings } from './renderings.ts';
import { countSent, hasKinds, nothingSent, type Sent } from './sent.ts';
import { isRenderedByShards } from './topic_name.ts';

export interface Interest {
  readonly topic: Topic;
  readonly view: View;
  /** From compileFilter; undefined: every event of the topic. */
  readonly filter?: Filter | undefined;
  /** Makes of an event's text what this subscriber may see; undefined: it may see all of it. */
  readonly rewrite?: ((text: string) => string) | undefined;
}

/** Events offered to subscribers, and events handed to them: one event for three subscribers counts 1 and 3. */
export interface TopicCounts {
  published: number;
  delivered: number;
}

interface Subscription {
  readonly id: number;
  readonly subscriber: Subscriber;
  readonly filter: Filter | undefined;
  readonly rewrite: ((text: string) => string) | undefined;
  readonly channel: Channel;
}

/** A variant with its subscriptions. */
interface Channel {
  readonly key: string;
  variant: Variant;
  readonly counts: TopicCounts;
  readonly sent: Sent;
  /** Those that want every event, and those that filter. */
  readonly unfiltered: Set<Subscription>;
  readonly filtering: FilterIndex<Subscription & Filtering>;
}

/** The fields of events, and who wants which of them where that is known. */
interface Matched {
  readonly fields: readonly FilterFields[] | undefined;
  readonly matches?: ReadonlyMap<Subscription, readonly number[]>;
}

export interface FanoutHandlers {
  /** Gets all variants that the shards must render, whenever one appears or goes. It must not throw. */
  variantsChanged(variants: readonly Variant[]): void;
  /** The time that is noted when something is sent. */
  now?(): number;
}

/**
 * Hands events to subscriptions. A view that somebody has subscribed to is a variant with a short id; the shards
 * render an event once per variant, and here it is matched and handed on as text.
 */
export class Fanout {
  readonly #on: FanoutHandlers;
  readonly #channels = new Map<number, Channel>();
  readonly #channelsByKey = new Map<string, Channel>();
  readonly #channelsByTopic = new Map<Topic, Set<Channel>>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #renderings: Renderings;
  readonly #counts: Record<Topic, TopicCounts>;
  /** By topic, with `:geojson` behind the topic for that form. */
  readonly #sent = new Map<string, Sent>();
  #lastVariant = 0;
  #lastSubscription = 0;

  /** Renderings are unbounded where bounds are left out. */
  constructor(on: FanoutHandlers, bounds: RenderingBounds = { ofSubscriber: Infinity, inAll: Infinity }) {
    this.#on = on;
    this.#renderings = new Renderings(bounds);
    const topics = Object.keys(TOPICS) as Topic[];
    const zeros = topics.map((topic) => [topic, { published: 0, delivered: 0 }] as const);
    this.#counts = Object.fromEntries(zeros) as Record<Topic, TopicCounts>;
    for (const topic of topics) this.#channelsByTopic.set(topic, new Set());
  }

  /**
   * Returns the subscription's id: positive, and never used again in this run. Throws HUB_BAD_REQUEST for a rendering
   * beyond the bounds.
   */
  subscribe(subscriber: Subscriber, { topic, view, filter, rewrite }: Interest): number {
    const key = keyOf(topic, view);
    const known = this.#channelsByKey.get(key);
    this.#renderings.add(subscriber, key, known === undefined ? this.#channels.size : 0);
    this.#lastSubscription++;
    const id = this.#lastSubscription;
    const channel = known ?? this.#open(topic, view);
    const subscription: Subscription = { id, subscriber, filter, rewrite, channel };
    this.#subscriptions.set(id, subscription);
    if (isFiltering(subscription)) channel.filtering.add(subscription);
    else channel.unfiltered.add(subscription);
    this.#checkFields(channel, known === undefined);
    return id;
  }

  /** Returns false when there is no such subscription. */
  unsubscribe(id: number): boolean {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) return false;
    const { channel } = subscription;
    this.#subscriptions.delete(id);
    this.#renderings.remove(subscription.subscriber, channel.key);
    if (isFiltering(subscription)) channel.filtering.delete(subscription);
    else channel.unfiltered.delete(subscription);
    if (sizeOf(channel) === 0) this.#close(channel);
    else this.#checkFields(channel);
    return true;
  }

  /** Whether anybody would get events of the topic. */
  hasSubscribers(topic: Topic): boolean {
    return (this.#channelsByTopic.get(topic)?.size ?? 0) > 0;
  }

  /** The topic of a variant; undefined when nobody subscribes to it any more. */
  topicOf(variant: number): Topic | undefined {
    return this.#channels.get(variant)?.variant.topic;
  }

  /** Hands on events that are rendered already. Those of a variant that has gone meanwhile are left out. hot */
  publish(blocks: readonly EventBatch[]): void {
    for (const { variant, bytes, ends, fields } of blocks) {
      const channel = this.#channels.get(variant);
      if (channel !== undefined) this.#deliver(channel, new Batch(look(bytes), ends), { fields });
    }
  }

  /** Hands on one event. It is rendered once per variant; undefined leaves it out where it cannot be shown. */
  announce(topic: Topic, fields: FilterFields, render: (variant: Variant) => string | undefined): void {
    for (const channel of this.#channelsByTopic.get(topic) ?? []) {
      const matches = channel.filtering.match([fields]);
      if (channel.unfiltered.size === 0 && matches.size === 0) continue;
      const text = render(channel.variant);
      if (text !== undefined) this.#deliver(channel, Batch.of([text]), { fields: [fields], matches });
    }
  }

  /** What was published and delivered since the start, by topic. */
  counts(): Readonly<Record<Topic, Readonly<TopicCounts>>> {
    return this.#counts;
  }

  /** What subscriptions got since the start of a topic, plain or as GeoJSON. */
  sent(topic: Topic, geojson: boolean): Readonly<Sent> {
    return this.#sentIn(topic, geojson);
  }

  /** Subscriptions to a topic, plain and GeoJSON together. */
  subscribers(topic: Topic): number {
    let count = 0;
    for (const channel of this.#channelsByTopic.get(topic) ?? []) count += sizeOf(channel);
    return count;
  }

  #sentIn(topic: Topic, geojson: boolean): Sent {
    const key = geojson ? `${topic}:geojson` : topic;
    const sent = this.#sent.get(key) ?? nothingSent();
    this.#sent.set(key, sent);
    return sent;
  }

  #open(topic: Topic, { crs, zoneId, geojson = false }: View): Channel {
    this.#lastVariant++;
    const key = keyOf(topic, { crs, zoneId, geojson });
    const variant: Variant = { id: this.#lastVariant, topic, crs, zoneId, geojson, unfiltered: !hasKinds(topic) };
    const counts = this.#counts[topic];
    const sent = this.#sentIn(topic, geojson);
    const subscriptions = {
      unfiltered: new Set<Subscription>(),
      filtering: new FilterIndex<Subscription & Filtering>(),
    };
    const channel: Channel = { key, variant, counts, sent, ...subscriptions };
    this.#channels.set(variant.id, channel);
    this.#channelsByKey.set(key, channel);
    this.#channelsByTopic.get(topic)?.add(channel);
    return channel;
  }

  #close(channel: Channel): void {
    const { id, topic } = channel.variant;
    this.#channels.delete(id);
    this.#channelsByKey.delete(channel.key);
    this.#channelsByTopic.get(topic)?.delete(channel);
    this.#tell(topic);
  }

  /** Subscriptions come and go: the shards are told whether anybody filters, and what nobody can get. */
  #checkFields(channel: Channel, isNew = false): void {
    const { filtering, variant } = channel;
    const unfiltered = filtering.size === 0 && !hasKinds(variant.topic);
    const wanted = channel.unfiltered.size > 0 ? undefined : filtering.wanted();
    if (!isNew && variant.unfiltered === unfiltered && dequal(variant.wanted, wanted)) return;
    const { wanted: _before, ...rest } = variant;
    channel.variant = { ...rest, unfiltered, ...(wanted && { wanted }) };
    this.#tell(variant.topic);
  }

  /**
   * Hands events to the subscriptions of a channel; those without a filter share one batch. Events without fields are
   * from before the first subscription that filters. hot
   */
  #deliver({ counts, sent, variant, ...to }: Channel, batch: Batch, { fields, matches: known }: Matched): void {
    const { count } = batch;
    counts.published += count;
    counts.delivered += count * to.unfiltered.size;
    const before = sent.events;
    countSent(sent, variant.topic, { count, fields }, to.unfiltered.size);
    const isMatched = known !== undefined || fields === undefined || to.filtering.size === 0;
    const matches = isMatched ? known : to.filtering.match(fields);
    for (const [, places] of matches ?? []) {
      counts.delivered += places.length;
      const own = places.map((place) => (fields as readonly FilterFields[])[place] as FilterFields);
      countSent(sent, variant.topic, { count: places.length, fields: own }, 1);
    }
    if (sent.events > before && this.#on.now !== undefined) sent.lastMs = this.#on.now();
    // Last, and of what is known by now: a subscriber may publish, subscribe or leave while it is served.
    for (const subscription of [...to.unfiltered]) handOver(subscription, batch);
    for (const [subscription, places] of matches ?? []) handOver(subscription, batch.at(places));
  }

  #tell(topic: Topic): void {
    if (!isRenderedByShards(topic)) return;
    const variants = [...this.#channels.values()].map(({ variant }) => variant);
    this.#on.variantsChanged(variants.filter((variant) => isRenderedByShards(variant.topic)));
  }
}

function handOver({ id, subscriber, rewrite }: Subscription, batch: Batch): void {
  subscriber.deliver(id, rewrite === undefined ? batch : Batch.of(batch.texts.map(rewrite)));
}

function keyOf(topic: Topic, { crs, zoneId, geojson = false }: View): string {
  return JSON.stringify([topic, geojson, crs, zoneId]);
}

function sizeOf({ unfiltered, filtering }: Channel): number {
  return unfiltered.size + filtering.size;
}

function isFiltering(subscription: Subscription): subscription is Subscription & Filtering {
  return subscription.filter !== undefined;
}
