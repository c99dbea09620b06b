import type { LinksApi } from '../api/deps.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Query, QueryResult } from '../core/item.ts';
import type { Documents } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import { type OutgoingTargets, TargetRefused } from '../entities/outgoing_targets.ts';
import type { EventLog } from '../events/event_log.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Links } from '../links/links.ts';
import type { Link, LinkState, LinkStatus } from '../model/link.ts';
import { mirrorMark } from '../model/mirror_mark.ts';
import type { MeasuredLinks } from '../operation/health.ts';
import type { Clock } from '../time/clock.ts';
import type { LinkProgressStore } from './link_progress.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';

/** The links of a hub to other hubs. Their code is loaded with the first link. */
export interface HubLinks extends Pick<LinksApi, 'state'>, MeasuredLinks {
  /** Starts the links for which this hub is elected, and stops all others. Has no effect before `start`. */
  refresh(): void;
  start(hubId: string): void;
  close(): Promise<void>;
}

interface LinkParts {
  readonly links: Documents<Link>;
  readonly targets: OutgoingTargets;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly ingest: Ingest;
  readonly entities: Entities;
  readonly cluster: Cluster | undefined;
  readonly eventLog: EventLog | undefined;
  readonly progress: LinkProgressStore;
  /** Queries the shards of all hubs. */
  read(query: Query): Promise<readonly QueryResult[]>;
  readonly log: Log;
}

/** Returns which link mirrors an entity; undefined for an entity of this hub. */
export function mirroredBy(links: Documents<Link>): (entity: object) => string | undefined {
  return (entity) => {
    const mark = mirrorMark(entity);
    const link = mark && links.find(mark.link);
    return link?.entities === 'mirror' ? link.name : undefined;
  };
}

export function connectLinks(parts: LinkParts): HubLinks {
  const { links: documents, cluster, log } = parts;
  let opening: Promise<Links> | undefined;
  let links: Links | undefined;
  let hubId: string | undefined;
  const isElected = (id: string): boolean => cluster?.serves(`link ${id}`) ?? true;
  const refresh = (): void => {
    if (hubId === undefined) return;
    if (documents.list.length === 0 && opening === undefined) return;
    opening ??= openLinks(parts, { hubId, isElected });
    opening.then(
      (opened) => {
        links = opened;
        opened.refresh();
      },
      (error: unknown) => log.error('The links to other hubs cannot be started', { error: String(error) }),
    );
  };
  const state = (id: string): LinkState => {
    const running = links?.state(id);
    if (running !== undefined) return running;
    const isEnabled = documents.get(id).enabled !== false;
    return idle(!isEnabled ? 'disabled' : isElected(id) ? 'connecting' : 'elsewhere');
  };
  return {
    refresh,
    start(id) {
      hubId = id;
      refresh();
    },
    state,
    list: () => documents.list.map(({ id, name }) => ({ id, name, state: state(id) })),
    async close() {
      hubId = undefined;
      await (await opening?.catch(() => undefined))?.close();
      await parts.progress.flush();
    },
  };
}

interface LinksOptions {
  readonly hubId: string;
  isElected(id: string): boolean;
}

/** Options of changes by links. The audit log names them. */
const OF_LINK = { isMirror: true, by: { via: 'link' } } as const;

async function openLinks(
  { links, targets, ingest, entities, machine, clock, eventLog, progress, read, log }: LinkParts,
  { hubId, isElected }: LinksOptions,
): Promise<Links> {
  const [{ Links: HubLinks }, { outgoingFetch }] = await Promise.all([
    import('../links/links.ts'),
    import('./outgoing_fetch.ts'),
  ]);
  const { fetch, openSocket } = outgoingFetch({ env: process.env, lookup: targets.lookup });
  return new HubLinks({
    ...{ hubId, log, isElected, openSocket },
    turns: machine.turns,
    links: () => links.list,
    entities: {
      list: (kind) => entities.list(kind),
      create: (kind, body) => entities.create(kind, body, OF_LINK),
      replace: (kind, id, body) => entities.replace(kind, id, body, OF_LINK),
      remove: (kind, id) => entities.remove(kind, id, OF_LINK),
    },
    schedule: machine.schedule,
    now: clock.monotonic,
    wallClockTime: clock.wallClockTime,
    random: Math.random,
    async ownLocations() {
      const results = await read({ ask: 'provider_locations', view: { crs: 'EPSG:4326' } });
      return results.flatMap((result) => ('texts' in result ? result.texts : []));
    },
    ownEvents: () => recentFenceEvents(eventLog, { now: clock.now, turns: machine.turns }),
    progressOf: (id) => progress.of(id),
    acceptEvents: (id, events, reached) => progress.accept(id, events, reached),
    request(url, request) {
      // Addresses in URLs are not looked up. A connection begins with a request, so its WebSocket needs no further check.
      const why = targets.whyNotHost(new URL(url).hostname);
      if (why !== undefined) return Promise.reject(new TargetRefused(why));
      // A redirect could lead the access token to another server.
      return fetch(url, { ...request, redirect: 'error' });
    },
    accept: (topic, values, nameOf) =>
      topic === 'location_updates'
        ? ingest.locationsEach(values, 'link', nameOf)
        : ingest.proximitiesEach(values, 'link', nameOf),
  });
}

/** The period in which another link, or the hub that ran a link before, may have published the events of a link. */
const RECENT_MS = 600_000;
const PAGE_EVENTS = 1000;

/** Yields the fence events of the last minutes, as JSON. */
async function* recentFenceEvents(
  log: EventLog | undefined,
  { now, turns }: Pick<Clock, 'now'> & Pick<Machine, 'turns'>,
): AsyncIterable<string> {
  if (log === undefined) return;
  let after = await log.cursorAt(now() - RECENT_MS);
  for (let hasMore = true; hasMore; await turns.next()) {
    const page = await log.read(after, { topics: ['fence_events'], filters: {}, limit: PAGE_EVENTS });
    for (const { json } of page.events) yield json;
    after = page.next;
    hasMore = page.hasMore;
  }
}

/** The state of a link that does not run here. */
function idle(status: LinkStatus): LinkState {
  return {
    status,
    received: 0,
    accepted: 0,
    duplicates: 0,
    looped: 0,
    superseded: 0,
    rejected: 0,
    dropped: 0,
    queued: 0,
    malformed: 0,
    origin_changes: 0,
    event_gaps: 0,
  };
}
