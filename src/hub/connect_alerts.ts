import { Alerts } from '../alerts/alerts.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { Documents, type DocumentsDeps } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import { LINKS } from '../entities/links.ts';
import { MAP_VIEWS } from '../entities/map_views.ts';
import type { Link } from '../model/link.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { MapView } from '../model/view.ts';
import { definedWrites } from '../store/entity_json.ts';
import type { StoreWriter } from '../store/writer.ts';
import type { Clock } from '../time/clock.ts';
import { connectLinks, type HubLinks } from './connect_links.ts';
import type { Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';

/** Documents defined in the UI, other than entities. */
export interface DefinedParts {
  readonly alerts: Alerts;
  readonly views: Documents<MapView>;
  readonly links: Documents<Link>;
  readonly hubLinks: HubLinks;
  /** Applies the stored value of a setting; null if it was deleted. */
  applyDefined(name: string, text: string | null): void;
}

interface DefinedDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly log: Log;
  readonly writer: StoreWriter;
  readonly stages: Stages;
  readonly entities: Entities;
  readonly cluster: Cluster | undefined;
  readonly ingest: Ingest;
}

export function connectDefined(deps: DefinedDeps): DefinedParts {
  const { clock, machine, log, writer, stages, entities, cluster, ingest } = deps;
  const { fanout, shards } = stages;
  const commit: DocumentsDeps['commit'] = async (documents) => {
    await writer.writeEntities(definedWrites(documents));
    return cluster === undefined ? undefined : 'applied';
  };
  const { newId, schedule } = machine;
  const alerts = new Alerts({
    ...{ newId, schedule, fanout, commit },
    monotonicMs: clock.monotonic,
    now: clock.now,
    entities: {
      hasFence: (id) => entities.has('fence', id),
      trackable: (id) => entities.get('trackable', id),
      trackables: () => entities.list('trackable'),
      provider: (id) => entities.get('provider', id),
      providers: () => entities.list('provider'),
      isAssigned: (id) => entities.trackablesOf(id).length > 0,
    },
    read: (query) => (cluster?.isLocal === false ? cluster.remote.ask(query) : shards.ask(query)),
    isWatcher: () => cluster?.ownsCollisions ?? true,
    warn: (message, facts) => log.warn(message, facts),
  });
  const views = new Documents(MAP_VIEWS, { newId, commit, changed: () => undefined });
  const links = new Documents(LINKS, { newId, commit, changed: () => hubLinks.refresh() });
  const hubLinks = connectLinks({ links, clock, machine, ingest, cluster, log });
  return {
    alerts,
    views,
    links,
    hubLinks,
    applyDefined(name, text) {
      if (!views.apply(name, text) && !links.apply(name, text)) alerts.apply(name, text);
    },
  };
}
