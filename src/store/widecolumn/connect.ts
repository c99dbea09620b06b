import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { Client, type ClientOptions, policies, types } from 'cassandra-driver';
import { StartupError } from '../../errors.ts';
import { refuse } from './failures.ts';
import type { WideColumnSettings } from './settings.ts';

const RECONNECT_MS = 1000;
/** Options of queries that run once, for which preparing does not pay off. */
const NOW = { prepare: false };

/** Connects to the keyspace, and creates it if it is missing. Throws a StartupError or an error of the driver. */
export async function connect(settings: WideColumnSettings): Promise<Client> {
  const options = optionsOf(settings);
  const localDataCenter = await prepareKeyspace(settings, options);
  const client = new Client({ ...options, localDataCenter, keyspace: settings.keyspace });
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.shutdown();
    throw error;
  }
}

/** Returns the version of the database, and changes nothing. Rejects with a StartupError or an error of the driver. */
export async function probe(settings: WideColumnSettings): Promise<string> {
  const client = openAnyHost(optionsOf(settings));
  try {
    await client.connect();
    const local = await client.execute('SELECT release_version FROM system.local', [], NOW);
    return local.first().get('release_version');
  } finally {
    await client.shutdown();
  }
}

/** Uses any host, since the data center is not known yet. */
function openAnyHost(options: ClientOptions): Client {
  const loadBalancing = new policies.loadBalancing.RoundRobinPolicy();
  return new Client({ ...options, policies: { ...options.policies, loadBalancing } });
}

/** Creates the keyspace if needed, and returns the data center to connect to. */
async function prepareKeyspace(settings: WideColumnSettings, options: ClientOptions): Promise<string> {
  const client = openAnyHost(options);
  try {
    await client.connect();
    const { keyspace, replication } = settings;
    const asked = 'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?';
    const found = await client.execute(asked, [keyspace]);
    // Queries first, so that a user without permission to create keyspaces can use an existing one.
    if (found.rowLength === 0) {
      await client.execute(`CREATE KEYSPACE IF NOT EXISTS "${keyspace}" WITH replication = ${replication}`, [], NOW);
    }
    return await datacenterOf(settings, client);
  } finally {
    await client.shutdown();
  }
}

async function datacenterOf(settings: WideColumnSettings, client: Client): Promise<string> {
  const local = await client.execute('SELECT data_center FROM system.local', [], NOW);
  const { datacenter } = settings;
  if (datacenter === null) return local.first().get('data_center');
  const known = new Set(client.hosts.values().map((host) => host.datacenter));
  if (known.has(datacenter)) return datacenter;
  throw refuse(settings, `it has no data center "${datacenter}", only ${[...known].join(', ')}`);
}

function optionsOf(settings: WideColumnSettings): ClientOptions {
  const { hosts, port, username, password, tls, connectTimeoutMs, requestTimeoutMs } = settings;
  return {
    contactPoints: hosts.map((host) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)),
    protocolOptions: { port },
    socketOptions: { connectTimeout: connectTimeoutMs, readTimeout: requestTimeoutMs },
    policies: { reconnection: new policies.reconnection.ConstantReconnectionPolicy(RECONNECT_MS) },
    // Each write has its own timestamp, so it is idempotent.
    queryOptions: { prepare: true, isIdempotent: true, captureStackTrace: false },
    ...(username !== null && { credentials: { username, password: password ?? '' } }),
    ...(tls !== undefined && { sslOptions: tlsOptions(tls.pem, hosts) }),
  };
}

/**
 * Returns the TLS options. Nodes are found by address but certificates contain host names, so a certificate may match
 * either.
 */
function tlsOptions(pem: string | null, hosts: readonly string[]): ConnectionOptions {
  const identity: ConnectionOptions['checkServerIdentity'] = (address, certificate) => {
    const problems = [address, ...hosts].map((name) => checkServerIdentity(name, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
  // The driver's default accepts any certificate.
  const strict: ConnectionOptions = { rejectUnauthorized: true, checkServerIdentity: identity };
  if (pem === null) return strict;
  const text = readPem(pem);
  const own = text.includes('PRIVATE KEY') ? { cert: text, key: text } : {};
  return { ...strict, ca: text, ...own };
}

function readPem(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN ')) return text;
  } catch (cause) {
    throw new StartupError(`Cannot read widecolumn_tls_pem ${path}: ${(cause as Error).message}`, { cause });
  }
  throw new StartupError(`Cannot use widecolumn_tls_pem ${path}: there is no PEM in it`);
}

/** Returns the consistency level of a name, such as LOCAL_QUORUM. */
export function consistencyOf(name: string): number {
  const [first = '', ...others] = name.toLowerCase().split('_');
  const camel = first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const value = (types.consistencies as unknown as Readonly<Record<string, number>>)[camel];
  if (value === undefined) throw new Error(`Cannot use the consistency ${name}: the driver does not know it`);
  return value;
}
