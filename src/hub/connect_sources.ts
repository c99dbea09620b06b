import { randomBytes } from 'node:crypto';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { DocumentsDeps } from '../entities/documents.ts';
import type { Entities } from '../entities/entities.ts';
import { OutgoingTargets } from '../entities/outgoing_targets.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { Sources } from '../sources/sources.ts';
import type { Clock } from '../time/clock.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';

interface SourceParts {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly entities: Entities;
  readonly cluster: Cluster | undefined;
  readonly ingest: Ingest;
  readonly commit: DocumentsDeps['commit'];
}

const TOKEN_BYTES = 32;

/**
 * Creates the sources of the hub without connecting to them. Connections go only to allowed hosts. The client for requests
 * is loaded with the first one.
 */
export function connectSources({
  clock,
  machine,
  config,
  log,
  entities,
  cluster,
  ingest,
  commit,
}: SourceParts): Sources {
  const targets = new OutgoingTargets('source_allowed_hosts', config.source_allowed_hosts);
  let loading: Promise<ReturnType<typeof import('./outgoing_fetch.ts').outgoingFetch>> | undefined;
  const outgoing = () => {
    loading ??= import('./outgoing_fetch.ts').then(({ outgoingFetch }) => {
      return outgoingFetch({ env: process.env, lookup: targets.lookup });
    });
    return loading;
  };
  return new Sources({
    now: clock.now,
    schedule: machine.schedule,
    random: machine.random,
    newId: machine.newId,
    newToken: () => randomBytes(TOKEN_BYTES).toString('base64url'),
    commit,
    isElected: (id) => cluster?.serves(`source ${id}`) ?? true,
    udpPorts: config.source_udp_ports,
    zones: () => entities.list('zone'),
    zone: (name) => entities.zoneBy(name),
    deliver: (kind, values, nameOf) =>
      kind === 'location'
        ? ingest.locationsEach(values, 'source', nameOf)
        : ingest.proximitiesEach(values, 'source', nameOf),
    whyNotHost: (hostname) => targets.whyNotHost(hostname),
    resolve: (hostname) => targets.resolve(hostname),
    fetch: async (url, request) => (await outgoing()).fetch(url, request) as never,
    openSocket: async (url, events, headers) => (await outgoing()).openSocket(url, events, headers),
    warn: (message, facts) => log.warn(message, facts),
    info: (message, facts) => log.info(message, facts),
  });
}
