import { connect as dial } from 'node:net';
import type { Ingest } from '../ingest/ingest.ts';
import type { ProviderType } from '../model/location.ts';
import type { Zone } from '../model/zone.ts';
import { CiscoWebhook } from './cisco/webhook.ts';
import { RtlsConnection } from './iso24730/connection.ts';
import type { ConnectionStatus } from './iso24730/connection_status.ts';
import type { SourceLog } from './log_throttle.ts';

/** A configured server. `zone_id` or `foreign_id` refers to the zone of its coordinates. */
export interface RtlsStreamSettings {
  readonly host: string;
  readonly port: number;
  readonly type: ProviderType;
  readonly zone_id?: string;
  readonly foreign_id?: string;
}

export interface SourcesNeeds {
  readonly streams: readonly RtlsStreamSettings[];
  readonly ingest: Pick<Ingest, 'locationsEach'>;
  readonly log: SourceLog;
  /** Monotonic time in milliseconds. */
  now(): number;
  timeOfDay(runningMs: number): number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** In [0, 1). */
  random(): number;
  /** Returns the id of a zone given by id or foreign id; undefined if it does not exist. */
  zoneId(name: string): string | undefined;
  /** Whether this hub connects to the server of a zone; by default to all. In a cluster, one hub does. */
  opens?(zoneId: string): boolean;
}

/** Sources of locations besides the hub's own API. */
export interface AdapterSources {
  /** Connects to the configured servers that this hub opens. */
  start(): void;
  /** Re-evaluates ownership: closes connections that another hub owns now, and opens those that this hub owns. */
  changed(): void;
  /** Updates a zone; undefined if it was deleted. */
  zone(id: string, zone: Zone | undefined): void;
  /** Accepts a body of Cisco notifications; see CiscoWebhook.accept. */
  acceptCisco(body: unknown): Promise<void> | undefined;
  /** Returns the status of each server to which this hub connects, in order. */
  status(): readonly ConnectionStatus[];
  close(): void;
}

/** Creates the adapters, which pass all locations to the common ingest. */
export function openSources({ streams, ingest, log, now, ...needs }: SourcesNeeds): AdapterSources {
  const { timeOfDay, schedule, random, zoneId, opens = () => true } = needs;
  const cisco = new CiscoWebhook({
    deliver: (locations, nameOf) => ingest.locationsEach(locations, 'cisco', nameOf),
    now,
    log,
  });
  const connect = ({ host, port, type, zone_id, foreign_id }: RtlsStreamSettings): RtlsConnection => {
    const settings = { host, port, providerType: type, source: zone_id ?? foreign_id ?? '' };
    return new RtlsConnection(settings, {
      deliver: (locations) => ingest.locationsEach(locations, 'iso-24730'),
      dial: (address) => dial({ ...address, keepAlive: true, noDelay: true }),
      now,
      timeOfDay,
      schedule,
      random,
      log,
    });
  };
  const links = streams.map((settings) => ({ settings, connection: undefined as RtlsConnection | undefined }));
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
      // A configured foreign id may refer to another zone now.
      changed();
    },
    acceptCisco: (body) => cisco.accept(body),
    status: () => links.flatMap(({ connection }) => connection?.status() ?? []),
    close: () => set(false),
  };
}
