import { connect as dial } from 'node:net';
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
  /** The id of the zone of that id or foreign id; undefined where there is none. */
  zoneId(name: string): string | undefined;
  /** Whether this hub connects to the server of a zone; all where it is left out. Of several hubs one does. */
  opens?(zoneId: string): boolean;
}

/** Where locations come from beside the hub's own API. */
export interface Sources {
  /** Connects to the configured servers, those that this hub opens. */
  start(): void;
  /** What this hub opens has changed: connections that are another hub's now are closed, and those that are this hub's opened. */
  changed(): void;
  /** Tells of a zone as it is now; undefined when it is gone. */
  zone(id: string, zone: Zone | undefined): void;
  /** Takes a body of Cisco's notifications; see CiscoWebhook.accept. */
  acceptCisco(body: unknown): Promise<void> | undefined;
  /** One for each server that this hub opens, in their order. */
  status(): readonly ConnectionStatus[];
  close(): void;
}

/** Puts the adapters together. Everything that they bring goes through the one way in. */
export function openSources({ streams, ingest, log, now, ...needs }: SourcesNeeds): Sources {
  const { timeOfDay, schedule, random, zoneId, opens = () => true } = needs;
  const cisco = new CiscoWebhook({
    deliver: (locations, nameOf) => ingest.locationsEach(locations, 'cisco', nameOf),
    now,
    log,
  });
  const connect = ({ host, port, type, zone_id, foreign_id }: StreamSettings): Connection => {
    const settings = { host, port, providerType: type, source: zone_id ?? foreign_id ?? '' };
    return new Connection(settings, {
      deliver: (locations) => ingest.locationsEach(locations, 'iso-24730'),
      dial: (address) => dial({ ...address, keepAlive: true, noDelay: true }),
      now,
      timeOfDay,
      schedule,
      random,
      log,
    });
  };
  const links = streams.map((settings) => ({ settings, connection: undefined as Connection | undefined }));
  let isStarted = false;
  const changed = (): void => {
    for (const link of links) {
      const name = link.settings.zone_id ?? link.settings.foreign_id ?? '';
      const isOpen = isStarted && opens(zoneId(name) ?? name);
      if (isOpen === (link.connection !== undefined)) continue;
      link.connection?.close();
      link.connection = isOpen ? connect(link.settings) : undefined;
      link.connection?.start();
    }
  };
  const set = (started: boolean): void => {
    isStarted = started;
    changed();
  };
  return {
    start: () => set(true),
    changed,
    zone(id, zone) {
      cisco.zone(id, zone);
      // A foreign id may name it from now on, or name none any more.
      changed();
    },
    acceptCisco: (body) => cisco.accept(body),
    status: () => links.flatMap(({ connection }) => connection?.status() ?? []),
    close: () => set(false),
  };
}
