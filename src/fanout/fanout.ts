import { dequal } from 'dequal/lite';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import { type FilterFields, isRenderedByShards, TOPICS, type Topic, type Variant, type View } from '../model/topics.ts';
import { DeliveryBatch, type EventSubscriber } from './batch.ts';
import type { Filter } from './filter.ts';
import { FilterIndex, type Filtering } from './filter_index.ts';
import { type RemoteInterests, forwardTo, unionOf, wantsFields, withRemote, withoutRemote } from './remote_interest.ts';
import { type RenderingBounds, Renderings } from './renderings.ts';
import { countSent, hasKinds, nothingSent, type SentCount } from './sent.ts';

/**
 * Maximum number of filter values and limits sent to the shards of this hub, and to other hubs. Beyond it all events
 * are rendered, which costs less than sending the filters.
 */
const [WANTED_MAX, WANTED_ABROAD_MAX] = [64, 1000] as const;

export interface ViewInterest {
  readonly topic: Topic;
  readonly view: View;
  /** Filter from compileFilter; undefined for all events of the topic. */
  readonly filter?: Filter | undefined;
  /** Redacts an event's JSON for this subscriber; undefined if nothing is redacted. */
  readonly rewrite?: ((text: string) => string) | undefined;
}

/** Listener to all events of a view that this hub publishes, with the values of their filter fields. */
export interface FanoutListener {
  /** Whether it needs only announced events. */
  readonly ignoresPublished?: boolean;
  /** Receives the events of one publish, or one announced event. Must neither throw nor wait. hot */
  receive(batch: DeliveryBatch, fields: readonly FilterFields[], how: 'published' | 'announced'): void;
}

/** Number of events published and of events delivered: one event for three subscribers counts 1 and 3. */
export interface TopicCounts {
  published: number;
  delivered: number;
}

interface Subscription {
  readonly id: number;
  readonly subscriber: EventSubscriber;
  readonly filter: Filter | undefined;
  readonly rewrite: ((text: string) => string) | undefined;
  readonly channel: Channel;
  /** Number of the first interest that includes it, see FanoutHandlers. */
  since: number;
}

/** A variant and its receivers. */
interface Channel {
  readonly key: string;
  variant: Variant;
  readonly counts: TopicCounts;
  readonly sent: SentCount;
  /** Subscriptions without a filter, and those with one. */
  readonly unfiltered: Set<Subscription>;
  readonly filtering: FilterIndex<Subscription & Filtering>;
  /** Listeners, which receive no events of other hubs. */
  readonly listeners: Set<FanoutListener>;
  /** Other hubs that receive the events; undefined outside a cluster. */
  remote: RemoteInterests | undefined;
}

/** Filter fields of events and, if already computed, the indexes of the events that each subscription receives. */
interface Matched {
  readonly fields: readonly FilterFields[] | undefined;
  readonly matches?: ReadonlyMap<Subscription, readonly number[]>;
}

export interface FanoutHandlers {
  /**
   * Called with all variants that the shards must render, whenever one is added, changed or removed. Must not throw.
   */
  variantsChanged(variants: readonly Variant[]): void;
  /** Clock for the time of the last event sent. */
  now?(): number;
  /** Called when the result of `interest` has changed. */
  interestChanged?(): void;
  /** Returns the number of the current interest, which rises with each change. */
  interestNumber?(): number;
  /** Called with published events for other hubs, and with the variant of each of these hubs by name. */
  forward?(events: EventBatch, to: ReadonlyMap<string, Variant>): void;
}

/**
 * Delivers events to subscriptions. Every view with a subscription is a variant with a short id. The shards render an
 * event once per variant; the fan-out applies the filters and delivers the event as JSON.
 *
 * In a cluster, each hub knows the interests of the other hubs, and its shards render for them as well. Its own events
 * are forwarded to them, and their events arrive through `receive`. Each hub assigns its own ids to variants.
 */
export class Fanout {
  readonly #on: FanoutHandlers;
  readonly #channels = new Map<number, Channel>();
  readonly #channelsByKey = new Map<string, Channel>();
  readonly #channelsByTopic = new Map<Topic, Set<Channel>>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #renderings: Renderings;
  readonly #counts: Record<Topic, TopicCounts>;
  /** By topic; GeoJSON has the suffix `:geojson`. */
  readonly #sent = new Map<string, SentCount>();
  /** During bulk changes: the topic of a changed channel of which the shards must be notified. */
  #pendingTopic: Topic | 'nothing' | undefined;
  #lastVariant = 0;
  #lastSubscription = 0;

