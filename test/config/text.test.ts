import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { KEYS, settingOf } from '../../src/config/schema.ts';
import { configText, exampleConfigText } from '../../src/config/text.ts';

const FILE = new URL('../../hub_config.yaml', import.meta.url);

function load(file: string, cores = 2) {
  return loadConfig({ env: {}, cwd: '/', cores, readFile: () => file });
}

test('hub_config.yaml is the output of exampleConfigText for the schema', () => {
  assert.equal(readFileSync(FILE, 'utf8'), exampleConfigText());
});

test('exampleConfigText with its settings uncommented is the default configuration', () => {
  const settings = exampleConfigText().replaceAll(/^# (\w+: .*)$/gm, '$1');
  assert.notEqual(settings, exampleConfigText());
  for (const key of KEYS) assert.match(settings, new RegExp(`^${key}: `, 'm'));
  assert.deepEqual(load(settings), load(''));
});

test('settingOf gives every setting a valid default and one line of help', () => {
  for (const key of KEYS) {
    const setting = settingOf(key);
    assert.match(setting.description, /^[^\n]{10,110}\.$/, key);
    assert.notEqual(setting.default, undefined, key);
  }
});

test('configText writes every setting as YAML that can be read back', () => {
  const config = load('port: 9000\nnum_threads: 5\n');
  const { config_path, ...settings } = config;
  assert.equal(config_path, '/');
  const text = configText(config).replace(/^config_path: .*\n/m, '');
  assert.deepEqual({ ...load(text) }, { ...settings, config_path });
});

test('configText hides secrets', () => {
  const text = configText(load('error_type_prefix: hidden'), ['error_type_prefix']);
  assert.doesNotMatch(text, /hidden/);
  assert.match(text, /^error_type_prefix: "\*\*\*"$/m);
});
