import Type from 'typebox';
import { Word } from './word.ts';

const READ = ['ONE', 'TWO', 'THREE', 'QUORUM', 'ALL', 'LOCAL_QUORUM', 'LOCAL_ONE'] as const;
/** Not ANY: what is acknowledged must be there to be read. */
const WRITE = [...READ, 'EACH_QUORUM'] as const;

const Text = (options: { default: string | null; description: string; secret?: boolean }) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], options);

/** The settings of a database in Cassandra, or in one that speaks its protocol. */
export const WideColumnProperties = {
  widecolumn_hosts: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    default: ['localhost'],
    description: 'With db_type widecolumn: hosts to find the cluster by, as a list or with commas between.',
  }),
  widecolumn_port: Type.Integer({ minimum: 1, maximum: 65535, default: 9042, description: 'Port of these hosts.' }),
  widecolumn_username: Text({ default: null, description: 'User of the database, where it asks for one.' }),
  widecolumn_password: Text({ default: null, secret: true, description: 'Password of that user.' }),
  widecolumn_keyspace: Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_]{0,47}$',
    default: 'location_hub',
    description: 'Keyspace of the hub. It is made where there is none of that name, and belongs to one hub alone.',
  }),
  widecolumn_replication_strategy: Type.String({
    pattern: "^\\{ *'class' *: *'\\w+' *(, *'\\w[\\w.-]*' *: *('\\w+'|\\d+) *)*\\}$",
    default: "{'class': 'SimpleStrategy', 'replication_factor': 1}",
    description: 'Replication of a keyspace that the hub makes, as CQL writes it.',
  }),
  widecolumn_datacenter: Text({
    default: null,
    description: 'Data center of the nodes to talk to. null is that of the first host that answers.',
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
    description: 'Time for a connection to a node, in milliseconds.',
  }),
  widecolumn_request_timeout: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 12_000,
    description: 'Time for an answer of a node, and for retries of what it was too busy to do, in milliseconds.',
  }),
  widecolumn_use_tls: Type.Boolean({ default: false, description: 'Whether to talk to the nodes over TLS.' }),
  widecolumn_tls_pem: Text({
    default: null,
    description: 'PEM file with the certificates to trust, and a key and certificate to show where nodes ask for one.',
  }),
  widecolumn_rate: Type.Number({
    minimum: 0,
    default: 0,
    description: 'Most that is written to the database, in kB per second. 0 is no limit.',
  }),
  widecolumn_burst_size: Type.Number({
    exclusiveMinimum: 0,
    default: 10_000,
    description: 'What may be written at once after a while of less, in kB.',
  }),
};