  /** Without `bounds`, the number of renderings is unlimited. */
  constructor(on: FanoutHandlers, bounds: RenderingBounds = { ofSubscriber: Infinity, inAll: Infinity }) {
    this.#on = on;
    this.#renderings = new Renderings(bounds);
    const topics = Object.keys(TOPICS) as Topic[];
    const zeros = topics.map((topic) => [topic, { published: 0, delivered: 0 }] as const);
    this.#counts = Object.fromEntries(zeros) as Record<Topic, TopicCounts>;
    for (const topic of topics) this.#channelsByTopic.set(topic, new Set());
  }

  /**
   * Adds a subscription and returns its id: positive, and unique until the hub restarts. Throws HUB_BAD_REQUEST if the
   * subscription exceeds the bounds on renderings.
   */
  subscribe(subscriber: EventSubscriber, { topic, view, filter, rewrite }: ViewInterest): number {
    const key = keyOf(topic, view);
    const known = this.#channelsByKey.get(key);
    this.#renderings.add(subscriber, key, known !== undefined && isSubscribed(known) ? 0 : this.#subscribedChannels());
    const id = this.newId();
    const channel = known ?? this.#open(topic, view);
    const subscription: Subscription = { id, subscriber, filter, rewrite, channel, since: 0 };
    this.#subscriptions.set(id, subscription);
    const before = needOf(channel);
    if (isFiltering(subscription)) channel.filtering.add(subscription);
    else channel.unfiltered.add(subscription);
    this.#checkFields(channel, known === undefined);
    this.#checkNeed(channel, before);
    subscription.since = this.#on.interestNumber?.() ?? 0;
    return id;
  }

  /** Returns an unused id, for a subscription that is served elsewhere. */
  newId(): number {
    this.#lastSubscription++;
    return this.#lastSubscription;
  }

  /** Removes a subscription. Returns false if it does not exist. */
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

