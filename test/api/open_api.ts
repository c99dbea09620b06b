import { hubError } from '../../src/errors.ts';
import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { createApi } from '../../src/api/api.ts';
import type { AcceptOptions, ApiDeps } from '../../src/api/deps.ts';
import type { QueryResult, Query } from '../../src/core/item.ts';
import { NONE } from '../../src/alerts/alert_room.ts';
import { ALERT_RULES } from '../../src/entities/alert_rules.ts';
import { SINKS } from '../../src/entities/sinks.ts';
import { API_KEYS } from '../../src/entities/api_keys.ts';
import { ALERT_SNOOZES } from '../../src/entities/alert_snoozes.ts';
import { WALK_TESTS } from '../../src/entities/walk_tests.ts';
import { SOURCES } from '../../src/entities/sources.ts';
import { type DocumentKind, Documents } from '../../src/entities/documents.ts';
import type { Entities, EntitiesDeps } from '../../src/entities/entities.ts';
import { Imports } from '../../src/entities/imports.ts';
import { LINKS } from '../../src/entities/links.ts';
import { LocatingRules } from '../../src/entities/locating_rules.ts';
import { MAP_VIEWS } from '../../src/entities/map_views.ts';
import type { HttpReply } from '../../src/exchange.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { thirdPartyEvents } from '../../src/hub/third_party_events.ts';
import { lend } from '../../src/model/borrowed.ts';
import type { LocatingRule } from '../../src/model/rule.ts';
import { newCounts } from '../../src/operation/counts.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { openEntities } from '../entities/open_entities.ts';
import { openTestOperation } from '../operation/open_operation.ts';

/** A reply with its body parsed as JSON; undefined without a body. */
export interface Replied {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Shown;
}

/** Members of reply bodies that the tests check, of an object or of the elements of a list. */
export interface Shown extends ReadonlyArray<Shown> {
  readonly id: string;
  readonly type: string;
  readonly code: number;
  readonly message: string;
  readonly crs: string;
  readonly source: string;
  readonly zone_id: string;
  readonly need_transformation: boolean;
  readonly position: { readonly coordinates: readonly number[] };
  /** Coordinates of a Point, or rings of a Polygon. */
  readonly region: { readonly coordinates: readonly number[] & readonly (readonly number[][])[] };
  readonly features: readonly unknown[];
  readonly name: string;
  readonly parent: string;
  readonly children: readonly string[];
  readonly radius: number;
  readonly ground_control_points: readonly (readonly number[])[];
  readonly georeferenced_position: { readonly coordinates: readonly number[] };
}

/** Current time of the API under test: 2026-03-01T12:00:00Z. */
const NOW_MS = Date.UTC(2026, 2, 1, 12);

type Headers = Readonly<Record<string, string>>;

export interface OpenApi {
  readonly entities: Entities;
  readonly fanout: Fanout;
  /** Locating rules that shards received, in order. */
  readonly ruled: (readonly LocatingRule[])[];
  /** Queries to shards, in order. */
  readonly asked: Query[];
  /** Submitted locations and proximities, and locations to be deleted. */
  readonly accepted: { readonly what: string; readonly values: readonly unknown[]; readonly options?: AcceptOptions }[];
  /** `headers`: by lower-case name. */
  send(method: string, path: string, body?: unknown, headers?: Headers): Promise<Replied>;
  sendBytes(method: string, path: string, bytes: Uint8Array, headers?: Headers): Promise<Replied>;
  handle(method: string, path: string, bytes?: Uint8Array, headers?: Headers): HttpReply | Promise<HttpReply>;
}

export type Answering = (query: Query) => readonly QueryResult[];

function documents<T extends { readonly id: string; readonly name: string }>(kind: DocumentKind<T>): Documents<T> {
  let ids = 0;
  return new Documents(kind, { newId: () => `id-${++ids}`, commit: async () => undefined, changed: () => undefined });
}

