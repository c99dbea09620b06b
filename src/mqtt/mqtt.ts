import type { Fanout } from '../fanout/fanout.ts';
import { announceXcmdBroadcast } from '../fanout/front_events.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Components } from '../model/components.ts';
import type { MqttHealth } from '../model/health.ts';
import type { Publication, TopicStyle } from '../model/mqtt.ts';
import type { Trackable } from '../model/trackable.ts';
import type { CarriedRpc } from '../rpc/carrier.ts';
import { BrokerClient, type BrokerClientDeps, type BrokerClientOptions, sumOfCounts } from './broker_client.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import { describeMqtt } from './docs/async_api.ts';
import { ElectedSubscription } from './elected_subscription.ts';
import { HomeAssistant, type HomeAssistantDeps } from './home_assistant.ts';
import { nodeOf } from './home_assistant_documents.ts';
import { REASONS, type Reason } from './inbound.ts';
import type { ThreadCounts } from './messages.ts';
import { Outbound } from './outbound.ts';
import { RpcCarrier } from './rpc_carrier.ts';
import { rpcFilters } from './rpc_topics.ts';
import { addressOf } from './session.ts';
import { sourceFilters, statusTopics } from './topics.ts';
import { UNS_PROBLEMS, Uns, type UnsDeps, type UnsProblem, type UnsSettings } from './uns.ts';

/** Settings of the MQTT client, from hub_config.yaml. */
export interface MqttSettings {
  readonly broker: BrokerSettings;
  /** Prefix of the client ids shared by all hubs of a cluster. */
  readonly sharedClientId: string;
  readonly style: TopicStyle;
  readonly wanted: readonly { readonly publication: Publication; readonly minIntervalMs: number }[];
  readonly queueBytesMax: number;
  /** Subscribed topics of sources, below `omlox/json/`; empty for all. */
  readonly subscriptions: readonly string[];
  /** Name of a shared subscription, for several hubs without a cluster. */
  readonly share: string | undefined;
  readonly uns: UnsSettings | undefined;
  /** Discovery by Home Assistant: first level of its topics, and the id of the hub or cluster. Undefined if it is off. */
  readonly homeAssistant: { readonly prefix: string; readonly ownerId: string } | undefined;
  /** Name of the hub in its status topic. */
  readonly hubId: string;
  readonly depthMax: number;
}

export interface MqttDeps {
  readonly ingest: Pick<Ingest, 'body' | 'locationsEach' | 'proximitiesEach'>;
  readonly fanout: Pick<Fanout, 'listen' | 'announce' | 'subscribe' | 'unsubscribe'>;
  readonly rpc: CarriedRpc;
  hasCapacity(count: number): boolean;
  trackable(id: string): Trackable | undefined;
  trackables(): readonly Trackable[];
  /** Stored owners of topics in the unified namespace. */
  readonly unsOwners: Pick<UnsDeps, 'storedOwner' | 'storeOwner'>;
  /** Entities for Home Assistant, and the trackables inside of fences. */
  readonly homeAssistant: Pick<HomeAssistantDeps, 'entity' | 'entities' | 'stays'>;
  /** Whether this hub is elected for the named subscription; undefined without a cluster. */
  readonly isElected: ((subscription: string) => boolean) | undefined;
  /** Whether this hub publishes the events of an entity that all hubs of the cluster announce. */
  announces(id: string): boolean;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls `callback` in a later turn of the event loop. */
  later(callback: () => void): void;
  elapsedMs(): number;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

type ClientOptions = Omit<BrokerClientOptions, 'queueBytesMax' | 'depthMax'>;

/** Problems of the same kind are logged once in this interval. */
const QUIET_MS = 60_000;

/**
 * The hub as a client of an MQTT broker:
 *
 *     without a cluster   one client: subscribes to sources and to remote procedure calls, and publishes
 *     each cluster hub    one client: subscribes to remote procedure calls, and publishes
 *     one cluster hub     a client per subscription to sources, with a session that all hubs share (elected_subscription.ts)
 *
 * Events are published by outbound.ts, remote procedure calls by rpc_carrier.ts. The hub never waits for the broker.
 */
export class Mqtt {
  readonly #settings: MqttSettings;
  readonly #deps: MqttDeps;
  readonly #outbound: Outbound;
  readonly #rpc: RpcCarrier;
  readonly #client: BrokerClient;
  /** Elected subscriptions; empty without a cluster. */
  readonly #elected: readonly ElectedSubscription[];
  readonly #uns: Uns | undefined;
  readonly #homeAssistant: HomeAssistant | undefined;
  readonly #quietUntilMs = new Map<string, number>();

