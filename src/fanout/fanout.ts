import { dequal } from 'dequal/lite';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import { type FilterFields, isRenderedByShards, TOPICS, type Topic, type Variant, type View } from '../model/topics.ts';
import { Batch, type Subscriber } from './batch.ts';
import type { Filter } from './filter.ts';
import { FilterIndex, type Filtering } from './filter_index.ts';
import { type Foreign, forwardTo, unionOf, wantsFields, withForeign, withoutForeign } from './foreign_wants.ts';
import { type RenderingBounds, Renderings } from './renderings.ts';
import { countSent, hasKinds, nothingSent, type Sent } from './sent.ts';

/**
 * Values and limits by which shards leave out events that nobody wants: with more, all are rendered, which costs less than to
 * tell of them all. And those by which other hubs leave them out.
 */
const [WANTED_MAX, WANTED_ABROAD_MAX] = [64, 1000] as const;

export interface Interest {
  readonly topic: Topic;
  readonly view: View;
  /** From compileFilter; undefined: every event of the topic. */
  readonly filter?: Filter | undefined;
  /** Makes of an event's text what this subscriber may see; undefined: it may see all of it. */
  readonly rewrite?: ((text: string) => string) | undefined;
}

/** Whoever wants all events of a view that this hub publishes, with the values of their filter fields. */
export interface Listener {
  /** Takes the events of one publish, or one that was announced. Must neither throw nor wait. hot */
  heard(batch: Batch, fields: readonly FilterFields[], how: 'published' | 'announced'): void;
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
  /** When it began. */
  readonly sinceMs: number;
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
  /** They hear of no events of other hubs. */
  readonly listeners: Set<Listener>;
  /** Other hubs that want its events; undefined for none. */
  foreign: Foreign | undefined;
}

/** The fields of events, and who wants which of them where that is known. */
interface Matched {
  readonly fields: readonly FilterFields[] | undefined;
  readonly matches?: ReadonlyMap<Subscription, readonly number[]>;
}

export interface FanoutHandlers {
  /** Gets all variants that the shards must render, whenever one appears or goes. It must not throw. */
  variantsChanged(variants: readonly Variant[]): void;
  /** The time that is noted when a subscription begins, and when something is sent. */
  now?(): number;
  /** What `interest` returns has changed. */
  interestChanged?(): void;
  /** Gets published events that other hubs want, by their name, and the variant as each of them has it. */
  forward?(events: EventBatch, to: ReadonlyMap<string, Variant>): void;
}

