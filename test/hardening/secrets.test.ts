import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { KEYS, settingOf } from '../../src/config/schema.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const SECRET = 'correct horse battery staple';
const SECRETS = KEYS.filter((key) => settingOf(key).secret === true);

test('Every setting named password, secret or key text is secret', () => {
  const sounding = KEYS.filter((key) => /password|secret|token|license_key$/.test(key));
  assert.deepEqual(
    sounding.filter((key) => !SECRETS.includes(key)),
    [],
  );
  assert.ok(SECRETS.includes('private_key_password'));
});

test('A secret is neither in the log nor in /health/system and /metrics', async () => {
  const settings = Object.fromEntries(SECRETS.map((key) => [key, `${SECRET} ${key}`]));
  const hub = await HubProcess.start(temporaryFolder(), { ...settings, severity_level: 'Trace', mqtt_user: 'hub' });
  const health = await hub.get('/health/system');
  assert.equal(health?.status, 200);
  for (const key of SECRETS) assert.match(health?.body.config, new RegExp(`^${key}: "?\\*\\*\\*`, 'm'));
  const texts = [JSON.stringify(health?.body), await (await fetch(new URL('/metrics', hub.base))).text()];
  await fetch(`${hub.base}/zones`, { method: 'POST', body: '{"bad"' });
  const { stdout, stderr } = await hub.stop();
  for (const text of [...texts, stdout, stderr]) assert.ok(!text.includes(SECRET), text);
});

test('An invalid secret is not in the error message', () => {
  for (const key of SECRETS) {
    for (const [given, file] of [
      [{}, `${key}: [${SECRET}]`],
      [{}, `${key}: {a: ${SECRET}}`],
      [{}, `${key}: ""\n`],
    ] as const) {
      assert.throws(
        () => loadConfig({ env: given, cwd: '/', cores: 1, readFile: () => file }),
        (error: Error) =>
          error instanceof ConfigError && error.message.includes(key) && !error.message.includes(SECRET),
      );
    }
  }
});
