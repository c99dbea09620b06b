import type { QueryResult, Query } from '../core/item.ts';
import type { Documents } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import type { Imports } from '../entities/imports.ts';
import type { LocatingRules } from '../entities/locating_rules.ts';
import type { HistoryAnswer } from '../history/queries/query_pool.ts';
import type { Question } from '../history/queries/question.ts';
import type { Alert, AlertPreview, AlertRule, AlertSummary } from '../model/alert.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { Demo } from '../model/demo.ts';
import type { Fence } from '../model/fence.ts';
import type { HealthSource, HubIdentity, MqttHealth, SocketHealth, SystemHealth } from '../model/health.ts';
import type { HistoryHealth } from '../model/history.ts';
import type { LicenseLease, LicenseInfo } from '../model/license.ts';
import type { RpcAvailable } from '../model/rpc.ts';
import type { Consumption } from '../model/usage.ts';
import type { MapView } from '../model/view.ts';
import type { Zone } from '../model/zone.ts';
import type { DescribeProtocol } from '../socket/docs/async_api.ts';
import type { Turns } from '../time/turns.ts';
import type { ErrorTyping } from './versions.ts';

/** What the API is given by the hub. */
export interface ApiDeps extends ErrorTyping {
  readonly entities: Entities;
  /** Asks the shard that owns the object, or all shards for a list: their answers in any order. */
  read(query: Query): Promise<readonly QueryResult[]>;
  /**
   * Resolves when it is known that this hub has all that was answered before, wherever that was; undefined where it is alone,
   * or need not be sure. Rejects with HUB_UNAVAILABLE when that cannot be told in time.
   */
  upToDate(): Promise<void> | undefined;
  /** Resolves when the zones are where what was accepted so far has taken them; undefined where none follows anything. */
  zonesMoved(): Promise<void> | undefined;
  /**
   * Checks and takes locations, all or none. Returns undefined when they are accepted, or a promise of it. Throws
   * HUB_BAD_REQUEST, whose message names the field under `root`; `providerId` is the one of the path.
   */
  acceptLocations(values: readonly unknown[], options: AcceptOptions): Promise<void> | undefined;
  /** The same from the bytes of a body, where they are nothing unusual; what is unusual is for acceptLocations. */
  acceptBody(body: Borrowed, options: Omit<AcceptOptions, 'root'>): Promise<void> | undefined | 'unusual';
  /** The same for a long body, in turns. Rejects as acceptLocations, and with what model/json.ts throws. */
  acceptLongBody(
    body: Uint8Array,
    options: AcceptOptions,
  ): Promise<{ readonly kept: Promise<void> | undefined } | 'unusual'>;
  acceptProximities(values: readonly unknown[], options: AcceptOptions): Promise<void> | undefined;
  /**
   * Takes the locations of a vendor's notifications, good ones beside bad ones. Throws HUB_BAD_REQUEST when there are bad
   * ones only.
   */
  acceptCisco(body: unknown): Promise<void> | undefined;
  forgetLocation(providerId: string): Promise<void>;
  forgetAllLocations(): Promise<void>;
  /** The locating rules of trackables without own ones. */
  readonly rules: LocatingRules;
  /** Imports of documents. */
  readonly imports: Pick<Imports, 'start' | 'current' | 'cancel'>;
  readonly permit: Permit;
  readonly demo: DemoDeps;
  /** Checks an event of a fence that a third party has seen, and publishes it. Throws HUB_BAD_REQUEST. */
  publishFenceEvent(fence: Fence, body: unknown): void;
  readonly corsEnabled: boolean;
  readonly versionInfo: VersionInfo;
  /** What the AsyncAPI document says of MQTT, where the hub has a broker. */
  readonly describeMqtt?: DescribeProtocol;
  /** Whether a token is valid, whatever it permits. Left out: none is needed. */
  readonly knows?: (token: string) => boolean | Promise<boolean>;
  /** Levels that JSON may be nested; 200 when left out. */
  readonly depthMax?: number;
  readonly alerts: AlertsApi;
  readonly views: Documents<MapView>;
  readonly operation: OperationDeps;
  readonly rpc: RpcDeps;
  /** The past; undefined where the hub records none. */
  readonly history?: HistoryApi | undefined;
  /** Of all work that takes long on this thread. */
  readonly turns: Turns;
}

