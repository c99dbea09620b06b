import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { clusterSettings } from '../../src/config/settings.ts';
import { type Given, load } from './given.ts';

const SERVERS = 'nats://127.0.0.1:4222';

/** Settings of a file, in addition to the servers. */
function inCluster(...lines: readonly string[]): Given {
  return { file: [`cluster_servers: ${SERVERS}`, ...lines].join('\n') };
}

function problems(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('A hub without cluster_servers is a single hub, regardless of other settings', () => {
  const file = 'cluster_name: plant\ncluster_replicas: 5\ncluster_username: hub\ndb_type: sqlite';
  assert.equal(clusterSettings(load({ file }), 'machine'), undefined);
});

test('cluster_servers is a list, or a comma-separated string, in the file and in the environment', () => {
  const expected = ['nats://a:4222', 'tls://b.example:4222'];
  const texts: readonly Given[] = [
    { file: 'cluster_servers: [nats://a:4222, tls://b.example:4222]' },
    { file: 'cluster_servers: nats://a:4222, tls://b.example:4222' },
    { env: { HUB_CLUSTER_SERVERS: 'nats://a:4222,tls://b.example:4222' } },
    { env: { HUB_CLUSTER_SERVERS: '["nats://a:4222", "tls://b.example:4222"]' } },
  ];
  for (const given of texts) assert.deepEqual(load(given).cluster_servers, expected);
});

test('A cluster has defaults for everything but its servers', () => {
  const { alike, ...settings } = clusterSettings(load({ ...inCluster(), cores: 4 }), 'machine') ?? assert.fail();
  assert.deepEqual(settings, {
    bus: { servers: [SERVERS], name: 'hub', memberName: 'machine' },
    name: 'hub',
    hubName: 'machine',
    replicas: 3,
    storage: 'file',
    partitions: 256,
    suspectMs: 2000,
    holdMs: 6000,
    reads: 'latest',
    checkpointMs: 5000,
    journalBytesMax: 2 ** 30,
    eventLog: { retentionMs: 24 * 3_600_000, bytesMax: 2 ** 30 },
    auditLog: { retentionMs: 90 * 86_400_000, bytesMax: 268_435_456 },
    shards: 3,
  });
  assert.ok(alike.includes('require_authorization: false'), alike.join());
});

test('A cluster may log no events', () => {
  assert.equal(clusterSettings(load(inCluster('event_retention: 0')), 'machine')?.eventLog, undefined);
});

test('A hub may have a URL for clients', () => {
  const urlOf = (url: string) => clusterSettings(load(inCluster(`cluster_client_url: ${url}`)), 'machine')?.clientUrl;
  for (const url of ['http://hub-1.example:8081', 'https://plant.example/rtls']) assert.equal(urlOf(url), url);
  for (const url of ['hub-1:8081', 'ws://hub-1', 'http://', 'http://hub-1/?a=b']) {
    assert.equal(problems(inCluster(`cluster_client_url: ${url}`)).length, 1, url);
  }
});

test('Paths of credential files are relative to hub_config.yaml, unless they are absolute', () => {
  const given = inCluster(
    'cluster_hub_name: a',
    'cluster_credentials_path: hub.creds',
    'cluster_nkey_path: /etc/hub.nk',
    'cluster_username: hub',
    'cluster_password: secret',
    'cluster_tls_ca_path: ca.pem',
    'cluster_tls_certificate_path: hub.pem',
    'cluster_tls_key_path: /etc/hub.key',
  );
  assert.deepEqual(clusterSettings(load({ ...given, env: { HUB_CONFIG_PATH: '/plant' } }), 'machine')?.bus, {
    servers: [SERVERS],
    name: 'hub',
    memberName: 'a',
    credentialsPath: '/plant/hub.creds',
    nkeyPath: '/etc/hub.nk',
    username: 'hub',
    password: 'secret',
    tls: { caPath: '/plant/ca.pem', certificatePath: '/plant/hub.pem', keyPath: '/etc/hub.key' },
  });
});

const refused: [name: string, given: Given, ...found: RegExp[]][] = [
  ['db_type, even with its default', inCluster('db_type: sqlite'), /^db_type: cannot be set with cluster_servers: /],
  ['db_fast_writes', inCluster('db_fast_writes: false'), /^db_fast_writes: cannot be set with cluster_servers: /],
  [
    'db_flush_interval',
    inCluster('db_flush_interval: 500'),
    /^db_flush_interval: .*: cluster_checkpoint_interval takes its place$/,
  ],
  ['persist_locations', inCluster('persist_locations: true'), /^persist_locations: cannot be set with cluster_serv/],
  [
    'settings of the environment, all at once',
    { env: { HUB_CLUSTER_SERVERS: SERVERS, HUB_DB_TYPE: 'cassandra', HUB_PERSIST_LOCATIONS: 'false' } },
    /^db_type: /,
    /^persist_locations: /,
  ],
  ['two copies', inCluster('cluster_replicas: 2'), /^cluster_replicas: must be 1, 3 or 5, found 2$/],
  ['four copies', inCluster('cluster_replicas: 4'), /^cluster_replicas: must be 1, 3 or 5, found 4$/],
  [
    'partitions that are no power of two',
    inCluster('cluster_partitions: 300'),
    /^cluster_partitions: must be 256, 512, 1024, 2048 or 4096, found 300$/,
  ],
  ['no copy', inCluster('cluster_replicas: 0'), /^hub_config.yaml:2: cluster_replicas: must be .* found 0$/],
  ['seven copies', inCluster('cluster_replicas: 7'), /^hub_config.yaml:2: cluster_replicas: must be .* found 7$/],
  [
    'a user without a password',
    inCluster('cluster_username: hub'),
    /^cluster_username: needs cluster_password, which is not set$/,
  ],
  [
    'a password without a user',
    inCluster('cluster_password: secret'),
    /^cluster_password: needs cluster_username, which is not set$/,
  ],
  [
    'a certificate without its key',
    inCluster('cluster_tls_certificate_path: a.pem'),
    /^cluster_tls_certificate_path: needs cluster_tls_key_path, which is not set$/,
  ],
  [
    'a key without its certificate',
    inCluster('cluster_tls_key_path: a.key'),
    /^cluster_tls_key_path: needs cluster_tls_certificate_path, which is not set$/,
  ],
  ['a name with a dot', inCluster('cluster_name: a.b'), /cluster_name: must match .*, found "a.b"$/],
  ['a name with a wildcard', inCluster('cluster_name: "*"'), /cluster_name: must match .*, found "\*"$/],
  ['another storage', inCluster('cluster_storage: tape'), /cluster_storage: must be .*, found "tape"$/],
  ['other reads', inCluster('cluster_reads: some'), /cluster_reads: must be .*, found "some"$/],
  ['a journal of size 0', inCluster('cluster_journal_max_size: 0'), /cluster_journal_max_size: must be .*found 0$/],
  ['no time to be silent', inCluster('cluster_suspect: 100'), /cluster_suspect: must be .* found 100$/],
  ['a negative hold', inCluster('cluster_hold: -1'), /cluster_hold: must be .* found -1$/],
  ['no checkpoints', inCluster('cluster_checkpoint_interval: 0'), /cluster_checkpoint_interval: must be .* found 0$/],
];

for (const [name, given, ...found] of refused) {
  test(`A cluster rejects ${name}`, () => {
    const lines = problems(given);
    assert.equal(lines.length, found.length, lines.join('\n'));
    for (const [index, pattern] of found.entries()) assert.match(lines[index] ?? '', pattern);
  });
}

for (const address of [
  '127.0.0.1:4222',
  'http://a:4222',
  'nats://',
  'nats://a:4222/x',
  'nats://hub:secret@a:4222',
  '',
]) {
  test(`cluster_servers rejects the address "${address}"`, () => {
    const [line = '', ...more] = problems({ file: `cluster_servers: ["${address}"]` });
    assert.deepEqual(more, []);
    assert.match(line, /cluster_servers\[0\]: must match/);
  });
}

test('The password of a cluster is never shown', () => {
  const [line = ''] = problems(inCluster('cluster_username: hub', 'cluster_password: [secret]'));
  assert.doesNotMatch(line, /secret/);
});
