import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFile } from './run_cli.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const CLI = fileURLToPath(new URL('../../src/cli/cli.ts', import.meta.url));

/** Runs npm in a project with the scripts of this one, but with a launcher that installs nothing. */
async function npm(...args: readonly string[]) {
  const scripts = { start: `node ${MAIN}`, demo: `node ${CLI} demo`, hub: `node ${CLI}` };
  const manifest = temporaryFile(
    'package.json',
    JSON.stringify({ name: 'x', version: '1.0.0', type: 'module', scripts }),
  );
  const folder = dirname(manifest);
  const path = dirname(process.execPath) + delimiter + (process.env['PATH'] ?? '');
  const env = { ...process.env, PATH: path, HUB_PORT: '0', HUB_CONFIG_PATH: folder };
  const child = spawn('npm', ['--loglevel=silent', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

test('npm start -- --help prints the usage', async () => {
  const { code, out, err } = await npm('start', '--', '--help');
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  assert.match(out, /^Usage: npm start -- \[--setting value\]\.\.\.\n/);
  assert.match(out, /\n {2}--port 8081\n {6}Port of the API/);
  assert.ok(out.endsWith('\n'));
});

/** Mistyped arguments, and the complete error line. */
const MISTAKES: readonly [typed: readonly string[], line: RegExp][] = [
  [['start', '--', '--prot', '27002'], /^arguments: --prot: .*; did you mean "--port"\?\n$/],
  [['start', '--port', '27002'], /^npm has taken --port for itself\. Type: npm start -- --port 27002\n$/],
  [['start', '--prot', '27002'], /^arguments: 27002: is no setting of the hub, see npm start -- --help\n$/],
  [['run', 'demo', '--seed', '7'], /^npm has taken --seed for itself\. Type: npm run demo -- --seed 7\n$/],
  [
    ['run', 'hub', 'migrate', '--dry-run'],
    /^npm has taken --dry-run for itself\. Type: npm run hub -- migrate --dry-run\n$/,
  ],
  [['run', 'demo', '--', '--sed', '7'], /^error: unknown option '--sed'\n\(Did you mean --seed\?\)\n$/],
  [['run', 'demo', '--', '7'], /^error: too many arguments for 'demo'\. .*\n$/],
];

for (const [typed, line] of MISTAKES) {
  test(`npm ${typed.join(' ')} starts nothing, and reports the reason`, async () => {
    const { code, out, err } = await npm(...typed);
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, line);
  });
}