/**
 * Resolves where a token may do to anything what a row of the API does, of which `path` is the one in version 2. Rejects as the
 * row would, and with HUB_NOT_AUTHORIZED where it may only do that to what is owned.
 */
export type Permit = (method: string, path: string, token: string | undefined) => Promise<void>;

/** The demo in this hub. */
export interface DemoDeps {
  readonly current: Demo;
  /** Throws HUB_BAD_REQUEST where the hub has a site, unless it may be `beside` one. */
  start(options: { readonly beside: boolean }): Demo;
  /** Resolves when there is nothing of it any more. Rejects with HUB_UNAVAILABLE where that has failed. */
  stop(): Promise<void>;
}

export interface AcceptOptions {
  readonly root: string;
  readonly providerId?: string;
  /** Counts the accepted values that are too old for the history. */
  readonly tooOld?: { count: number } | undefined;
}

export interface VersionInfo extends HubIdentity {
  readonly hub_version: string;
  readonly vendor: string;
  readonly api_version: string;
}

/** Alerts, and the rules that raise them. */
export interface AlertsApi {
  readonly rules: Documents<AlertRule>;
  /** The newest first. */
  list(): readonly Alert[];
  /** Throws HUB_NOT_FOUND. */
  get(id: string): Alert;
  summary(): AlertSummary;
  /** All that are open when ids are left out. Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  act(act: 'acknowledge' | 'clear', ids?: readonly string[]): Promise<void>;
  /** Rejects with HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  preview(body: unknown): Promise<AlertPreview>;
}

/** What the API tells those who run the hub. */
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
   * Calls a method: the response to a request, both JSON; undefined where nobody waits for one. `path`: of the HTTP request.
   * Rejects with HUB_NOT_AUTHENTICATED, HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE where the token does not permit the method.
   */
  call(text: string, by: RpcCaller): Promise<string | undefined>;
}

/** Who calls a method by REST. */
export interface RpcCaller {
  readonly path: string;
  readonly token: string | undefined;
  /** What the address of the client counts as; undefined: unknown. */
  readonly address: string | undefined;
  /** Aborted when the client goes: the call is canceled. Undefined: it never is. */
  readonly gone: AbortSignal | undefined;
}

/** Questions about the past. */
export interface HistoryApi {
  /** The time of day. */
  now(): number;
  /**
   * The answer as JSON, or in the format that is asked for. Rejects with HUB_BAD_REQUEST for a question that takes more than it
   * may, and with HUB_UNAVAILABLE where it is not answered now. `gone`: aborted when nobody waits for the answer.
   */
  ask(question: Question, gone: AbortSignal | undefined): Promise<HistoryAnswer>;
}

export interface HealthDeps {
  /** Why a load balancer should send requests to other hubs; undefined where it should not. */
  readonly problem: string | undefined;
  system(): SystemHealth;
  mqtt(): MqttHealth;
  history(): HistoryHealth;
  socket(): Soon<SocketHealth>;
  /** One for each zone. */
  zones(zones: readonly Zone[]): Soon<readonly HealthSource[]>;
  zone(zone: Zone): Soon<HealthSource>;
  sources(): Soon<readonly HealthSource[]>;
  /** Undefined when nothing has come from it. */
  source(id: string): Soon<HealthSource | undefined>;
}

/** Of several hubs the others are asked for it. */
type Soon<Value> = Value | Promise<Value>;

export interface UsageDeps {
  /** Months, the earliest first; the last goes on. */
  all(): Soon<readonly Consumption[]>;
  current(): Soon<Consumption>;
  /** Undefined when nothing is known of the month. */
  month(year: number, month: number): Soon<Consumption | undefined>;
}

/** Rejects with, or throws, HUB_LICENSE_INVALID, HUB_LICENSE_EXPIRED and HUB_LICENSE_NOT_STARTED. */
export interface LicenseDeps {
  info(): LicenseInfo;
  lease(): LicenseLease;
  startTrial(): Promise<LicenseLease>;
  /** Takes the body as it came in. */
  setKey(body: unknown): Promise<void>;
  giveBack(): Promise<void>;
}

/** Metrics as one text. */
export interface MetricsDeps {
  readonly contentType: string;
  text(): Promise<string>;
}
