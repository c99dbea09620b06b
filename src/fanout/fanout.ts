import { type EventText, type FilterFields, TOPICS, type Topic, type Variant, type View } from '../model/topics.ts';
import { Batch } from './batch.ts';
import type { Filter } from './filter.ts';
import { isRenderedByShards } from './topic_name.ts';

/** Whoever wants events: a connection, or a listener inside the hub. */
export interface Subscriber {
  /** Takes what one publish has for one of its subscriptions. Must neither throw nor wait. */
  deliver(subscriptionId: number, batch: Batch): void;
}

export interface Interest {
  readonly topic: Topic;
  readonly view: View;
  /** From compileFilter; undefined: every event of the topic. */
  readonly filter?: Filter | undefined;
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
  readonly channel: Channel;
}

/** A variant with its subscriptions, and the events of the publish in progress. */
interface Channel {
  readonly key: string;
  readonly variant: Variant;
  readonly counts: TopicCounts;
  readonly subscriptions: Map<number, Subscription>;
  texts: string[];
  fields: FilterFields[];
}

/**
 * Hands events to subscriptions. A view that somebody has subscribed to is a variant with a short id; the shards
 * render an event once per variant, and here it is matched and handed on as text.
 */
export class Fanout {
  readonly #on: { variantsChanged(variants: readonly Variant[]): void };
  readonly #channels = new Map<number, Channel>();
  readonly #channelsByKey = new Map<string, Channel>();
  readonly #channelsByTopic = new Map<Topic, Set<Channel>>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #counts: Record<Topic, TopicCounts>;
  #lastVariant = 0;
  #lastSubscription = 0;

  /** `variantsChanged` gets all variants that the shards must render, whenever one appears or goes. It must not throw. */
  constructor(on: { variantsChanged(variants: readonly Variant[]): void }) {
    this.#on = on;
    const topics = Object.keys(TOPICS) as Topic[];
    const zeros = topics.map((topic) => [topic, { published: 0, delivered: 0 }] as const);
    this.#counts = Object.fromEntries(zeros) as Record<Topic, TopicCounts>;
    for (const topic of topics) this.#channelsByTopic.set(topic, new Set());
  }

  /** Returns the subscription's id: positive, and never used again in this run. */
  subscribe(subscriber: Subscriber, { topic, view, filter }: Interest): number {
    this.#lastSubscription++;
    const id = this.#lastSubscription;
    const channel = this.#channelsByKey.get(keyOf(topic, view)) ?? this.#open(topic, view);
    const subscription = { id, subscriber, filter, channel };
    channel.subscriptions.set(id, subscription);
    this.#subscriptions.set(id, subscription);
    return id;
  }

  /** Returns false when there is no such subscription. */
  unsubscribe(id: number): boolean {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) return false;
    const { channel } = subscription;
    this.#subscriptions.delete(id);
    channel.subscriptions.delete(id);
    if (channel.subscriptions.size === 0) this.#close(channel);
    return true;
  }

  /** Whether anybody would get events of the topic. */
  hasSubscribers(topic: Topic): boolean {
    return (this.#channelsByTopic.get(topic)?.size ?? 0) > 0;
  }

  /** Hands on events that are rendered already. Those of a variant that has gone meanwhile are left out. hot */
  publish(events: readonly EventText[]): void {
    const touched: Channel[] = [];
    for (const event of events) {
      const channel = this.#channels.get(event.variant);
      if (channel === undefined) continue;
      if (channel.texts.length === 0) touched.push(channel);
      channel.texts.push(event.text);
      channel.fields.push(event.fields);
    }
    for (const channel of touched) deliver(channel);
  }

  /** Hands on one event. It is rendered once per variant; undefined leaves it out where it cannot be shown. */
  announce(topic: Topic, fields: FilterFields, render: (variant: Variant) => string | undefined): void {
    for (const channel of this.#channelsByTopic.get(topic) ?? []) {
      const text = render(channel.variant);
      if (text === undefined) continue;
      channel.texts.push(text);
      channel.fields.push(fields);
      deliver(channel);
    }
  }

  /** What was published and delivered since the start, by topic. */
  counts(): Readonly<Record<Topic, Readonly<TopicCounts>>> {
    return this.#counts;
  }

  #open(topic: Topic, { crs, zoneId, geojson = false }: View): Channel {
    this.#lastVariant++;
    const key = keyOf(topic, { crs, zoneId, geojson });
    const variant = { id: this.#lastVariant, topic, crs, zoneId, geojson };
    const channel = { key, variant, counts: this.#counts[topic], subscriptions: new Map(), texts: [], fields: [] };
    this.#channels.set(variant.id, channel);
    this.#channelsByKey.set(key, channel);
    this.#channelsByTopic.get(topic)?.add(channel);
    this.#tell(topic);
    return channel;
  }

  #close(channel: Channel): void {
    const { id, topic } = channel.variant;
    this.#channels.delete(id);
    this.#channelsByKey.delete(channel.key);
    this.#channelsByTopic.get(topic)?.delete(channel);
    this.#tell(topic);
  }

  #tell(topic: Topic): void {
    if (!isRenderedByShards(topic)) return;
    const variants = [...this.#channels.values()].map(({ variant }) => variant);
    this.#on.variantsChanged(variants.filter((variant) => isRenderedByShards(variant.topic)));
  }
}

function keyOf(topic: Topic, { crs, zoneId, geojson = false }: View): string {
  return JSON.stringify([topic, geojson, crs, zoneId]);
}

/** Hands the channel's events to its subscriptions. Those without a filter share one batch. hot */
function deliver(channel: Channel): void {
  const { texts, fields, counts, subscriptions } = channel;
  // Taken out first: a subscriber may publish, subscribe or leave while it is served.
  channel.texts = [];
  channel.fields = [];
  counts.published += texts.length;
  const all = new Batch(texts);
  for (const { id, subscriber, filter } of subscriptions.values()) {
    const batch = filter === undefined ? all : matching(all, fields, filter);
    if (batch.texts.length === 0) continue;
    counts.delivered += batch.texts.length;
    subscriber.deliver(id, batch);
  }
}

function matching(all: Batch, fields: readonly FilterFields[], filter: Filter): Batch {
  const texts: string[] = [];
  for (let i = 0; i < fields.length; i++) {
    if (filter(fields[i]!)) texts.push(all.texts[i]!);
  }
  return texts.length === all.texts.length ? all : new Batch(texts);
}
