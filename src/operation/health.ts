import type { Problem } from '../problem.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { SendQueue } from '../fanout/send_queue.ts';
import type {
  ClusterHealth,
  ClusterOwners,
  ProviderOwner,
  DatabaseHealth,
  HealthSource,
  EventLogHealth,
  HubIdentity,
  HubSockets,
  MqttHealth,
  SocketHealth,
  SystemHealth,
} from '../model/health.ts';
import type { HistoryHealth } from '../model/history.ts';
import type { LinkHealth, LinkState } from '../model/link.ts';
import type { SinkStatus } from '../model/sink.ts';
import type { SourceStatus } from '../model/source.ts';
import { formatTime } from '../model/time.ts';
import type { Topic } from '../model/topics.ts';
import { TOPICS } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';
import type { Arrivals, SourceConnection } from './arrivals.ts';

export interface HealthOptions {
  readonly identity: HubIdentity;
  now(): number;
  /** Returns the time since the start of the hub. */
  uptimeMs(): number;
  readonly arrivals: Arrivals;
  readonly fanout: Fanout;
  /** Send queues of the open WebSocket connections. */
  readonly open: ReadonlySet<SendQueue>;
  /** The configuration as YAML, without secrets. */
  readonly configText: string;
  /** Connections to positioning systems that speak ISO 24730. */
  connections(): readonly SourceConnection[];
  database(): DatabaseHealth;
  /** State of the cluster; undefined without one. */
  readonly cluster?: ClusterState | undefined;
  /** MQTT client; undefined without a broker. */
  readonly mqtt?: { health(): MqttHealth } | undefined;
  /** History; undefined if it is not recorded. */
  readonly history?: { health(): HistoryHealth } | undefined;
  /** Links to other hubs. */
  readonly links?: MeasuredLinks | undefined;
  /** Sinks of events. */
  readonly sinks?: MeasuredSinks | undefined;
  /** Sources of locations. */
  readonly sources?: MeasuredSources | undefined;
  /** Undefined without an event log. */
  readonly eventLog?: MeasuredEventLog | undefined;
}

/** Sinks of events. */
export interface MeasuredSinks {
  statuses(): readonly SinkStatus[];
}

/** Sources of locations. */
export interface MeasuredSources {
  statuses(): readonly SourceStatus[];
}

/** Links to other hubs. */
export interface MeasuredLinks {
  /** All links, with their states at this hub. */
  list(): readonly { readonly id: string; readonly name: string; readonly state: LinkState }[];
}

/** State of the hub as a cluster member. */
export interface ClusterState {
  /** Why this hub should receive no requests; undefined if it should. */
  readonly problem: Problem | undefined;
  health(): ClusterHealth;
  owners(): ClusterOwners;
  ownerOf(providerId: string): ProviderOwner;
}

/** Health of the hub, as returned by the API. */
/** The measured event log. */
export interface MeasuredEventLog {
  readonly extent: {
    /** Time of the oldest event; undefined without events. */
    readonly oldestMs: number | undefined;
    readonly bytes: number;
    /** Number of events since the start of the hub. */
    readonly appended: number;
  };
}

function eventLogHealth({ extent: { oldestMs, bytes, appended } }: MeasuredEventLog): EventLogHealth {
  return { ...(oldestMs !== undefined && { oldest: formatTime(oldestMs) }), bytes, appended };
}

export class Health {
  readonly #options: HealthOptions;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Why this hub should receive no requests; undefined if it should, as always without a cluster. */
  get problem(): Problem | undefined {
    return this.#options.cluster?.problem;
  }

