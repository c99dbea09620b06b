import Type from 'typebox';
import { Word } from './word.ts';

const READ = ['ONE', 'TWO', 'THREE', 'QUORUM', 'ALL', 'LOCAL_QUORUM', 'LOCAL_ONE'] as const;
/** ANY is excluded: an acknowledged write must be readable. */
const WRITE = [...READ, 'EACH_QUORUM'] as const;

const Text = (options: { default: string | null; description: string; secret?: boolean }) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], options);

/** Settings of Cassandra or a compatible database. */
export const WideColumnProperties = {
  widecolumn_hosts: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    default: ['localhost'],
    description: 'With db_type widecolumn: contact points of the cluster, as a list or separated by commas.',
  }),
  widecolumn_port: Type.Integer({ minimum: 1, maximum: 65535, default: 9042, description: 'Port of these hosts.' }),
  widecolumn_username: Text({
    default: null,
    description: 'User name for signing in to the database, if it requires one.',
  }),
  widecolumn_password: Text({ default: null, secret: true, description: 'Password of that user.' }),
  widecolumn_keyspace: Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_]{0,47}$',
    default: 'location_hub',
    description: 'Keyspace of the hub, created if missing. Each hub needs its own.',
  }),
  widecolumn_replication_strategy: Type.String({
    pattern: "^\\{ *'class' *: *'\\w+' *(, *'\\w[\\w.-]*' *: *('\\w+'|\\d+) *)*\\}$",
    default: "{'class': 'SimpleStrategy', 'replication_factor': 1}",
    description: 'Replication of a keyspace created by the hub, in CQL syntax.',
  }),
  widecolumn_datacenter: Text({
    default: null,
    description: 'Data center of the nodes to use. null: that of the first host that replies.',
  }),
  widecolumn_read_consistency: Word(READ, {
    default: 'LOCAL_QUORUM',
    description: `Consistency of reads: ${READ.join(', ')}.`,
  }),
  widecolumn_write_consistency: Word(WRITE, {
    default: 'LOCAL_QUORUM',
    description: 'Consistency of writes: one of these, or EACH_QUORUM.',
  }),
  widecolumn_connect_timeout: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 5000,
    description: 'Timeout of a connection to a node, in milliseconds.',
  }),
  widecolumn_request_timeout: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 12_000,
    description: 'Timeout of a request to a node, including retries when it is overloaded, in milliseconds.',
  }),
  widecolumn_use_tls: Type.Boolean({ default: false, description: 'Whether connections to the nodes use TLS.' }),
  widecolumn_tls_pem: Text({
    default: null,
    description: 'PEM file with the trusted certificates, and the client key and certificate if nodes require one.',
  }),
  widecolumn_rate: Type.Number({
    minimum: 0,
    default: 0,
    description: 'Maximum write rate of the database, in kB per second. 0: unlimited.',
  }),
  widecolumn_burst_size: Type.Number({
    exclusiveMinimum: 0,
    default: 10_000,
    description: 'Burst size of writes, in kB.',
  }),
};
