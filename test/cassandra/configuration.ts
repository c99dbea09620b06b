export interface NodeSettings {
  readonly folder: string;
  readonly port: number;
  readonly storagePort: number;
  readonly secure: boolean;
}

/**
 * The minimal configuration of one node. An acknowledged write is on disk (commitlog_sync: group), so that a killed
 * node has everything that it has acknowledged.
 */
export function configurationOf({ folder, port, storagePort, secure }: NodeSettings): string {
  const lines = `\
cluster_name: hub
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
commitlog_sync: group
commitlog_sync_group_window: 5ms
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
native_transport_port: ${port}
storage_port: ${storagePort}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:${storagePort}"
data_file_directories: ["${folder}/data"]
commitlog_directory: "${folder}/commitlog"
saved_caches_directory: "${folder}/saved_caches"
hints_directory: "${folder}/hints"
`;
  return secure ? lines + securityOf(folder) : lines;
}

function securityOf(folder: string): string {
  return `\
authenticator: PasswordAuthenticator
client_encryption_options:
  enabled: true
  optional: true
  keystore: "${folder}/keystore"
  keystore_password: cassandra
`;
}

/** Logs only the relevant messages: readiness, and reasons for failures. */
export const LOGGING = `\
<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %logger{20} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
`;

const OPEN = [
  ...['java.io', 'java.lang', 'java.lang.module', 'java.lang.reflect', 'java.util', 'jdk.internal.loader'],
  ...['jdk.internal.math', 'jdk.internal.module', 'jdk.internal.ref', 'jdk.internal.reflect'],
  ...['jdk.internal.util.jar', 'sun.nio.ch'],
];

/** Modules that Cassandra accesses, and options for a quick start on a small machine. */
export const JAVA_FLAGS: readonly string[] = [
  ...OPEN.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED',
  '--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED',
  '--add-exports=java.base/java.lang.ref=ALL-UNNAMED',
  '--add-exports=java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED',
  '--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED',
  '--add-exports=java.rmi/sun.rmi.server=ALL-UNNAMED',
  '--add-exports=java.sql/java.sql=ALL-UNNAMED',
  '--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED',
  ...['-Xmx1g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
  '-Dcassandra-foreground=yes',
  '-Dcassandra.ring_delay_ms=100',
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Dcassandra.superuser_setup_delay_ms=0',
];