/** The API in this process over real entities. A function from query to results replaces the shards. */
export function openApi(
  options: { answers?: Answering; entities?: Partial<EntitiesDeps> } & Partial<Omit<ApiDeps, 'entities'>> = {},
): OpenApi {
  const { answers = () => [], entities: entitiesDeps, ...deps } = options;
  const { entities } = openEntities(entitiesDeps);
  const asked: Query[] = [];
  const accepted: OpenApi['accepted'] = [];
  const ruled: OpenApi['ruled'] = [];
  const fanout = new Fanout({ variantsChanged: () => undefined });
  const rules = new LocatingRules({ commit: async () => undefined, committed: (changed) => void ruled.push(changed) });
  const defined = () => ({
    alert_rules: documents(ALERT_RULES),
    views: documents(MAP_VIEWS),
    sinks: documents(SINKS),
    sources: documents(SOURCES),
  });
  const api = createApi({
    entities,
    imports: new Imports({ entities, rules, defined, turns: new TaskScheduler(), now: () => NOW_MS, report: fail }),
    permit: async () => undefined,
    events: {
      log: () => fail(hubError('event_log_off')),
      selectTopic: async () => fail(hubError('event_log_off')),
      now: () => NOW_MS,
      schedule: () => () => undefined,
    },
    audit: () => fail(hubError('audit_off')),
    demo: {
      current: { state: 'stopped', is_there: false },
      start: () => ({ state: 'starting', is_there: false }),
      stop: async () => undefined,
    },
    turns: new TaskScheduler(),
    async read(query) {
      asked.push(query);
      return answers(query);
    },
    acceptLocations: (values, accept) => void accepted.push({ what: 'locations', values, options: accept }),
    acceptBody: () => 'unusual',
    acceptLongBody: async () => 'unusual',
    acceptProximities: (values, accept) => void accepted.push({ what: 'proximities', values, options: accept }),
    alerts: {
      rules: documents(ALERT_RULES),
      snoozes: { documents: documents(ALERT_SNOOZES), create: (body) => documents(ALERT_SNOOZES).create(body) },
      list: () => [],
      get(id) {
        throw errorWith('HUB_NOT_FOUND', `Cannot find alert "${id}": none has that id`);
      },
      summary: () => ({ max: 1000, open: NONE, not_raised: NONE }),
      act: async () => undefined,
      preview: async () => ({ watched: 0, matches: [], total: 0 }),
    },
    views: documents(MAP_VIEWS),
    walkTests: documents(WALK_TESTS),
    keys: {
      documents: documents(API_KEYS),
      create: async () => fail(hubError('keys_without_authorization')),
      revoke: async (id) => fail(hubError('not_found', { action: 'find', kind: 'api_key', id })),
    },
    links: { documents: documents(LINKS), state: () => assert.fail('No link runs here') },
    sinks: {
      documents: documents(SINKS),
      statuses: () => [],
      status: (id) => ({ id, state: 'active', delivering: false }),
      deliveries: () => [],
      test: async () => ({ delivered: true, duration: 1 }),
      act: async () => undefined,
      replay: async () => undefined,
    },
    sources: {
      documents: documents(SOURCES),
      statuses: () => [],
      status(id) {
        throw errorWith('HUB_NOT_FOUND', `Cannot find source "${id}": none has that id`);
      },
      rotateToken: async () => ({ token: 'token' }),
      post: () => undefined,
      preview: async () => ({ items: [], count: 0, skipped: 0, problems: [] }),
    },
    upToDate: () => undefined,
    zonesMoved: () => undefined,
    acceptCisco: (body) => void accepted.push({ what: 'cisco', values: [body] }),
    forgetLocation: async (id) => void accepted.push({ what: 'forget', values: [id] }),
    forgetAllLocations: async () => void accepted.push({ what: 'forget all', values: [] }),
    rules,
    publishFenceEvent: thirdPartyEvents({
      ...{ fanout, entities, counts: newCounts(), now: () => NOW_MS, cluster: undefined, logsEvents: false },
      log: () => undefined,
      write: async () => undefined,
    }).publish,
    corsEnabled: true,
    errorTypes: 'by_version',
    errorTypePrefix: 'com.flowcate',
    versionInfo: { hub_version: '1.2.3', vendor: 'test', api_version: '2.0.0', hub_id: 'id', hub_name: 'hub' },
    rpc: { available: () => ({}), call: async () => undefined },
    operation: openTestOperation({ entities }).operation,
    ...deps,
  });
  const handle: OpenApi['handle'] = (method, target, body = new Uint8Array(0), sent = {}) => {
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const query = mark < 0 ? '' : target.slice(mark + 1);
    return api({ method, path, query, header: (name) => sent[name], body: lend(body) });
  };
  const sendBytes: OpenApi['sendBytes'] = async (method, path, bytes, sent) => {
    const { status, headers = {}, body } = await handle(method, path, bytes, sent);
    if (body === undefined) return { status, headers, body: undefined as never };
    const isJson = headers['Content-Type'] === 'application/json';
    return { status, headers, body: isJson ? JSON.parse(String(body)) : String(body) };
  };
  return {
    entities,
    fanout,
    ruled,
    asked,
    accepted,
    handle,
    sendBytes,
    send: (method, path, body, headers) =>
      sendBytes(method, path, body === undefined ? new Uint8Array(0) : json(body), headers),
  };
}

/** Sends a request. Strings are sent unchanged, other values as JSON. */
function json(body: unknown): Uint8Array {
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Fails unless the actual value is a number within the tolerance of the expected one. */
export function assertNear(actual: unknown, expected: number, tolerance: number): void {
  assert.ok(
    typeof actual === 'number' && Math.abs(actual - expected) <= tolerance,
    `${actual} is not near ${expected}`,
  );
}

function fail(error: unknown): never {
  throw error;
}
