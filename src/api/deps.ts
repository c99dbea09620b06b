import type { Problem } from '../problem.ts';
import type { QueryResult, Query } from '../core/item.ts';
import type { Documents } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import type { Imports } from '../entities/imports.ts';
import type { LocatingRules } from '../entities/locating_rules.ts';
import type { EventLog } from '../events/event_log.ts';
import type { TopicSelection } from '../events/selection.ts';
import type { Erased, Erasure } from '../history/erasure.ts';
import type { HistoryAnswer } from '../history/queries/query_pool.ts';
import type { HistoryQuery } from '../history/queries/query.ts';
import type { Alert, AlertAction, AlertPreview, AlertRule, AlertSnooze, AlertSummary } from '../model/alert.ts';
import type { Source, SourcePreview, SourceStatus } from '../model/source.ts';
import type { Sink, SinkDelivery, SinkReplay, SinkStatus, SinkTest } from '../model/sink.ts';
import type { Author } from '../model/audit.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { Demo } from '../model/demo.ts';
import type { Fence } from '../model/fence.ts';
import type {
  ClusterOwners,
  HealthSource,
  HubIdentity,
  MqttHealth,
  ProviderOwner,
  SocketHealth,
  SystemHealth,
} from '../model/health.ts';
import type { HistoryHealth } from '../model/history.ts';
import type { LicenseLease, LicenseInfo } from '../model/license.ts';
import type { RpcAvailable } from '../model/rpc.ts';
import type { Consumption } from '../model/usage.ts';
import type { Link, LinkState } from '../model/link.ts';
import type { EventTopic } from '../model/logged_event.ts';
import type { MapView } from '../model/view.ts';
import type { Access } from '../auth/authorizer.ts';
import type { StoredApiKey } from '../model/api_key.ts';
import type { WalkTest } from '../model/walk_test.ts';
import type { Zone } from '../model/zone.ts';
import type { DescribeProtocol } from '../socket/docs/async_api.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { ErrorTyping } from './versions.ts';

/** Services of the hub for the API. */
export interface ApiDeps extends ErrorTyping {
  readonly entities: Entities;
  /** Queries the shard that owns the object, or all shards for a list. The order of the answers is undefined. */
  read(query: Query): Promise<readonly QueryResult[]>;
  /**
   * Resolves when this hub has applied everything that any hub acknowledged before; undefined for a single hub, or if
   * reads need not be consistent. Rejects with HUB_UNAVAILABLE after a timeout.
   */
  upToDate(): Promise<void> | undefined;
  /** Resolves when zones that follow objects reflect all accepted locations; undefined if no zone follows an object. */
  zonesMoved(): Promise<void> | undefined;
  /**
   * Checks and accepts locations, all or none. Returns undefined if they are accepted, or a promise of that. Throws
   * HUB_BAD_REQUEST, whose message names the field under `root`; `providerId` is that of the path.
   */
  acceptLocations(values: readonly unknown[], options: AcceptOptions): Promise<void> | undefined;
  /** Accepts locations from the bytes of a body. Returns 'unusual' for a body that only acceptLocations can handle. */
  acceptBody(body: Borrowed, options: Omit<AcceptOptions, 'root'>): Promise<void> | undefined | 'unusual';
  /** The same for a long body, in parts. Rejects like acceptLocations, and with the errors of model/json.ts. */
  acceptLongBody(
    body: Uint8Array,
    options: AcceptOptions,
  ): Promise<{ readonly committed: Promise<void> | undefined } | 'unusual'>;
  /** The other hub that owns most locations of the body accepted last, once. Absent without a cluster. */
  readonly takeOwnerHint?: (() => { readonly hub: string; readonly url?: string } | undefined) | undefined;
  acceptProximities(values: readonly unknown[], options: AcceptOptions): Promise<void> | undefined;
  /** Accepts the valid locations of a vendor's notifications. Throws HUB_BAD_REQUEST if none is valid. */
  acceptCisco(body: unknown): Promise<void> | undefined;
  forgetLocation(providerId: string): Promise<void>;
  forgetAllLocations(): Promise<void>;
  /** The locating rules of trackables without own rules. */
  readonly rules: LocatingRules;
  /** Imports of documents. */
  readonly imports: Pick<Imports, 'start' | 'current' | 'cancel'>;
  readonly permit: Permit;
  readonly demo: DemoDeps;
  /** Checks and publishes a fence event of a third party. Throws HUB_BAD_REQUEST. */
  publishFenceEvent(fence: Fence, body: unknown): void;
  readonly corsEnabled: boolean;
  readonly versionInfo: VersionInfo;
  /** MQTT section of the AsyncAPI document, if the hub has a broker. */
  readonly describeMqtt?: DescribeProtocol;
  /** Checks that a token is valid, regardless of its permissions. Undefined: the hub requires no token. */
  readonly knows?: (token: string) => boolean | Promise<boolean>;
  /** Maximum nesting of JSON; default: 200. */
  readonly depthMax?: number;
  readonly sinks: SinksApi;
  readonly sources: SourcesApi;
  readonly alerts: AlertsApi;
  readonly views: Documents<MapView>;
  readonly walkTests: Documents<WalkTest>;
  readonly keys: ApiKeysApi;
  readonly links: LinksApi;
  readonly operation: OperationDeps;
  readonly rpc: RpcDeps;
  readonly events: EventsApi;
  /** The audit log. Throws HUB_NOT_FOUND if the hub has none. */
  audit(): EventLog;
  /** History; undefined if it is off. */
  readonly history?: HistoryApi | undefined;
  /** Scheduler of long tasks on this thread. */
  readonly turns: TaskScheduler;
}