/**
 * Hands events to subscriptions. A view that somebody has subscribed to is a variant with a short id; the shards
 * render an event once per variant, and here it is matched and handed on as text.
 *
 * Several hubs may be one: then each knows what the others want, and its shards render that as well. What it publishes
 * is handed on to them, and what they have published comes in by `receive`. Each hub has its own ids of variants.
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
  /** While many channels change: the topic of one of them that the shards are to be told of. */
  #untold: Topic | 'nothing' | undefined;
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
    const sinceMs = this.#on.now?.() ?? 0;
    const subscription: Subscription = { id, subscriber, filter, rewrite, channel, sinceMs };
    this.#subscriptions.set(id, subscription);
    const before = needOf(channel);
    if (isFiltering(subscription)) channel.filtering.add(subscription);
    else channel.unfiltered.add(subscription);
    this.#checkFields(channel, known === undefined);
    this.#checkNeed(channel, before);
    return id;
  }

  /** Returns false when there is no such subscription. */
  unsubscribe(id: number): boolean {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) return false;
    const { channel } = subscription;
    this.#subscriptions.delete(id);
    this.#renderings.remove(subscription.subscriber, channel.key);
    const before = needOf(channel);
    if (isFiltering(subscription)) channel.filtering.delete(subscription);
    else channel.unfiltered.delete(subscription);
    this.#checkUse(channel);
    this.#checkNeed(channel, before);
    return true;
  }

  /** Tells a listener of all events of a view from now on. Returns what ends that. */
  listen(listener: Listener, { topic, view }: Pick<Interest, 'topic' | 'view'>): () => void {
    const known = this.#channelsByKey.get(keyOf(topic, view));
    const channel = known ?? this.#open(topic, view);
    channel.listeners.add(listener);
    this.#checkFields(channel, known === undefined);
    return () => {
      channel.listeners.delete(listener);
      this.#checkUse(channel);
    };
  }

  /**
   * What subscriptions of this hub want of the shards of others: events of these variants, with fields or without; all of
   * them, or those that fit.
   */
  interest(): readonly Variant[] {
    const wanted = [...this.#channels.values()].filter((channel) => needOf(channel) !== 'nothing');
    return wanted.flatMap((channel) => {
      const { wanted: _ofShards, ...variant } = channel.variant;
      if (!isRenderedByShards(variant.topic)) return [];
      const wanted = channel.unfiltered.size > 0 ? undefined : channel.filtering.wanted(WANTED_ABROAD_MAX);
      return [{ ...variant, unfiltered: needOf(channel) === 'texts', ...(wanted && { wanted }) }];
    });
  }

  /** What another hub wants of this one, in the place of what it wanted before; nothing when it is gone. */
  setForeign(hub: string, variants: readonly Variant[]): void {
    const wanted = new Map(variants.map((variant) => [keyOf(variant.topic, variant), variant]));
    this.#untold = 'nothing';
    for (const channel of [...this.#channels.values()]) {
      if (channel.foreign?.has(hub) !== true || wanted.has(channel.key)) continue;
      channel.foreign = withoutForeign(channel.foreign, hub);
      this.#checkUse(channel);
    }
    for (const [key, variant] of wanted) {
      const known = this.#channelsByKey.get(key);
      const channel = known ?? this.#open(variant.topic, variant);
      channel.foreign = withForeign(channel.foreign, hub, variant);
      this.#checkFields(channel, known === undefined);
    }
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold !== 'nothing') this.#tell(untold);
  }

  /** Tells the subscriptions to these topics that events of theirs were lost on their way from another hub. */
  missed(topics: readonly Topic[], why: string): void {
    const concerned = [...this.#subscriptions.values()].filter(({ channel }) => topics.includes(channel.variant.topic));
    for (const { id, subscriber } of concerned) subscriber.missed?.(id, why);
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
    for (const block of blocks) {
      const { variant, bytes, ends, fields } = block;
      const channel = this.#channels.get(variant);
      if (channel === undefined) continue;
      const { forward } = this.#on;
      if (channel.foreign !== undefined && forward !== undefined) forwardTo(channel.foreign, block, forward);
      if (channel.foreign === undefined || sizeOf(channel) + channel.listeners.size > 0) {
        const batch = new Batch(look(bytes), ends);
        this.#deliver(channel, batch, { fields });
        // Without fields they are from before it began to listen.
        if (fields !== undefined) for (const each of channel.listeners) each.heard(batch, fields, 'published');
      }
    }
  }

  /** Hands on events that another hub has published, to subscriptions of this one alone. hot */
  receive({ variant, bytes, ends, fields }: EventBatch): void {
    const channel = this.#channels.get(variant);
    if (channel !== undefined && sizeOf(channel) > 0) this.#deliver(channel, new Batch(look(bytes), ends), { fields });
  }

  /**
   * Hands on one event. It is rendered once per variant; undefined leaves it out where it cannot be shown. `upToMs`: only to
   * subscriptions that had begun by then.
   */
  announce(
    topic: Topic,
    fields: FilterFields,
    render: (variant: Variant) => string | undefined,
    upToMs = Infinity,
  ): void {
    const hasBegun = ({ sinceMs }: Subscription): boolean => sinceMs <= upToMs;
    for (const channel of this.#channelsByTopic.get(topic) ?? []) {
      const matches = new Map([...channel.filtering.match([fields])].filter(([each]) => hasBegun(each)));
      const unfiltered = new Set([...channel.unfiltered].filter(hasBegun));
      if (unfiltered.size === 0 && matches.size === 0 && channel.listeners.size === 0) continue;
      const text = render(channel.variant);
      if (text === undefined) continue;
      const batch = Batch.of([text]);
      this.#deliver({ ...channel, unfiltered }, batch, { fields: [fields], matches });
      for (const each of channel.listeners) each.heard(batch, [fields], 'announced');
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

  #open(topic: Topic, { crs, zoneId, geojson = false, propertiesMax }: View): Channel {
    this.#lastVariant++;
    const key = keyOf(topic, { crs, zoneId, geojson, propertiesMax });
    const view = { crs, zoneId, geojson, ...(propertiesMax !== undefined && { propertiesMax }) };
    const variant: Variant = { id: this.#lastVariant, topic, ...view, unfiltered: !hasKinds(topic) };
    const counts = this.#counts[topic];
    const sent = this.#sentIn(topic, geojson);
    const subscriptions = {
      unfiltered: new Set<Subscription>(),
      filtering: new FilterIndex<Subscription & Filtering>(),
      listeners: new Set<Listener>(),
    };
    const channel: Channel = { key, variant, counts, sent, ...subscriptions, foreign: undefined };
    this.#channels.set(variant.id, channel);
    this.#channelsByKey.set(key, channel);
    this.#channelsByTopic.get(topic)?.add(channel);
    return channel;
  }

  /** Somebody is gone: so is the channel, if it was the last. */
  #checkUse(channel: Channel): void {
    if (sizeOf(channel) + channel.listeners.size === 0 && channel.foreign === undefined) this.#close(channel);
    else this.#checkFields(channel);
  }

  #checkNeed(channel: Channel, before: Need): void {
    if (needOf(channel) !== before && isRenderedByShards(channel.variant.topic)) this.#on.interestChanged?.();
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
    const { filtering, listeners, variant, foreign } = channel;
    const isListened = listeners.size > 0;
    const unfiltered = filtering.size === 0 && !isListened && !hasKinds(variant.topic) && !wantsFields(foreign);
    const abroad = [...(foreign?.values() ?? [])].map((other) => other.wanted);
    const own = filtering.size === 0 ? [] : [filtering.wanted(WANTED_MAX)];
    const wanted = channel.unfiltered.size > 0 || isListened ? undefined : unionOf([...own, ...abroad], WANTED_MAX);
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
    if (this.#untold !== undefined) {
      this.#untold = topic;
      return;
    }
    const variants = [...this.#channels.values()].map(({ variant }) => variant);
    this.#on.variantsChanged(variants.filter((variant) => isRenderedByShards(variant.topic)));
  }
}

function handOver({ id, subscriber, rewrite }: Subscription, batch: Batch): void {
  subscriber.deliver(id, rewrite === undefined ? batch : Batch.of(batch.texts.map(rewrite)));
}

function keyOf(topic: Topic, { crs, zoneId, geojson = false, propertiesMax }: View): string {
  return JSON.stringify([topic, geojson, crs, zoneId, propertiesMax]);
}

function sizeOf({ unfiltered, filtering }: Channel): number {
  return unfiltered.size + filtering.size;
}

/** What subscriptions of this hub need of an event: a number stands for the fields of those that they want. */
type Need = 'nothing' | 'texts' | 'fields' | number;

function needOf(channel: Channel): Need {
  const isChoosy = channel.unfiltered.size === 0 && channel.filtering.size > 0;
  if (isChoosy) return channel.filtering.wantedNumber(WANTED_ABROAD_MAX) ?? 'fields';
  if (channel.filtering.size > 0) return 'fields';
  if (channel.unfiltered.size === 0) return 'nothing';
  return hasKinds(channel.variant.topic) ? 'fields' : 'texts';
}

function isFiltering(subscription: Subscription): subscription is Subscription & Filtering {
  return subscription.filter !== undefined;
}
