import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configText } from '../../src/config/text.ts';

const NAME = 'HUB_ISO_24730_CONNECTIONS';

function load(file: string, env: Readonly<Record<string, string>> = {}) {
  return loadConfig({ env, cwd: '/', cores: 2, readFile: () => file });
}

function problems(file: string, env?: Readonly<Record<string, string>>): readonly string[] {
  try {
    load(file, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const FILE = `iso_24730_connections:
  - host: 10.0.0.5
    port: 4000
    type: uwb
    zone_id: a
  - {host: rtls, port: 5118, type: rfid, foreign_id: hall}
`;
const READ = [
  { host: '10.0.0.5', port: 4000, type: 'uwb', zone_id: 'a' },
  { host: 'rtls', port: 5118, type: 'rfid', foreign_id: 'hall' },
];

test('loadConfig reads the connections of the file', () => {
  assert.deepEqual(load(FILE).iso_24730_connections, READ);
});

test('loadConfig reads the connections of the environment as YAML or JSON, which override those of the file', () => {
  const [first] = READ;
  for (const text of [
    JSON.stringify([first]),
    '[{host: 10.0.0.5, port: 4000, type: uwb, zone_id: a}]',
    '- host: 10.0.0.5\n  port: 4000\n  type: uwb\n  zone_id: a\n',
  ]) {
    assert.deepEqual(load(FILE, { [NAME]: text }).iso_24730_connections, [first]);
    assert.deepEqual(load(FILE, { [`DEEP${NAME}`]: text }).iso_24730_connections, [first]);
  }
});

test('loadConfig reads a list with only comments as no connections', () => {
  assert.deepEqual(load('iso_24730_connections:\n#  - host: a\n').iso_24730_connections, []);
  assert.deepEqual(load(FILE, { [NAME]: 'null' }).iso_24730_connections, []);
  assert.deepEqual(load(FILE, { [NAME]: '[]' }).iso_24730_connections, []);
});

test('configText writes connections as YAML that can be read back', () => {
  const text = configText(load(FILE)).replace(/^config_path: .*\n/m, '');
  assert.deepEqual(load(text).iso_24730_connections, READ);
});

test('loadConfig names every invalid part of a connection, with its line', () => {
  const file = `port: 9000
iso_24730_connections:
  - host: 10.0.0.5
    port: many
    type: radar
    zone_id: a
  - hots: rtls
    port: 70000
    type: uwb
    zone_id: a
    foreign_id: b
  - {host: rtls, port: 1,
     type: uwb, zone_id: 7}
  - host: ""
    port: 1
    type: gps
  - rtls:4000
`;
  const types = 'uwb, gps, wifi, rfid, ibeacon, ble-aoa, ble-mesh, virtual, unknown';
  assert.deepEqual(problems(file), [
    'hub_config.yaml:4: iso_24730_connections[0].port: must be an integer, found "many"',
    `hub_config.yaml:5: iso_24730_connections[0].type: must be one of ${types}, found "radar"`,
    'hub_config.yaml:7: iso_24730_connections[1].hots: is no setting of a connection; did you mean "host"?',
    'hub_config.yaml:8: iso_24730_connections[1].port: must be <= 65535, found 70000',
    'hub_config.yaml:7: iso_24730_connections[1].host: is required, but is missing',
    'hub_config.yaml:7: iso_24730_connections[1]: must have either zone_id or foreign_id, found both',
    'hub_config.yaml:13: iso_24730_connections[2].zone_id: must be a string, found 7',
    'hub_config.yaml:14: iso_24730_connections[3].host: must have at least 1 characters, found ""',
    'hub_config.yaml:14: iso_24730_connections[3]: must have either zone_id or foreign_id, found neither',
    'hub_config.yaml:17: iso_24730_connections[4]: must have host, port, type and zone_id or foreign_id, found "rtls:4000"',
  ]);
});

test('loadConfig names errors in the connections of the environment', () => {
  const found = (text: string) => problems('', { [NAME]: text });
  assert.deepEqual(found('rtls:4000'), [
    `environment: ${NAME}: must be a list of {host, port, type, zone_id or foreign_id}, found "rtls:4000"`,
  ]);
  assert.deepEqual(found('{host: a}'), [
    `environment: ${NAME}: must be a list of {host, port, type, zone_id or foreign_id}, found {"host":"a"}`,
  ]);
  assert.deepEqual(found('[{host: a, port: 0, type: uwb, zone_id: a}]'), [
    `environment: ${NAME}[0].port: must be >= 1, found 0`,
  ]);
  assert.match(found('[{host: a')[0] ?? '', /^environment: HUB_ISO_24730_CONNECTIONS: cannot be read as YAML: /);
});

test('loadConfig names a value that is not a list, with the line of its key', () => {
  assert.deepEqual(problems('port: 1\niso_24730_connections: 4000\n'), [
    'hub_config.yaml:2: iso_24730_connections: must be a list of {host, port, type, zone_id or foreign_id}, found 4000',
  ]);
});
