import { Alerts, type AlertsDeps } from '../alerts/alerts.ts';
import { viewOf } from '../api/view.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { Documents, type DocumentsDeps } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import type { Query, QueryResult } from '../core/item.ts';
import { LINKS } from '../entities/links.ts';
import { OutgoingTargets } from '../entities/outgoing_targets.ts';
import { hubError } from '../errors.ts';
import { joinEvents, textEvent } from '../events/event_bytes.ts';
import type { EventLog } from '../events/event_log.ts';
import { recentEvents } from '../events/past_events.ts';
import { MAP_VIEWS } from '../entities/map_views.ts';
import { WALK_TESTS } from '../entities/walk_tests.ts';
import { show } from '../model/error_value_text.ts';
import type { Link } from '../model/link.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { MapView } from '../model/view.ts';
import type { HubCounts } from '../operation/counts.ts';
import type { WalkTest } from '../model/walk_test.ts';
import type { SenderDeps } from '../sinks/sender.ts';
import { Sinks, type SinksDeps } from '../sinks/sinks.ts';
import type { Sources } from '../sources/sources.ts';
import { definedWrites } from '../store/entity_json.ts';
import type { StoreWriter } from '../store/writer.ts';
import type { Clock } from '../time/clock.ts';
import { CollisionForecasts } from './collision_forecasts.ts';
import type { Audit } from './connect_audit.ts';
import { connectLinks, type HubLinks } from './connect_links.ts';
import type { ApiKeysApi } from '../api/deps.ts';
import type { HubAuthorization } from './authorization.ts';
import { connectKeys } from './connect_keys.ts';
import { connectSources } from './connect_sources.ts';
import type { Stages } from './connect_stages.ts';
import type { Database } from './connect_database.ts';
import { LinkProgressStore } from './link_progress.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';
import { type ThirdPartyEvents, thirdPartyEvents } from './third_party_events.ts';

/** Documents defined in the UI, other than entities. */
export interface DefinedParts {
  readonly alerts: Alerts;
  /** Undefined unless collisions are forecast. */
  readonly collisionForecasts: CollisionForecasts | undefined;
  readonly views: Documents<MapView>;
  readonly links: Documents<Link>;
  readonly hubLinks: HubLinks;
  readonly sinks: Sinks;
  readonly thirdParties: ThirdPartyEvents;
  readonly walkTests: Documents<WalkTest>;
  readonly dataSources: Sources;
  readonly keys: ApiKeysApi;
  /** Applies the stored value of a setting; null if it was deleted. */
  applyDefined(name: string, text: string | null): void;
}

interface DefinedDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly writer: StoreWriter;
  readonly stages: Stages;
  /** Whether events are logged. */
  readonly logsEvents: boolean;
  readonly entities: Entities;
  readonly cluster: Cluster | undefined;
  readonly ingest: Ingest;
  readonly eventLog: EventLog | undefined;
  readonly counts: HubCounts;
  readonly keepRows: Database['keep'];
  readonly authorization: HubAuthorization | undefined;
  readonly audit: Audit;
}

