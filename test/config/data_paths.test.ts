import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { dataFile, historyFolder } from '../../src/config/settings.ts';

const ROWS: readonly [what: string, file: string, data: string, history: string][] = [
  ['no path: the folder of the configuration', '', '/etc/hub/data.dat', '/etc/hub/history'],
  ['a folder for the data', 'data_path: /var/lib/hub', '/var/lib/hub/data.dat', '/var/lib/hub/history'],
  ['a relative folder', 'data_path: data', '/etc/hub/data/data.dat', '/etc/hub/data/history'],
  ['a folder for the history', 'history_path: past', '/etc/hub/data.dat', '/etc/hub/past'],
  ['both', 'data_path: /var/lib/hub\nhistory_path: /srv/past', '/var/lib/hub/data.dat', '/srv/past'],
];

for (const [what, file, data, history] of ROWS) {
  test(`The hub stores its data and history as configured: ${what}`, () => {
    const env = { HUB_CONFIG_PATH: '/etc/hub' };
    const config = loadConfig({ env, cwd: '/', cores: 2, readFile: () => file });
    assert.deepEqual([dataFile(config), historyFolder(config)], [data, history]);
  });
}