  /** Adds a listener to all events of a view. Returns a function that removes it. */
  listen(listener: FanoutListener, { topic, view }: Pick<ViewInterest, 'topic' | 'view'>): () => void {
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
   * Returns the interest of this hub in events of other hubs: variants, with or without filter fields, and optionally
   * the filter values of its subscriptions.
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

  /** Replaces the interest of another hub; empty when that hub has left. */
  setRemoteInterest(hub: string, variants: readonly Variant[]): void {
    const wanted = new Map(variants.map((variant) => [keyOf(variant.topic, variant), variant]));
    this.#pendingTopic = 'nothing';
    for (const channel of [...this.#channels.values()]) {
      if (channel.remote?.has(hub) !== true || wanted.has(channel.key)) continue;
      channel.remote = withoutRemote(channel.remote, hub);
      this.#checkUse(channel);
    }
    for (const [key, variant] of wanted) {
      const known = this.#channelsByKey.get(key);
      const channel = known ?? this.#open(variant.topic, variant);
      channel.remote = withRemote(channel.remote, hub, variant);
      this.#checkFields(channel, known === undefined);
    }
    const pendingTopic = this.#pendingTopic;
    this.#pendingTopic = undefined;
    if (pendingTopic !== 'nothing') this.#notifyShards(pendingTopic);
  }

  /** Notifies subscriptions to these topics that events from another hub were lost in transit. */
  missed(topics: readonly Topic[], why: string): void {
    const concerned = [...this.#subscriptions.values()].filter(({ channel }) => topics.includes(channel.variant.topic));
    for (const { id, subscriber } of concerned) subscriber.missed?.(id, why);
  }

  /** Whether the topic has any receiver. */
  hasSubscribers(topic: Topic): boolean {
    return (this.#channelsByTopic.get(topic)?.size ?? 0) > 0;
  }

  /** Returns the id of the variant of a view; undefined if nothing subscribes or listens to it. */
  variantOf({ topic, view }: Pick<ViewInterest, 'topic' | 'view'>): number | undefined {
    return this.#channelsByKey.get(keyOf(topic, view))?.variant.id;
  }

  /** Returns the topic of a variant; undefined if the variant no longer has subscriptions. */
  topicOf(variant: number): Topic | undefined {
    return this.#channels.get(variant)?.variant.topic;
  }

  /** Whether published events of a variant have a receiver. */
  isReceived(variant: number): boolean {
    const channel = this.#channels.get(variant);
    if (channel === undefined) return false;
    if (isSubscribed(channel)) return true;
    for (const { ignoresPublished } of channel.listeners) if (ignoresPublished !== true) return true;
    return false;
  }

  /** Delivers rendered events. Events of a variant that was removed in the meantime are dropped. hot */
  publish(blocks: readonly EventBatch[]): void {
    for (const block of blocks) {
      const { variant, bytes, ends, fields } = block;
      const channel = this.#channels.get(variant);
      if (channel === undefined) continue;
      const { forward } = this.#on;
      if (channel.remote !== undefined && forward !== undefined) forwardTo(channel.remote, block, forward);
      if (channel.remote === undefined || sizeOf(channel) + channel.listeners.size > 0) {
        const batch = new DeliveryBatch(look(bytes), ends);
        this.#deliver(channel, batch, { fields });
        // Events without fields were rendered before the listener was added, so they are not for it.
        if (fields !== undefined) for (const each of channel.listeners) each.receive(batch, fields, 'published');
      }
    }
  }

  /** Delivers events of another hub, only to subscriptions of this hub. hot */
  receive({ variant, bytes, ends, fields }: EventBatch): void {
    const channel = this.#channels.get(variant);
    if (channel !== undefined && sizeOf(channel) > 0)
      this.#deliver(channel, new DeliveryBatch(look(bytes), ends), { fields });
  }

  /**
   * Delivers one event. `render` is called once per variant and returns undefined to skip the variant. `upTo` is the
   * number of the interest that includes the subscriptions that receive the event; by default all of them do, and the
   * listeners as well. With `upTo`, the event is redelivered: listeners have no part in it.
   */
  announce(
    topic: Topic,
    fields: FilterFields,
    render: (variant: Variant) => string | undefined,
    upTo = Infinity,
  ): void {
    const isIncluded = ({ since }: Subscription): boolean => since <= upTo;
    for (const channel of this.#channelsByTopic.get(topic) ?? []) {
      const matches = new Map([...channel.filtering.match([fields])].filter(([each]) => isIncluded(each)));
      const unfiltered = new Set([...channel.unfiltered].filter(isIncluded));
      const hasListeners = upTo === Infinity && channel.listeners.size > 0;
      if (unfiltered.size === 0 && matches.size === 0 && !hasListeners) continue;
      const text = render(channel.variant);
      if (text === undefined) continue;
      const batch = DeliveryBatch.of([text]);
      this.#deliver({ ...channel, unfiltered }, batch, { fields: [fields], matches });
      if (hasListeners) for (const each of channel.listeners) each.receive(batch, [fields], 'announced');
    }
  }

  /** Returns the numbers of events published and delivered since start, by topic. */
  counts(): Readonly<Record<Topic, Readonly<TopicCounts>>> {
    return this.#counts;
  }

  /** Returns the events sent to subscriptions to a topic since start, plain or as GeoJSON. */
  sent(topic: Topic, geojson: boolean): Readonly<SentCount> {
    return this.#sentIn(topic, geojson);
  }

  /** Returns the number of subscriptions to a topic, both plain and GeoJSON. */
  subscribers(topic: Topic): number {
    let count = 0;
    for (const channel of this.#channelsByTopic.get(topic) ?? []) count += sizeOf(channel);
    return count;
  }

  #sentIn(topic: Topic, geojson: boolean): SentCount {
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
      listeners: new Set<FanoutListener>(),
    };
    const channel: Channel = { key, variant, counts, sent, ...subscriptions, remote: undefined };
    this.#channels.set(variant.id, channel);
    this.#channelsByKey.set(key, channel);
    this.#channelsByTopic.get(topic)?.add(channel);
    return channel;
  }

  /** Number of channels with subscriptions. The few listeners of the hub itself leave the bound to its clients. */
  #subscribedChannels(): number {
    return [...this.#channels.values()].filter(isSubscribed).length;
  }

  /** Closes a channel if it has no receivers left. */
  #checkUse(channel: Channel): void {
    if (channel.listeners.size === 0 && !isSubscribed(channel)) this.#close(channel);
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
    this.#notifyShards(topic);
  }

  /**
   * Notifies the shards if the need of a channel has changed: whether it filters, or which events its filters can
   * match.
   */
  #checkFields(channel: Channel, isNew = false): void {
    const { filtering, listeners, variant, remote } = channel;
    const isListened = listeners.size > 0;
    const unfiltered = filtering.size === 0 && !isListened && !hasKinds(variant.topic) && !wantsFields(remote);
    const abroad = [...(remote?.values() ?? [])].map((other) => other.wanted);
    const own = filtering.size === 0 ? [] : [filtering.wanted(WANTED_MAX)];
    const wanted = channel.unfiltered.size > 0 || isListened ? undefined : unionOf([...own, ...abroad], WANTED_MAX);
    if (!isNew && variant.unfiltered === unfiltered && dequal(variant.wanted, wanted)) return;
    const { wanted: _before, ...rest } = variant;
    channel.variant = { ...rest, unfiltered, ...(wanted && { wanted }) };
    this.#notifyShards(variant.topic);
  }

  /**
   * Delivers events to the subscriptions of a channel. Subscriptions without a filter share one batch. Events without
   * fields were rendered before the first subscription with a filter was added. hot
   */
  #deliver(channel: Channel, batch: DeliveryBatch, { fields, matches: known }: Matched): void {
    const { counts, sent, variant, unfiltered, filtering } = channel;
    const { count } = batch;
    counts.published += count;
    counts.delivered += count * unfiltered.size;
    const before = sent.events;
    countSent(sent, variant.topic, { count, fields }, unfiltered.size);
    const isMatched = known !== undefined || fields === undefined || filtering.size === 0;
    const matches = isMatched ? known : filtering.match(fields);
    for (const [, places] of matches ?? []) {
      counts.delivered += places.length;
      const own = places.map((place) => (fields as readonly FilterFields[])[place] as FilterFields);
      countSent(sent, variant.topic, { count: places.length, fields: own }, 1);
    }
    if (sent.events > before && this.#on.now !== undefined) sent.lastMs = this.#on.now();
    // Delivers last, from a snapshot: a subscriber may publish, subscribe or unsubscribe during delivery.
    for (const subscription of [...unfiltered]) deliverTo(subscription, batch);
    for (const [subscription, places] of matches ?? []) deliverTo(subscription, batch.at(places));
  }

  #notifyShards(topic: Topic): void {
    if (!isRenderedByShards(topic)) return;
    if (this.#pendingTopic !== undefined) {
      this.#pendingTopic = topic;
      return;
    }
    const variants = [...this.#channels.values()].map(({ variant }) => variant);
    this.#on.variantsChanged(variants.filter((variant) => isRenderedByShards(variant.topic)));
  }
}

function deliverTo({ id, subscriber, rewrite }: Subscription, batch: DeliveryBatch): void {
  subscriber.deliver(id, rewrite === undefined ? batch : DeliveryBatch.of(batch.strings.map(rewrite)));
}

function keyOf(topic: Topic, { crs, zoneId, geojson = false, propertiesMax }: View): string {
  return JSON.stringify([topic, geojson, crs, zoneId, propertiesMax]);
}

function sizeOf({ unfiltered, filtering }: Channel): number {
  return unfiltered.size + filtering.size;
}

/**
 * Parts of an event that this hub's subscriptions need. A number identifies the set of filter values that can match.
 */
type Need = 'nothing' | 'texts' | 'fields' | number;

function needOf(channel: Channel): Need {
  const isChoosy = channel.unfiltered.size === 0 && channel.filtering.size > 0;
  if (isChoosy) return channel.filtering.wantedNumber(WANTED_ABROAD_MAX) ?? 'fields';
  if (channel.filtering.size > 0) return 'fields';
  if (channel.unfiltered.size === 0) return 'nothing';
  return hasKinds(channel.variant.topic) ? 'fields' : 'texts';
}

/** Whether a channel has subscriptions, of this hub or of others. */
function isSubscribed(channel: Channel): boolean {
  return sizeOf(channel) > 0 || channel.remote !== undefined;
}

function isFiltering(subscription: Subscription): subscription is Subscription & Filtering {
  return subscription.filter !== undefined;
}
