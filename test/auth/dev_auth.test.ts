import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../bench/process/free_port.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const DEV_AUTH = new URL('dev/dev_auth.ts', import.meta.url).pathname;

const curl = spawnSync('curl', ['--version']).status === 0;

test('dev:auth starts hub and identity server, and prints a working curl command', {
  skip: !curl && 'there is no curl',
}, async (t) => {
  const folder = temporaryFolder();
  const [hubPort, identityPort] = [await freePort(), await freePort()];
  const ports = { HUB_PORT: String(hubPort), IDENTITY_PORT: String(identityPort) };
  const env = { ...process.env, ...ports, HUB_NUM_THREADS: '1', HUB_CONFIG_PATH: folder };
  const child = spawn(process.execPath, [DEV_AUTH], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) break;
  }
  const [ready, renewed] = printed.split('\n').filter((line) => line.startsWith('  curl '));
  const run = async (line: string | undefined): Promise<string> => {
    return (await promisify(execFile)('sh', ['-c', `${line} --silent --show-error --write-out ' %{http_code}'`]))
      .stdout;
  };
  assert.equal(await run(ready), '[] 200');
  assert.match(await run(renewed), /"access_token".* 200$/);
  assert.match(await run(ready?.replace('Bearer e', 'Bearer f')), / 401$/);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});
