import type { LineCounts } from './reader.ts';

/** How a connection does. Times are RFC 3339 texts, durations seconds. */
export interface ConnectionStatus extends Readonly<LineCounts> {
  /** Zone id or foreign id, as configured. */
  readonly source: string;
  /** `host:port` */
  readonly address: string;
  readonly state: 'waiting' | 'connecting' | 'connected';
  /** Since when the connection stands; undefined while it does not. */
  readonly connection_established: string | undefined;
  /** Connections that were made after the first. */
  readonly reconnects: number;
  /** How long the connection stands; 0 while it does not. */
  readonly uptime: number;
  /** Locations that the hub has accepted. */
  readonly number_of_updates: number;
  readonly last_update_received: string | undefined;
  readonly last_update_type: 'iso-24730';
  /** Locations that the hub has refused: their zone is unknown or cannot place them, or the hub was full. */
  readonly rejected: number;
  /** Names of the fields of its own that the server has declared on this connection. */
  readonly declared_fields: readonly string[];
}
