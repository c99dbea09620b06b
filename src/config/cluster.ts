import Type from 'typebox';
import { Word } from './word.ts';

/** Settings that cannot be used in a cluster, with the reason. */
export const NOT_IN_A_CLUSTER = {
  db_type: 'a cluster keeps its data in NATS',
  db_fast_writes: 'in a cluster a location is always kept before it is answered',
  db_flush_interval: 'cluster_checkpoint_interval takes its place',
  persist_locations: 'a cluster always keeps locations',
} as const;

const Text = (options: { description: string; secret?: boolean }) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, ...options });

/** Settings of a hub in a cluster, see docs/cluster.md. */
export const ClusterProperties = {
  cluster_servers: Type.Array(Type.String({ pattern: '^(nats|tls)://[^\\s/@]+$' }), {
    default: [],
    description:
      'NATS servers of a cluster of hubs, such as tls://nats-1.example:4222. Empty: the hub is not in a cluster.',
  }),
  cluster_name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$',
    default: 'hub',
    description: 'Name of the cluster. Subjects and streams in NATS begin with it.',
  }),
  cluster_hub_name: Text({
    description: 'Name of this hub, stable across restarts. null: the name of its machine.',
  }),
  cluster_client_url: Type.Union([Type.String({ pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$' }), Type.Null()], {
    default: null,
    description:
      'URL of this hub for clients, such as http://hub-1.example:8081. Other hubs name it in hints to clients.',
  }),
  cluster_replicas: Type.Integer({
    minimum: 1,
    maximum: 5,
    default: 3,
    description: 'Replicas of each NATS stream: 1, 3 or 5.',
  }),
  cluster_partitions: Type.Integer({
    minimum: 256,
    maximum: 4096,
    default: 256,
    description: 'Number of partitions, a power of two. Fixed when the first hub creates the cluster.',
  }),
  cluster_storage: Word(['file', 'memory'], {
    default: 'file',
    description: 'Storage of the NATS streams: file, or memory, which is lost when all servers restart.',
  }),
  cluster_credentials_path: Text({ description: 'Credentials file for signing in to NATS.' }),
  cluster_nkey_path: Text({ description: 'File with the nkey seed for signing in to NATS.' }),
  cluster_username: Text({ description: 'User name for signing in to NATS.' }),
  cluster_password: Text({ secret: true, description: 'Password of that user.' }),
  cluster_tls_ca_path: Text({ description: 'PEM file with the certificates that verify NATS servers.' }),
  cluster_tls_certificate_path: Text({ description: 'PEM file with the client certificate of the hub for NATS.' }),
  cluster_tls_key_path: Text({ description: 'PEM file with the private key of that certificate.' }),
  cluster_hold: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 6000,
    description:
      'Time in milliseconds that a request waits while its objects have no owner, before it is answered 503.',
  }),
  cluster_reads: Word(['latest', 'any'], {
    default: 'latest',
    description:
      'Consistency of reads. latest: all that any hub has acknowledged, at the cost of an append. any: this hub only.',
  }),
  cluster_suspect: Type.Integer({
    minimum: 500,
    maximum: 600_000,
    default: 2000,
    description: 'Time without a heartbeat after which other hubs take over from a hub, in milliseconds.',
  }),
  cluster_checkpoint_interval: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 5000,
    description: 'Interval of state checkpoints, in milliseconds. Shorter intervals make takeovers faster.',
  }),
  cluster_journal_max_size: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1024,
    description: 'Maximum size of each journal stream, in MiB. A hub with a full journal rejects locations.',
  }),
};

/** Problems of settings that are invalid in a cluster, and of inconsistent cluster settings. */
export function clusterProblems(values: ReadonlyMap<string, unknown>): string[] {
  const servers = values.get('cluster_servers') as readonly string[] | undefined;
  if (servers === undefined || servers.length === 0) return [];
  const problems = Object.entries(NOT_IN_A_CLUSTER)
    .filter(([name]) => values.has(name))
    .map(([name, why]) => `${name}: cannot be set with cluster_servers: ${why}`);
  const replicas = values.get('cluster_replicas');
  if (replicas === 2 || replicas === 4) problems.push(`cluster_replicas: must be 1, 3 or 5, found ${replicas}`);
  const partitions = values.get('cluster_partitions');
  if (typeof partitions === 'number' && !Number.isInteger(Math.log2(partitions))) {
    problems.push(`cluster_partitions: must be 256, 512, 1024, 2048 or 4096, found ${partitions}`);
  }
  if (values.has('cluster_username') !== values.has('cluster_password')) {
    const [is, isNot] = values.has('cluster_username') ? ['username', 'password'] : ['password', 'username'];
    problems.push(`cluster_${is}: needs cluster_${isNot}, which is not set`);
  }
  if (values.has('cluster_tls_certificate_path') !== values.has('cluster_tls_key_path')) {
    const isCertificate = values.has('cluster_tls_certificate_path');
    const [is, isNot] = isCertificate ? ['certificate', 'key'] : ['key', 'certificate'];
    problems.push(`cluster_tls_${is}_path: needs cluster_tls_${isNot}_path, which is not set`);
  }
  return problems;
}
