import type { LineCounts } from './reader.ts';

/** Status of a connection. Times are in RFC 3339 format, durations in seconds. */
export interface ConnectionStatus extends Readonly<LineCounts> {
  /** Zone id or foreign id, as configured. */
  readonly source: string;
  /** `host:port` */
  readonly address: string;
  readonly state: 'waiting' | 'connecting' | 'connected';
  /** Time at which the connection was established; undefined while disconnected. */
  readonly connection_established: string | undefined;
  /** Number of connections after the first one. */
  readonly reconnects: number;
  /** Duration of the current connection; 0 while disconnected. */
  readonly uptime: number;
  /** Number of accepted locations. */
  readonly number_of_updates: number;
  readonly last_update_received: string | undefined;
  readonly last_update_type: 'iso-24730';
  /** Number of rejected locations, because their zone is unknown or not georeferenced, or the hub was at capacity. */
  readonly rejected: number;
  /** Names of vendor fields declared on this connection. */
  readonly declared_fields: readonly string[];
}