  system(): SystemHealth {
    const { identity, now, uptimeMs, configText, connections, database, cluster, mqtt, history, eventLog } =
      this.#options;
    const links = this.#links();
    const sinks = this.#options.sinks?.statuses() ?? [];
    const sources = (this.#options.sources?.statuses() ?? []).map(({ last_refused: _payload, ...status }) => status);
    return {
      ...identity,
      uptime: Math.floor(uptimeMs() / 1000),
      date: formatTime(now()),
      iso_24730_connections: connections().length,
      database: database(),
      ...(cluster && { cluster: cluster.health() }),
      ...(eventLog && { events: eventLogHealth(eventLog) }),
      ...(mqtt && { mqtt: this.mqtt() }),
      ...(history && { history: history.health() }),
      ...(links.length > 0 && { links }),
      ...(sinks.length > 0 && { sinks: [...sinks] }),
      ...(sources.length > 0 && { sources }),
      config: configText,
    };
  }

  /** Returns the owners of partitions. A hub without a cluster owns the only one. */
  owners(): ClusterOwners {
    const { cluster, identity } = this.#options;
    return cluster?.owners() ?? { version: 0, hash: 'fnv1a-32', owners: [identity.hub_name], urls: {} };
  }

  ownerOf(providerId: string): ProviderOwner {
    const { cluster, identity } = this.#options;
    const alone = { version: 0, provider_id: providerId, partition: 0, owner: identity.hub_name };
    return cluster?.ownerOf(providerId) ?? alone;
  }

  mqtt(): MqttHealth {
    const { mqtt, arrivals } = this.#options;
    return mqtt === undefined ? { enabled: false } : { ...mqtt.health(), locations: arrivals.accepted.mqtt };
  }

  history(): HistoryHealth {
    return this.#options.history?.health() ?? { enabled: false };
  }

  socket(): SocketHealth {
    const { fanout, open } = this.#options;
    const topics = Object.keys(TOPICS) as Topic[];
    return {
      number_of_clients: open.size,
      number_of_subscribers: topics.reduce((sum, topic) => sum + fanout.subscribers(topic), 0),
      number_of_subscribers_locations: fanout.subscribers('location_updates'),
      number_of_subscribers_trackable_motions: fanout.subscribers('trackable_motions'),
      number_of_subscribers_fence_events: fanout.subscribers('fence_events'),
      number_of_subscribers_collision_events: fanout.subscribers('collision_events'),
      ...this.#lastSent('last_location_update_sent', 'location_updates'),
      ...this.#lastSent('last_trackable_motion_update_sent', 'trackable_motions'),
      ...this.#lastSent('last_fence_event_sent', 'fence_events'),
      ...this.#lastSent('last_collision_event_sent', 'collision_events'),
    };
  }

  /** Returns the WebSocket counters of one hub of a cluster. */
  hubSockets(hub: string): HubSockets {
    const { fanout, open } = this.#options;
    const counts = fanout.counts();
    const topics = Object.keys(TOPICS) as Topic[];
    return {
      hub,
      number_of_clients: open.size,
      waiting_bytes: waitingBytes(open),
      topics: topics.map((topic) => ({
        topic,
        subscriptions: fanout.subscribers(topic),
        delivered: counts[topic].delivered,
      })),
    };
  }

  zones(zones: readonly Zone[]): readonly HealthSource[] {
    const { arrivals, connections, now } = this.#options;
    return zones.map((zone) => {
      const connection = connections().find(({ zoneId }) => zoneId === zone.id);
      return arrivals.ofZone(zone, connection && { connection, nowMs: now() });
    });
  }

  /** Returns all sources that have sent a location, or the one with the given id. */
  sources(id?: string): readonly HealthSource[] {
    const { arrivals } = this.#options;
    return id === undefined ? arrivals.sources() : [arrivals.source(id) ?? []].flat();
  }

  #links(): LinkHealth[] {
    return (this.#options.links?.list() ?? []).map(({ id, name, state: { status, since, last_error, lag_ms } }) => ({
      ...{ id, name, status },
      ...(since != null && { since }),
      ...(last_error != null && { last_error }),
      ...(lag_ms != null && { lag_ms }),
    }));
  }

  #lastSent(name: keyof SocketHealth, topic: Topic): Partial<SocketHealth> {
    const { fanout } = this.#options;
    const lastMs = Math.max(fanout.sent(topic, false).lastMs, fanout.sent(topic, true).lastMs);
    return lastMs === 0 ? {} : { [name]: formatTime(lastMs) };
  }
}

/** Returns the unsent bytes of all WebSocket connections. */
export function waitingBytes(open: ReadonlySet<SendQueue>): number {
  let bytes = 0;
  for (const sendQueue of open) bytes += sendQueue.waitingBytes();
  return bytes;
}
