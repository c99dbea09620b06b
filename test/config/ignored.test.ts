import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALIASES } from '../../src/config/aliases.ts';
import { type Config, KEYS } from '../../src/config/schema.ts';
import { IGNORED_SETTINGS } from '../../src/config/ignored_settings.ts';
import { type Given, load } from './given.ts';

/** Facts of each warning of loadConfig. */
function warnings(given: Given): readonly object[] {
  const warned: object[] = [];
  load(given, (_, facts) => warned.push(facts));
  return warned;
}

const WARNED: readonly [name: string, given: Given, warned: readonly object[], expected: Partial<Config>][] = [
  ['does not warn of settings', { file: 'cors: false', env: { HUB_PORT: '1', HUB_HOST: '', PATH: '/bin' } }, [], {}],
  [
    'ignores unknown variables with one warning',
    { env: { HUB_PROT: '1', DEEPHUB_WEATHER: 'x', HUB_COLOUR: 'red' } },
    [{ variables: ['DEEPHUB_WEATHER', 'HUB_COLOUR', 'HUB_PROT; did you mean "HUB_PORT"?'] }],
    { port: 8081 },
  ],
  [
    'ignores variables that Kubernetes sets for a service named hub, and keeps the port of the file',
    {
      file: 'port: 9000',
      env: {
        HUB_SERVICE_HOST: '10.0.0.1',
        HUB_SERVICE_PORT: '8081',
        HUB_SERVICE_PORT_HTTP: '8081',
        HUB_PORT: 'tcp://10.0.0.1:8081',
        HUB_PORT_8081_TCP: 'tcp://10.0.0.1:8081',
        HUB_PORT_8081_TCP_PROTO: 'tcp',
        HUB_PORT_8081_TCP_PORT: '8081',
        HUB_PORT_8081_TCP_ADDR: '10.0.0.1',
      },
    },
    [
      {
        variables: [
          'HUB_PORT=tcp://10.0.0.1:8081',
          'HUB_PORT_8081_TCP',
          'HUB_PORT_8081_TCP_ADDR',
          'HUB_PORT_8081_TCP_PORT',
          'HUB_PORT_8081_TCP_PROTO',
          'HUB_SERVICE_HOST',
          'HUB_SERVICE_PORT',
          'HUB_SERVICE_PORT_HTTP',
        ],
      },
    ],
    { port: 9000 },
  ],
  [
    'ignores the addresses of services whose names make other ports',
    { env: { DEEPHUB_PORT: 'udp://[fd00::1]:8081', HUB_CASSANDRA_PORT: 'TCP://10.0.0.2:9042', HUB_PORT: '9001' } },
    [{ variables: ['DEEPHUB_PORT=udp://[fd00::1]:8081', 'HUB_CASSANDRA_PORT=TCP://10.0.0.2:9042'] }],
    { port: 9001, widecolumn_port: 9042 },
  ],
  [
    'ignores settings of the reference hub without effect here, with one warning',
    {
      file: 'doc_root: /www\nrecord_path: /tmp\ncors: false\ncassandra_io_threads: 4\nplayback_speed: 2\n',
      env: { DEEPHUB_LICENSE_SERVER_ADDRESS: 'https://x', HUB_PLAYBACK_SPEED: '2', DEEPHUB_PLAYBACK_PATH: '/tmp' },
    },
    [
      {
        settings: [
          'hub_config.yaml:1: doc_root',
          'hub_config.yaml:2: record_path',
          'hub_config.yaml:4: cassandra_io_threads',
          'hub_config.yaml:5: playback_speed',
          'DEEPHUB_LICENSE_SERVER_ADDRESS',
          'DEEPHUB_PLAYBACK_PATH',
          'HUB_PLAYBACK_SPEED',
        ],
      },
    ],
    { cors: false },
  ],
];

for (const [name, given, warned, expected] of WARNED) {
  test(`loadConfig ${name}`, () => {
    assert.deepEqual(warnings(given), warned);
    const config = load(given);
    assert.deepEqual({ ...config, ...expected }, config);
  });
}

test('No setting of the hub, and no alias of one, is among the ignored settings', () => {
  const used = [...KEYS, ...ALIASES.keys()].filter((name) => IGNORED_SETTINGS.has(name));
  assert.deepEqual(used, []);
});
