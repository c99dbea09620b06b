/**
 * Settings of the reference that this hub ignores, since it has no license server and no recordings. A configuration
 * written for the reference may contain them.
 */
export const IGNORED_SETTINGS: ReadonlySet<string> = new Set([
  'license_server_address',
  'license_server_port',
  'doc_root',
  'record_path',
  'playback_path',
  'playback_speed',
  'cassandra_keep_alive',
  'cassandra_latency_aware_routing',
  'cassandra_token_aware_routing',
  'cassandra_load_balancing',
  'cassandra_io_threads',
]);