  constructor(settings: MqttSettings, deps: MqttDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { schedule, elapsedMs, later, fanout, announces, isElected } = deps;
    const { broker, style, wanted, queueBytesMax, uns, share, subscriptions, hubId } = settings;
    const rpcSubscriptions = rpcFilters(deps.rpc.hubId).map(ofCalls);
    const isAlone = isElected === undefined;
    this.#homeAssistant = this.#openHomeAssistant();
    const ofHomeAssistant = (this.#homeAssistant?.filters ?? []).map(ofCalls);
    const ofSource = isAlone ? sourceFilters(subscriptions, share).map(ofSources) : [];
    this.#client = this.#clientOf(
      {
        broker,
        subscriptions: [...ofSource, ...rpcSubscriptions, ...ofHomeAssistant],
        statusTopics: statusTopics(hubId, style),
        // In a cluster this client subscribes to no sources, so the broker need not store messages for it.
        keepsSession: isAlone,
      },
      {
        changed: (isConnected) => {
          this.#rpc.connected(isConnected);
          this.#homeAssistant?.connected(isConnected);
        },
        rpc: (packed) => this.#rpc.take(packed),
        room: (bytes) => this.#outbound.room(bytes),
        failed: () => {
          this.#outbound.begin();
          this.#rpc.forget();
          this.#homeAssistant?.connected(false);
        },
      },
    );
    const send = (packed: Uint8Array<ArrayBuffer>): void => this.#client.send({ say: 'publish', packed });
    this.#outbound = new Outbound({ fanout, style, wanted, bytesMax: queueBytesMax, announces, send });
    this.#rpc = new RpcCarrier({
      ...{ rpc: deps.rpc, style, schedule, elapsedMs, later, publish: this.#outbound.publish },
      broadcast: (text) => announceXcmdBroadcast(fanout, text),
      taken: (bytes) => this.#client.send({ say: 'rpcTaken', bytes }),
      problem: (reason, problem, topic) => this.#problem(reason, problem, topic),
      other: (message) => this.#homeAssistant?.take(message) === true,
    });
    this.#elected = isAlone ? [] : this.#electedBy(isElected);
    const { trackable, trackables, unsOwners } = deps;
    this.#uns =
      uns &&
      new Uns(uns, {
        ...{ fanout, trackable, trackables, ...unsOwners, publish: this.#outbound.publish },
        notice: (problem, text, id) => {
          this.#seldom(`uns ${problem}`, 'A trackable has no topic in the unified namespace', {
            trackable: id,
            problem: text,
          });
        },
      });
  }

  start(): void {
    this.#homeAssistant?.start();
    this.#client.start();
    this.elect();
  }

  /** Re-evaluates the election of all subscriptions. */
  elect(): void {
    for (const subscription of this.#elected) subscription.elect();
    this.#homeAssistant?.elect();
  }

  get isConnected(): boolean {
    return this.#client.state.isConnected;
  }

  health(): MqttHealth {
    const { broker } = this.#settings;
    const { isConnected, why, connections } = this.#client.state;
    const { received, redelivered, lost, published, replaced, dropped, refused, waiting, waitingBytes } = this.counts();
    return {
      enabled: true,
      connected: isConnected,
      broker: `${broker.protocol}://${addressOf(broker)}`,
      client_id: broker.clientId,
      ...(why !== '' && { problem: why }),
      connections,
      ...{ received, redelivered, lost, published, replaced, dropped, refused, waiting },
      rejected: Object.values(this.rejections()).reduce((sum, count) => sum + count, 0),
      waiting_bytes: waitingBytes,
      ...(this.#uns && { uns: this.#uns.health() }),
      ...(this.#elected.length > 0 && { subscriptions: this.#elected.map((each) => each.health()) }),
    };
  }

  /** Returns the MQTT part of the AsyncAPI document. */
  readonly describe = (components: Components, reader: { readonly isKnown: boolean }) =>
    describeMqtt({ ...this.#settings, ...reader }, components);

  /** Returns the counters since the start of the hub. */
  counts(): ThreadCounts {
    const sum = this.#elected.reduce((all, { counts }) => sumOfCounts(all, counts), this.#client.counts());
    return { ...sum, dropped: sum.dropped + this.#outbound.dropped };
  }

  /** Returns the number of rejected messages by reason. */
  rejections(): Readonly<Record<Reason, number>> {
    const all = [this.#client, ...this.#elected, this.#rpc];
    const counts = REASONS.map((reason) => [reason, all.reduce((sum, { refused }) => sum + refused[reason], 0)]);
    return Object.fromEntries(counts) as Record<Reason, number>;
  }

  /** Returns the number of trackables whose claim to a topic of the unified namespace is rejected, by reason. */
  unsRefusals(): Readonly<Record<UnsProblem, number>> {
    return this.#uns?.refusals() ?? NO_REFUSALS;
  }

  /** Stops accepting messages. The hub continues to publish. */
  stopTaking(): void {
    this.#client.stopTaking();
    for (const subscription of this.#elected) subscription.stopTaking();
    this.#rpc.stopTaking();
  }

  /**
   * Publishes waiting messages, withdraws announcements, publishes the offline status, and stops the threads. Never
   * rejects.
   */
  async close(): Promise<void> {
    this.stopTaking();
    this.#rpc.close();
    this.#homeAssistant?.close();
    this.#outbound.close();
    await Promise.all([this.#client.stop(), ...this.#elected.map((subscription) => subscription.close())]);
  }

  #openHomeAssistant(): HomeAssistant | undefined {
    const { homeAssistant, hubId, style } = this.#settings;
    const [statusTopic] = statusTopics(hubId, style);
    if (homeAssistant === undefined || statusTopic === undefined) return undefined;
    const { fanout, announces, schedule } = this.#deps;
    return new HomeAssistant(
      { prefix: homeAssistant.prefix, node: nodeOf(homeAssistant.ownerId), statusTopic },
      {
        ...{ ...this.#deps.homeAssistant, fanout, announces, schedule },
        publish: (topic, payload, options) => this.#outbound.publish(topic, payload, options),
        warn: (message, facts) => this.#seldom(message, message, facts),
      },
    );
  }

  #electedBy(isElected: (subscription: string) => boolean): readonly ElectedSubscription[] {
    const { broker, sharedClientId, subscriptions } = this.#settings;
    const on = { changed: nothing, rpc: nothing, room: nothing, failed: nothing };
    const open = (own: ClientOptions): BrokerClient => this.#clientOf(own, on);
    const topics = subscriptions.length === 0 ? [[]] : subscriptions.map((topic) => [topic]);
    return topics.map((each) => {
      const [name = ''] = each;
      const shared = { ...broker, clientId: sharedClientId };
      return new ElectedSubscription({ name, broker: shared, filters: sourceFilters(each) }, { isElected, open });
    });
  }

  #clientOf(own: ClientOptions, on: Pick<BrokerClientDeps, 'changed' | 'rpc' | 'room' | 'failed'>): BrokerClient {
    const { queueBytesMax, depthMax } = this.#settings;
    const { ingest, hasCapacity, schedule, later, elapsedMs, log } = this.#deps;
    return new BrokerClient(
      { ...own, queueBytesMax, depthMax },
      {
        ...{ ingest, hasCapacity, schedule, later, elapsedMs, log, ...on },
        problem: (reason, problem, topic) => this.#problem(reason, problem, topic),
        notice: (text, topic) => this.#seldom(text, text, topic === undefined ? {} : { topic }),
      },
    );
  }

  #problem(reason: Reason, problem: string, topic: string): void {
    this.#seldom(reason, 'A message of the MQTT broker is refused', { problem, topic });
  }

  #seldom(kind: string, message: string, facts: object = {}): void {
    const nowMs = this.#deps.elapsedMs();
    if (nowMs < (this.#quietUntilMs.get(kind) ?? 0)) return;
    if (this.#quietUntilMs.size > 100) this.#quietUntilMs.clear();
    this.#quietUntilMs.set(kind, nowMs + QUIET_MS);
    this.#deps.log.warn(message, facts);
  }
}

const nothing = (): void => undefined;
const NO_REFUSALS = Object.fromEntries(UNS_PROBLEMS.map((problem) => [problem, 0])) as Record<UnsProblem, number>;

/** Returns a subscription to sources. The broker stores its messages while the hub is disconnected. */
function ofSources(filter: string): Subscribing {
  return { filter, qos: 1, getsRetained: false, getsOwn: true };
}

/** Returns a subscription to remote procedure calls. Calls made while the hub is disconnected are lost. */
function ofCalls(filter: string): Subscribing {
  return { filter, qos: 0, getsRetained: true, getsOwn: false };
}