/**
 * Resolves if the token may perform a route on everything; `path` is its path in version 2. Rejects like the route, and
 * with HUB_NOT_AUTHORIZED if it may do so only for owned entities.
 */
export type Permit = (method: string, path: string, token: string | undefined) => Promise<void>;

/** The demo in this hub. */
export interface DemoDeps {
  readonly current: Demo;
  /** Throws HUB_BAD_REQUEST if the hub already has a site, unless `beside` is set. */
  start(options: { readonly beside: boolean }): Demo;
  /** Resolves when its site is removed. Rejects with HUB_UNAVAILABLE on failure. */
  stop(): Promise<void>;
}

export interface AcceptOptions {
  readonly root: string;
  readonly providerId?: string;
  /** Counts accepted values that are too old for the history. */
  readonly tooOld?: { count: number } | undefined;
}

export interface VersionInfo extends HubIdentity {
  readonly hub_version: string;
  readonly vendor: string;
  readonly api_version: string;
}

/** API keys. */
export interface ApiKeysApi {
  readonly documents: Documents<StoredApiKey>;
  /**
   * Creates a key on behalf of a token, and returns it with its secret. Rejects with HUB_BAD_REQUEST, and with
   * HUB_NOT_AUTHORIZED if it would permit more than the token.
   */
  create(
    body: unknown,
    creator: { readonly token: string | undefined; readonly by: Author },
  ): Promise<{ readonly document: StoredApiKey; readonly key: string }>;
  /** Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  revoke(id: string, by: Author): Promise<StoredApiKey>;
}

/** Alerts, and the rules that raise them. */
export interface AlertsApi {
  readonly rules: Documents<AlertRule>;
  /** Newest first. */
  list(): readonly Alert[];
  /** Throws HUB_NOT_FOUND. */
  get(id: string): Alert;
  summary(): AlertSummary;
  readonly snoozes: {
    readonly documents: Documents<AlertSnooze>;
    /** Rejects with HUB_BAD_REQUEST, HUB_NOT_FOUND and HUB_UNAVAILABLE. */
    create(body: unknown, by: Author): Promise<AlertSnooze>;
  };
  /** Acts on all open alerts without `ids`. Rejects with HUB_BAD_REQUEST, HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  act(action: AlertAction, ids: readonly string[] | undefined, by: Author): Promise<void>;
  /** Rejects with HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  preview(body: unknown): Promise<AlertPreview>;
}

/** Links to other hubs. */
export interface LinksApi {
  readonly documents: Documents<Link>;
  /** The state of a link at this hub. */
  state(id: string): LinkState;
}

/** Sinks, and the deliveries to them. */
export interface SinksApi {
  readonly documents: Documents<Sink>;
  statuses(): readonly SinkStatus[];
  /** Throws HUB_NOT_FOUND. */
  status(id: string): SinkStatus;
  /** Newest first. Throws HUB_NOT_FOUND, and HUB_UNAVAILABLE if another hub delivers to the sink. */
  deliveries(id: string): readonly SinkDelivery[];
  /** Rejects with HUB_NOT_FOUND. */
  test(id: string): Promise<SinkTest>;
  /** Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  act(id: string, act: 'pause' | 'resume'): Promise<void>;
  /** Rejects with HUB_NOT_FOUND, HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  replay(id: string, position: SinkReplay): Promise<void>;
}

/** Systems whose payloads the hub maps to locations. */
export interface SourcesApi {
  readonly documents: Documents<Source>;
  statuses(): readonly SourceStatus[];
  /** Throws HUB_NOT_FOUND. */
  status(id: string): SourceStatus;
  /** Rejects with HUB_NOT_FOUND, HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  rotateToken(id: string, by: Author): Promise<{ readonly token: string }>;
  /** Throws HUB_NOT_FOUND, HUB_NOT_AUTHENTICATED, HUB_BAD_REQUEST, HUB_TOO_MANY_REQUESTS and HUB_UNAVAILABLE. */
  post(
    id: string,
    token: string | undefined,
    payload: { readonly content: string; readonly sender: string | undefined },
  ): Promise<void> | undefined;
  /** Rejects with HUB_BAD_REQUEST. */
  preview(
    source: unknown,
    sample: { readonly payload: string; readonly topic: string | undefined; readonly sender: string | undefined },
  ): Promise<SourcePreview>;
}

/** Status of the hub for its operators. */
export interface OperationDeps {
  readonly health: HealthDeps;
  readonly usage: UsageDeps;
  readonly license: LicenseDeps;
  readonly metrics: MetricsDeps;
}

/** Remote procedure calls. */
export interface RpcDeps {
  available(): Soon<RpcAvailable>;
  /**
   * Calls a method. Request and response are JSON; undefined if no response is expected. `path`: of the HTTP request.
   * Rejects with HUB_NOT_AUTHENTICATED, HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE if the token does not permit the method.
   */
  call(text: string, by: RpcCaller): Promise<string | undefined>;
}

/** Caller of a method by REST. */
export interface RpcCaller {
  readonly path: string;
  readonly token: string | undefined;
  /** Key of the client's address in rate limits; undefined: unknown. */
  readonly address: string | undefined;
  /** Aborted when the client disconnects, which cancels the call. Undefined: never. */
  readonly gone: AbortSignal | undefined;
}

/** The event log. */
export interface EventsApi {
  /** Throws HUB_NOT_FOUND if the hub has none. */
  log(): EventLog;
  /**
   * Returns the events of a topic that a subscription with these params and this token would receive. Rejects like a
   * subscription, with HUB_BAD_REQUEST, HUB_NOT_AUTHENTICATED and HUB_NOT_AUTHORIZED.
   */
  selectTopic(
    topic: EventTopic,
    params: Readonly<Record<string, unknown>>,
    token: string | undefined,
  ): Promise<TopicSelection & Pick<Access, 'expiresMs' | 'revoked'>>;
  /** Wall-clock time. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** History queries. */
export interface HistoryApi {
  /** Wall-clock time. */
  now(): number;
  /** Whether fence events are recorded. */
  readonly recordsCrossings: boolean;
  /**
   * The answer as JSON, or in the requested format. Rejects with HUB_BAD_REQUEST if the query exceeds a limit, and with
   * HUB_UNAVAILABLE if it cannot be answered now, or the audit log cannot store the entry of `by`. `gone`: aborted when
   * the client disconnects. Without `by`, the audit log has no entry: for further parts of an answer.
   */
  ask(question: HistoryQuery, gone: AbortSignal | undefined, by?: Author): Promise<HistoryAnswer>;
  /**
   * Erases rows of an object at all hubs, and resolves when it is done. Rejects with HUB_UNAVAILABLE if this hub cannot
   * write its files, or the audit log cannot store the entry of `by`.
   */
  erase(request: Omit<Erasure, 'id'>, by: Author): Promise<Erased & { readonly missingHubs: readonly string[] }>;
}

export interface HealthDeps {
  /** Reason why a load balancer should use other hubs; undefined if there is no reason. */
  readonly problem: Problem | undefined;
  system(): SystemHealth;
  mqtt(): MqttHealth;
  history(): HistoryHealth;
  socket(): Soon<SocketHealth>;
  /** One for each zone. */
  zones(zones: readonly Zone[]): Soon<readonly HealthSource[]>;
  /** Sources that have sent a location: all, or the one of that id. */
  sources(id?: string): Soon<readonly HealthSource[]>;
  /** Owners of partitions. */
  owners(): ClusterOwners;
  ownerOf(providerId: string): ProviderOwner;
}

/** In a cluster the other hubs are queried. */
type Soon<Value> = Value | Promise<Value>;

export interface UsageDeps {
  /** Months, earliest first; the last one is still running. */
  all(): Soon<readonly Consumption[]>;
}

/** Rejects with, or throws, HUB_LICENSE_INVALID, HUB_LICENSE_EXPIRED and HUB_LICENSE_NOT_STARTED. */
export interface LicenseDeps {
  info(): LicenseInfo;
  lease(): LicenseLease;
  startTrial(): Promise<LicenseLease>;
  /** Accepts the body as received. */
  setKey(body: unknown): Promise<void>;
  giveBack(): Promise<void>;
}

/** Metrics in text format. */
export interface MetricsDeps {
  readonly contentType: string;
  text(): Promise<string>;
}
