import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { loadConfig, readConfigFile } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { type Given, load } from './given.ts';

function problems(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const accepted: [name: string, given: Given, expected: Partial<Config>][] = [
  ['uses the defaults without file and environment', {}, { host: '127.0.0.1', port: 8081, persist_locations: true }],
  ['accepts an empty file', { file: '' }, { port: 8081 }],
  ['accepts a file of comments', { file: '# nothing\n---\n' }, { port: 8081 }],
  ['reads the file', { file: 'port: 9000\ncors: false\n' }, { port: 9000, cors: false }],
  ['puts the environment over the file', { file: 'port: 9000', env: { HUB_PORT: '9001' } }, { port: 9001 }],
  ['accepts DEEPHUB_ as an alias', { file: 'port: 9000', env: { DEEPHUB_PORT: '9002' } }, { port: 9002 }],
  ['puts HUB_ over DEEPHUB_', { env: { DEEPHUB_PORT: '9002', HUB_PORT: '9001' } }, { port: 9001 }],
  ['reads 0 of the environment as false', { env: { HUB_CORS: '0' } }, { cors: false }],
  ['reads 1 of the environment as true', { file: 'cors: false', env: { HUB_CORS: '1' } }, { cors: true }],
  ['reads true and false of the environment', { env: { HUB_CORS: 'false' } }, { cors: false }],
  [
    'keeps a string of digits if a string is expected',
    { env: { HUB_ERROR_TYPE_PREFIX: '12' } },
    { error_type_prefix: '12' },
  ],
  ['does not set an empty variable', { env: { HUB_PORT: '' } }, { port: 8081 }],
  ['leaves one core to the front thread', { cores: 8 }, { num_threads: 7 }],
  ['uses one thread on one core', { cores: 1 }, { num_threads: 1 }],
  ['keeps a number of threads', { file: 'num_threads: 3', cores: 8 }, { num_threads: 3 }],
  [
    'chooses the number of threads for null',
    { file: 'num_threads: 2', env: { HUB_NUM_THREADS: 'null' } },
    { num_threads: 3 },
  ],
  ['turns localhost into the address', { file: 'host: localhost' }, { host: '127.0.0.1' }],
  ['keeps another host', { env: { HUB_HOST: '0.0.0.0' } }, { host: '0.0.0.0' }],
  ['reads the word null with quotes', { file: 'fence_event_provider_id: "null"' }, { fence_event_provider_id: 'null' }],
  [
    'reads the word null without quotes',
    { file: 'fence_event_provider_id: null' },
    { fence_event_provider_id: 'null' },
  ],
  [
    'reads the word null of the environment',
    { env: { HUB_FENCE_EVENT_PROVIDER_ID: 'null' } },
    { fence_event_provider_id: 'null' },
  ],
  [
    'reads booleans of the environment in any letter case',
    { env: { HUB_CORS: 'False', HUB_FORCE_HTTPS: 'TRUE', DEEPHUB_DB_FAST_WRITES: 'fAlSe' } },
    { cors: false, force_https: true, db_fast_writes: false },
  ],
  [
    "ignores the reference's web interface",
    { env: { DEEPHUB_ROOT_URL: 'x', DEEPHUB_AUTH_ISSUER: 'y', DEEPHUB_MAP_MINZOOM: '1' } },
    {},
  ],
  ['ignores other variables', { env: { HUBBLE: '1', PATH: '/bin', hub_port: '1' } }, { port: 8081 }],
  ['accepts cassandra as a name of widecolumn', { file: 'db_type: cassandra' }, { db_type: 'widecolumn' }],
  [
    'accepts cassandra_ for widecolumn_, in the file and in the environment',
    { file: 'cassandra_keyspace: plant\nwidecolumn_port: 1', env: { DEEPHUB_CASSANDRA_PORT: '9142' } },
    { widecolumn_keyspace: 'plant', widecolumn_port: 9142 },
  ],
  [
    'puts widecolumn_ over cassandra_ in the environment',
    { env: { HUB_WIDECOLUMN_RATE: '2.5', HUB_CASSANDRA_RATE: '1' } },
    { widecolumn_rate: 2.5 },
  ],
  ['accepts a map file in its folder', { file: 'map_tile_url: town.pmtiles' }, { map_tile_url: 'town.pmtiles' }],
  ['reads hosts of a list', { file: 'widecolumn_hosts: [db-1, db-2]' }, { widecolumn_hosts: ['db-1', 'db-2'] }],
  ['parses hosts in one string', { file: 'cassandra_hosts: db-1, db-2' }, { widecolumn_hosts: ['db-1', 'db-2'] }],
  [
    'reads hosts of the environment, with commas between and as a list',
    { env: { HUB_WIDECOLUMN_HOSTS: '10.0.0.1,::1' } },
    { widecolumn_hosts: ['10.0.0.1', '::1'] },
  ],
  [
    'reads a list of hosts of the environment',
    { env: { HUB_CASSANDRA_HOSTS: '[a, b]' } },
    { widecolumn_hosts: ['a', 'b'] },
  ],
  [
    'keeps a password of digits in the environment',
    { env: { HUB_WIDECOLUMN_PASSWORD: '0123' } },
    { widecolumn_password: '0123' },
  ],
  [
    'accepts a replication by data centers',
    { file: `widecolumn_replication_strategy: "{'class': 'NetworkTopologyStrategy', 'dc-1': 3, 'dc2': '2'}"` },
    { widecolumn_replication_strategy: "{'class': 'NetworkTopologyStrategy', 'dc-1': 3, 'dc2': '2'}" },
  ],
  [
    'ignores a line feed after a value',
    { env: { HUB_LANE_CAPACITY: '7000\n', HUB_SEVERITY_LEVEL: 'Error\r\n', HUB_WIDECOLUMN_PASSWORD: 'secret \n' } },
    { lane_capacity: 7000, severity_level: 'Error', widecolumn_password: 'secret ' },
  ],
  [
    'ignores the final line feed of a block',
    { file: 'widecolumn_password: |\n  secret\n' },
    { widecolumn_password: 'secret' },
  ],
  ['reads a file with CRLF', { file: 'port: 9000\r\ncors: false\r\n' }, { port: 9000, cors: false }],
  ['accepts HUB_CONFIG_PATH with a line feed', { env: { HUB_CONFIG_PATH: '/data\r' } }, { config_path: '/data' }],
  [
    'accepts paths of claims with quotes, and as lists of names',
    { file: 'openid_role_claims: [groups, resource_access."plant.apps".roles, [a, "b.c"]]' },
    { openid_role_claims: ['groups', 'resource_access."plant.apps".roles', ['a', 'b.c']] },
  ],
  [
    'accepts paths of claims in the environment',
    { env: { HUB_OPENID_ROLE_CLAIMS: '[cognito:groups, [a, "b.c"]]' } },
    { openid_role_claims: ['cognito:groups', ['a', 'b.c']] },
  ],
  [
    'accepts addresses and networks of proxies in one string',
    { env: { HUB_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8, ::1', HUB_BASE_PATH: '/site/rtls' } },
    { trusted_proxies: ['10.0.0.0/8', 'fd00::/8', '::1'], base_path: '/site/rtls' },
  ],
  ['uses the current folder', {}, { config_path: '/home/hub' }],
  ['uses the folder HUB_CONFIG_PATH', { env: { HUB_CONFIG_PATH: '/data' } }, { config_path: '/data' }],
  ['resolves a relative HUB_CONFIG_PATH', { env: { HUB_CONFIG_PATH: 'etc' } }, { config_path: '/home/hub/etc' }],
  ['takes DEEPHUB_CONFIG_PATH', { env: { DEEPHUB_CONFIG_PATH: '/data' } }, { config_path: '/data' }],
];

for (const [name, given, expected] of accepted) {
  test(`loadConfig ${name}`, () => {
    const config = load(given);
    assert.deepEqual({ ...config, ...expected }, config);
  });
}

const refused: [name: string, given: Given, expected: readonly string[]][] = [
  [
    'a setting under both its names',
    { file: 'cassandra_port: 1\nwidecolumn_port: 2' },
    ['hub_config.yaml:2: widecolumn_port: is set already, at hub_config.yaml:1'],
  ],
  [
    'an alias with a value that does not fit',
    { file: 'cassandra_port: 0' },
    ['hub_config.yaml:1: cassandra_port: must be >= 1, found 0'],
  ],
  [
    'a host without a name',
    { file: 'widecolumn_hosts: "a,,b"' },
    ['hub_config.yaml:1: widecolumn_hosts[1]: must have at least 1 characters, found ""'],
  ],
  [
    'paths of claims with an unterminated quote',
    { file: 'openid_role_claims:\n  - a."b\n  - []\n  - 7' },
    [2, 3, 4].map((line, i) => {
      const found = ['"a.\\"b"', '[]', '7'][i];
      const wanted = 'must be a name, a path such as resource_access."plant.apps".roles, or a list of names';
      return `hub_config.yaml:${line}: openid_role_claims[${i}]: ${wanted}, found ${found}`;
    }),
  ],
  [
    'proxies that are no addresses',
    { file: 'trusted_proxies: ["proxy.lan", "10.0.0.0/33", "10.0.0.1/8/9", 7]' },
    ['"proxy.lan"', '"10.0.0.0/33"', '"10.0.0.1/8/9"', '7'].map((found, i) => {
      const wanted = 'must be an IP address, a network such as 10.0.0.0/8, or "*"';
      return `hub_config.yaml:1: trusted_proxies[${i}]: ${wanted}, found ${found}`;
    }),
  ],
  [
    'an invalid base path',
    { file: 'base_path: rtls/' },
    [
      'hub_config.yaml:1: base_path: must be a path such as /rtls, without a slash at its end and without hub-ui in it, found "rtls/"',
    ],
  ],
  [
    'no hosts',
    { file: 'widecolumn_hosts: []' },
    ['hub_config.yaml:1: widecolumn_hosts: must have at least 1 items, found []'],
  ],
  [
    'an unknown key',
    { file: 'cors: true\nprot: 1' },
    ['hub_config.yaml:2: prot: is no setting of the hub; did you mean "port"?'],
  ],
  ['an unknown key like no other', { file: 'zebra: 1' }, ['hub_config.yaml:1: zebra: is no setting of the hub']],
  ['a text for a number', { file: '\nport: many' }, ['hub_config.yaml:2: port: must be an integer, found "many"']],
  ['a number out of range', { file: 'port: 70000' }, ['hub_config.yaml:1: port: must be <= 65535, found 70000']],
  [
    'a map file in another folder',
    { file: 'map_tile_url: ../town.pmtiles' },
    [
      'hub_config.yaml:1: map_tile_url: must match pattern "^((https?://|/)[^\\s;,]+|[\\w-][\\w.-]*\\.pmtiles)$", found "../town.pmtiles"',
    ],
  ],
  ['a fraction', { env: { HUB_PORT: '80.5' } }, ['environment: HUB_PORT: must be an integer, found 80.5']],
  ['a key without value', { file: 'port:' }, ['hub_config.yaml:1: port: must be an integer, found null']],
  ["YAML 1.1's yes", { file: 'cors: yes' }, ['hub_config.yaml:1: cors: must be true or false, found "yes"']],
  [
    'an unknown word',
    { file: 'severity_level: Loud' },
    ['hub_config.yaml:1: severity_level: must be one of Fatal, Error, Warning, Info, Debug, Trace, found "Loud"'],
  ],
  ['a list', { file: '- port' }, ['hub_config.yaml:1: must be lines of "key: value", found ["port"]']],
  ['a bare text', { file: 'port 8081' }, ['hub_config.yaml:1: must be lines of "key: value", found "port 8081"']],
  [
    'a key that is set twice',
    { file: 'port: 1\ncors: true\nport: 2' },
    ['hub_config.yaml:3: port: is set already, at hub_config.yaml:1'],
  ],
  [
    'a tab',
    { file: 'cors: true\n\tport: 1' },
    ['hub_config.yaml:2: cannot be read as YAML: Tabs are not allowed as indentation'],
  ],
  [
    'a second document',
    { file: 'port: 1\n---\nport: 2' },
    ['hub_config.yaml:2: cannot be read as YAML: a second document begins here'],
  ],
  ['a tag', { file: 'port: !big 1' }, ['hub_config.yaml:1: cannot be read as YAML: Unresolved tag: !big']],
  [
    'invalid YAML, in one line',
    { file: '{ port: 1\n  cors: [true\n: : "x\n}} - a: b: c\n' },
    ['hub_config.yaml:1: cannot be read as YAML: Implicit keys need to be on a single line'],
  ],
  [
    'config_path in the file',
    { file: 'config_path: /data' },
    ['hub_config.yaml:1: config_path: is set by the environment variable HUB_CONFIG_PATH, not in the file'],
  ],
  [
    'an address of a service in the file',
    { file: 'port: tcp://10.0.0.1:8081' },
    ['hub_config.yaml:1: port: must be an integer, found "tcp://10.0.0.1:8081"'],
  ],
  [
    'a text for the port that is no address of a service',
    { env: { HUB_PORT: 'tcp://10.0.0.1' } },
    ['environment: HUB_PORT: must be an integer, found "tcp://10.0.0.1"'],
  ],
  ['an invalid boolean', { env: { HUB_CORS: 'on' } }, ['environment: HUB_CORS: must be true or false, found "on"']],
  [
    'a mistake in the file that the environment hides',
    { file: 'port: x', env: { HUB_PORT: '1' } },
    ['hub_config.yaml:1: port: must be an integer, found "x"'],
  ],
];

for (const [name, given, expected] of refused) {
  test(`loadConfig rejects ${name}`, () => {
    assert.deepEqual(problems(given), expected);
  });
}

test('loadConfig reports all errors at once, in order', () => {
  const found = problems({
    file: 'port: x\nprot: 1\ncors: maybe\ncors: true',
    env: { HUB_DB_TYPE: 'oracle', HUB_CONFIG_PATH: '/data', HUB_ZEBRA: '1', HUB_CORS: 'on' },
  });
  assert.deepEqual(
    found.map((problem) => problem.split(':').slice(0, 3).join(':')),
    [
      '/data/hub_config.yaml:1: port',
      '/data/hub_config.yaml:2: prot',
      '/data/hub_config.yaml:3: cors',
      '/data/hub_config.yaml:4: cors',
      'environment: HUB_CORS: must be true or false, found "on"',
      'environment: HUB_DB_TYPE: must be one of sqlite, widecolumn, found "oracle"',
    ].map((problem) => problem.split(':').slice(0, 3).join(':')),
  );
});

test('ConfigError has one line for each problem', () => {
  assert.equal(new ConfigError(['a: b', 'c: d']).message, 'a: b\nc: d');
});

test('loadConfig freezes the configuration', () => {
  assert.throws(() => Object.assign(load({}), { port: 1 }), TypeError);
});

test('readConfigFile distinguishes a missing file, a missing folder, and a file instead of the folder', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'hub_config.yaml'), 'port: 9\n');
  const loadIn = (path: string) =>
    loadConfig({ env: { HUB_CONFIG_PATH: path }, cwd: '/', cores: 2, readFile: readConfigFile });

  assert.equal(loadIn(folder).port, 9);
  rmSync(join(folder, 'hub_config.yaml'));
  assert.equal(loadIn(folder).port, 8081);
  assert.throws(
    () => loadIn(join(folder, 'none')),
    /^ConfigError: environment: HUB_CONFIG_PATH: cannot read .*none\/hub_config.yaml: there is no folder .*none$/,
  );
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => loadIn(join(folder, 'file')), /HUB_CONFIG_PATH: cannot read .*ENOTDIR/);
});

const ENCODED: readonly [name: string, bytes: Buffer][] = [
  ['UTF-8', Buffer.from('widecolumn_password: größe')],
  ['UTF-8 with a byte order mark', Buffer.from('\uFEFFwidecolumn_password: größe')],
  ['UTF-16 as PowerShell writes it', Buffer.from('\uFEFFwidecolumn_password: größe\r\n', 'utf16le')],
  ['UTF-16 in the other order', Buffer.from('\uFEFFwidecolumn_password: größe', 'utf16le').swap16()],
];

for (const [name, bytes] of ENCODED) {
  test(`loadConfig reads a file in ${name}`, () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'hub_config.yaml'), bytes);
    const config = loadConfig({ env: {}, cwd: folder, cores: 1, readFile: readConfigFile });
    assert.equal(config.widecolumn_password, 'größe');
  });
}

test('loadConfig rejects a file in an encoding other than UTF-8', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'hub_config.yaml'), Buffer.from('widecolumn_password: größe', 'latin1'));
  const read = () => loadConfig({ env: {}, cwd: folder, cores: 1, readFile: readConfigFile });
  assert.throws(read, /hub_config\.yaml: cannot read .*: it must be text in UTF-8, found bytes that are not UTF-8$/);
});