export function connectDefined(deps: DefinedDeps): DefinedParts {
  const { clock, machine, log, writer, stages, entities, cluster, ingest, eventLog, logsEvents, audit } = deps;
  const { fanout, shards } = stages;
  const commit: AlertsDeps['commit'] = async (documents, { events = [], audited = [] } = {}) => {
    const logged = logsEvents ? events.map(({ fields, json }) => textEvent('alert_changes', fields, json())) : [];
    await writer.writeEntities(definedWrites(documents), { events: joinEvents(logged), audit: audit(audited) });
    return cluster === undefined ? undefined : 'applied';
  };
  const read = (query: Query): Promise<readonly QueryResult[]> =>
    cluster?.isLocal === false ? cluster.remote.ask(query) : shards.ask(query);
  const { newId, schedule } = machine;
  const alerts = new Alerts({
    ...{ newId, schedule, fanout, commit },
    monotonicMs: clock.monotonic,
    now: clock.now,
    entities: {
      fence: (id) => entities.get('fence', id),
      trackable: (id) => entities.get('trackable', id),
      trackables: () => entities.list('trackable'),
      provider: (id) => entities.get('provider', id),
      providers: () => entities.list('provider'),
      isAssigned: (id) => entities.trackablesOf(id).length > 0,
    },
    read,
    recentEvents: eventLog && ((topic) => recentEvents(eventLog, topic, clock.now())),
    isWatcher: () => cluster?.ownsCollisions ?? true,
    rulesChanged: () => sinks.elect(),
    warn: (message, facts) => log.warn(message, facts),
  });
  const { collision_forecast_horizon: horizonMs } = deps.config;
  const forecasts = new CollisionForecasts({
    ...{ fanout, read, schedule, horizonMs, now: clock.now },
    warn: (message, facts) => log.warn(message, facts),
  });
  const views = new Documents(MAP_VIEWS, { newId, commit, changed: () => undefined });
  const walkTests = new Documents(WALK_TESTS, { newId, commit, changed: () => undefined });
  const linkTargets = new OutgoingTargets('link_allowed_hosts', deps.config.link_allowed_hosts);
  const thirdParties = thirdPartyEvents({
    ...{ fanout, entities, cluster, logsEvents, counts: deps.counts, now: clock.now },
    log: (events) => void deps.keepRows([], { events }),
    write: (settings, events) => writer.writeEntities(settings, { events }),
  });
  const linkProgress = new LinkProgressStore({
    ...{ accept: thirdParties.accept, commit, schedule },
    exists: (id) => links.find(id) !== undefined,
    isShared: cluster !== undefined,
  });
  const links = new Documents(LINKS, {
    newId,
    commit: (documents, logged) => linkProgress.commitLinks(documents, logged),
    changed: () => hubLinks.refresh(),
    admit: (link) => admitLink(link, linkTargets),
  });
  const hubLinks = connectLinks({
    ...{ links, targets: linkTargets, clock, machine, ingest, entities, cluster, read, log, eventLog },
    progress: linkProgress,
  });
  const sinks = connectSinks(deps, {
    commit,
    rulesNaming: (id) => new Set(alerts.rules.list.flatMap((rule) => (rule.sinks?.includes(id) ? [rule.id] : []))),
  });
  const dataSources = connectSources({ ...deps, commit });
  const keys = connectKeys({ commit, now: clock.now, authorization: deps.authorization });
  return {
    alerts,
    collisionForecasts: horizonMs === 0 ? undefined : forecasts,
    views,
    links,
    hubLinks,
    sinks,
    thirdParties,
    walkTests,
    dataSources,
    keys,
    applyDefined(name, text) {
      const isOfLinks = linkProgress.apply(name, text) || links.apply(name, text);
      const isApplied = isOfLinks || views.apply(name, text) || alerts.apply(name, text);
      if (isApplied || keys.documents.apply(name, text)) return;
      if (!walkTests.apply(name, text) && !sinks.apply(name, text)) dataSources.apply(name, text);
    },
  };
}

/** Throws HUB_BAD_REQUEST for a link to a host that is not allowed. */
function admitLink({ url, oidc }: Link, targets: OutgoingTargets): void {
  for (const [path, each] of [['url', url] as const, ['oidc.token_url', oidc?.token_url] as const]) {
    const why = each === undefined ? undefined : targets.whyNotHost(new URL(each).hostname);
    if (why !== undefined) throw hubError('link_host_not_allowed', { path, found: show(each) }, { detail: why });
  }
}

/**
 * Creates the sinks of the hub without starting them.
 *
 * Requests to their targets go only to allowed hosts, through the proxy of the environment if there is one. The client for
 * requests is loaded with the first request.
 */
function connectSinks(
  deps: DefinedDeps,
  { commit, rulesNaming }: { readonly commit: DocumentsDeps['commit']; readonly rulesNaming: SinksDeps['rulesNaming'] },
): Sinks {
  const { clock, machine, config, log, entities, cluster } = deps;
  const { fanout } = deps.stages;
  const targets = new OutgoingTargets('sink_allowed_hosts', config.sink_allowed_hosts);
  let outgoing: Promise<SenderDeps['fetch']> | undefined;
  return new Sinks({
    now: clock.now,
    schedule: machine.schedule,
    newId: machine.newId,
    random: machine.random,
    fanout,
    commit,
    viewOf: (params) => viewOf({ query: params as object, visibility: undefined }, { entities }),
    whyNotHost: (hostname) => targets.whyNotHost(hostname),
    resolve: (hostname) => targets.resolve(hostname),
    async fetch(url, request) {
      outgoing ??= import('./outgoing_fetch.ts').then(({ outgoingFetch }) => {
        return outgoingFetch({ env: process.env, lookup: targets.lookup }).fetch as SenderDeps['fetch'];
      });
      return (await outgoing)(url, request);
    },
    warn: (message, facts) => log.warn(message, facts),
    isElected: (id) => cluster === undefined || cluster.serves(`sink ${id}`),
    rulesNaming,
  });
}
