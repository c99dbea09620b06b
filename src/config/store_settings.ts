import { join } from 'node:path';
import type { Config } from './schema.ts';

const KILOBYTE = 1000;
/** Events wait no longer than this for a database that is behind. */
const LATE_MS = 2000;
/** With a limited rate: rows of one commit take as much of a second, so that entities need not wait for long. */
const COMMIT_SECONDS = 0.25;
const COMMIT_BYTES_MIN = 16 << 10;

/** Where the hub keeps its data: a file, or a wide-column database. `startedMs` is the time now. */
export function storePlace(config: Config, startedMs: number) {
  if (config.db_type === 'sqlite') {
    return { path: join(config.config_path, 'data.dat'), startedMs, acceptLoss: config.accept_loss };
  }
  return {
    hosts: config.widecolumn_hosts.map((host) => (host === 'localhost' ? '127.0.0.1' : host)),
    port: config.widecolumn_port,
    username: config.widecolumn_username,
    password: config.widecolumn_password,
    keyspace: config.widecolumn_keyspace,
    replication: config.widecolumn_replication_strategy,
    datacenter: config.widecolumn_datacenter,
    readConsistency: config.widecolumn_read_consistency,
    writeConsistency: config.widecolumn_write_consistency,
    connectTimeoutMs: config.widecolumn_connect_timeout,
    requestTimeoutMs: config.widecolumn_request_timeout,
    tls: config.widecolumn_use_tls ? { pem: config.widecolumn_tls_pem } : undefined,
    bytesPerSecond: bytesPerSecond(config),
    burstBytes: config.widecolumn_burst_size * KILOBYTE,
  };
}

/** How a database over the network is written to; a file is always quick, or does not work at all. */
export function storePace(config: Config): { readonly lateMs?: number; readonly rowBytesMax?: number } {
  if (config.db_type === 'sqlite') return {};
  const bytes = Math.max(COMMIT_BYTES_MIN, bytesPerSecond(config) * COMMIT_SECONDS);
  return { lateMs: LATE_MS, ...(bytes < Infinity && { rowBytesMax: bytes }) };
}

function bytesPerSecond(config: Config): number {
  return config.widecolumn_rate === 0 ? Infinity : config.widecolumn_rate * KILOBYTE;
}
