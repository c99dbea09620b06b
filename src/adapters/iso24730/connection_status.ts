import type { LineCounts } from './reader.ts';

/** Status of a connection. Times are RFC 3339, durations seconds. */
export interface ConnectionStatus extends Readonly<LineCounts> {
  /** Zone id or foreign id, as configured. */
  readonly source: string;
  /** `host:port` */
  readonly address: string;
  readonly state: 'waiting' | 'connecting' | 'connected';
  /** Time of the connect; undefined while disconnected. */
  readonly connection_established: string | undefined;
  /** Number of connections after the first. */
  readonly reconnects: number;
  /** Duration of the connection; 0 while disconnected. */
  readonly uptime: number;
  /** Accepted locations. */
  readonly number_of_updates: number;
  readonly last_update_received: string | undefined;
  readonly last_update_type: 'iso-24730';
  /** Rejected locations: their zone is unknown or not georeferenced, or the hub was full. */
  readonly rejected: number;
  /** Names of vendor fields declared on this connection. */
  readonly declared_fields: readonly string[];
}
