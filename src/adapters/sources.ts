import { connect } from 'node:net';
import type { Ingest } from '../ingest/ingest.ts';
import type { ProviderType } from '../model/location.ts';
import type { Zone } from '../model/zone.ts';
import { CiscoWebhook } from './cisco/webhook.ts';
import { Connection } from './iso24730/connection.ts';
import type { ConnectionStatus } from './iso24730/connection_status.ts';
import type { SourceLog } from './seldom.ts';

/** A server to connect to, as it is configured: `zone_id` or `foreign_id` names the zone of its coordinates. */
export interface StreamSettings {
  readonly host: string;
  readonly port: number;
  readonly type: ProviderType;
  readonly zone_id?: string;
  readonly foreign_id?: string;
}

export interface SourcesNeeds {
  readonly streams: readonly StreamSettings[];
  readonly ingest: Pick<Ingest, 'locationsEach'>;
  readonly log: SourceLog;
  /** Running time in milliseconds: it never falls. */
  now(): number;
  timeOfDay(runningMs: number): number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** In [0, 1). */
  random(): number;
}

/** Where locations come from beside the hub's own API. */
export interface Sources {
  /** Connects to the configured servers. */
  start(): void;
  /** Tells of a zone as it is now; undefined when it is gone. */
  zone(id: string, zone: Zone | undefined): void;
  /** Takes a body of Cisco's notifications; see CiscoWebhook.accept. */
  acceptCisco(body: unknown): Promise<void> | undefined;
  /** One for each configured server, in their order. */
  status(): readonly ConnectionStatus[];
  close(): void;
}

/** Puts the adapters together. Everything that they bring goes through the one way in. */
export function openSources({ streams, ingest, log, now, timeOfDay, schedule, random }: SourcesNeeds): Sources {
  const cisco = new CiscoWebhook({
    deliver: (locations, nameOf) => ingest.locationsEach(locations, 'cisco', nameOf),
    now,
    log,
  });
  const connections = streams.map(({ host, port, type, zone_id, foreign_id }) => {
    const settings = { host, port, providerType: type, source: zone_id ?? foreign_id ?? '' };
    return new Connection(settings, {
      deliver: (locations) => ingest.locationsEach(locations, 'iso-24730'),
      dial: (address) => connect({ ...address, keepAlive: true, noDelay: true }),
      now,
      timeOfDay,
      schedule,
      random,
      log,
    });
  });
  return {
    start: () => connections.forEach((connection) => void connection.start()),
    zone: (id, zone) => cisco.zone(id, zone),
    acceptCisco: (body) => cisco.accept(body),
    status: () => connections.map((connection) => connection.status()),
    close: () => connections.forEach((connection) => void connection.close()),
  };
}
