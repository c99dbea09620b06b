import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { clusterSettings, shardSettings } from '../../src/config/settings.ts';

function load(file: string, env: Readonly<Record<string, string>> = {}) {
  return loadConfig({ env, cwd: '/', cores: 2, readFile: () => file });
}

function problems(file: string): readonly string[] {
  try {
    load(file);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('filters are read from the file or a variable, for all objects and by type of provider', () => {
  const expected = { all: { kind: 'cv', max_gap: 3000 }, types: { gps: { default_accuracy: 5 } } };
  const file = 'filters:\n  - {kind: cv, max_gap: 3000}\n  - {provider_type: gps, default_accuracy: 5}\n';
  assert.deepEqual(shardSettings(load(file)).settings.filters, expected);
  const HUB_FILTERS = '[{kind: cv, max_gap: 3000}, {provider_type: gps, default_accuracy: 5}]';
  assert.deepEqual(shardSettings(load('', { HUB_FILTERS })).settings.filters, expected);
  assert.equal(shardSettings(load('')).settings.filters, undefined);
});

test('hubs of a cluster must have the same filters', () => {
  const alike = (file: string) => clusterSettings(load(`cluster_servers: [nats://a]\n${file}`), 'here')?.alike ?? [];
  const filtered = alike('filters: [{kind: cv}]\n').filter((setting) => !alike('').includes(setting));
  assert.deepEqual(filtered, ['filters: [{"kind":"cv"}]']);
});

test('each invalid member is reported with its line and value', () => {
  const file = `filters:
  - {kind: kalman, gat: 3}
  - provider_type: laser
    max_gap: -1
    default_accuracy: 0
  - kind: cv
  - 7
`;
  assert.deepEqual(problems(file), [
    'hub_config.yaml:2: filters[0].gat: is no setting of a filter; did you mean "gate"?',
    'hub_config.yaml:2: filters[0].kind: must be one of none, cv, found "kalman"',
    'hub_config.yaml:3: filters[1].provider_type: must be one of uwb, gps, wifi, rfid, ibeacon, ble-aoa, ble-mesh, virtual, unknown, found "laser"',
    'hub_config.yaml:5: filters[1].default_accuracy: must be > 0, found 0',
    'hub_config.yaml:4: filters[1].max_gap: must be >= 0, found -1',
    'hub_config.yaml:6: filters[2]: must have a provider_type, because an earlier filter has none',
    'hub_config.yaml:7: filters[3]: must have members such as kind, found 7',
  ]);
  assert.deepEqual(problems('filters: cv\n'), [
    'hub_config.yaml:1: filters: must be a list of {provider_type, kind, default_accuracy …}, found "cv"',
  ]);
});
