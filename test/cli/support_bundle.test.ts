import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseTarGzip } from 'nanotar';
import { scrubber } from '../../src/cli/support/scrub.ts';
import { loadConfig } from '../../src/config/load.ts';
import { KEYS, settingOf } from '../../src/config/schema.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { startCliWith } from './run_cli.ts';

const SECRET = 'correct "horse" battery/staple';
const SECRETS = KEYS.filter((key) => settingOf(key).secret === true);
/** A different value for each secret setting. */
const VALUES = Object.fromEntries(SECRETS.map((key) => [key, `${SECRET} ${key}`]));
const KEY = `olh_0123456789abcdef_${'k'.repeat(43)}`;
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl';

async function bundle(env: Readonly<Record<string, string>>, folder: string, ...args: readonly string[]) {
  const path = join(folder, 'bundle.tar.gz');
  const settings = Object.fromEntries(
    Object.entries(VALUES).map(([key, value]) => [`HUB_${key.toUpperCase()}`, value]),
  );
  const all = { ...settings, HUB_CONFIG_PATH: folder, HUB_MQTT_USER: 'hub', ...env };
  const finished = await startCliWith(all, 'support-bundle', '--out', path, ...args).finished;
  assert.equal(finished.code, 0, finished.err);
  const items = await parseTarGzip(readFileSync(path));
  const files = new Map(items.map(({ name, text }) => [name.replace(/^support-bundle-[^/]+\//, ''), text]));
  return { path, files, out: finished.out };
}

/** Fails if one of the files has a secret: as it is, in JSON, or in a URL. */
function assertWithoutSecrets(files: ReadonlyMap<string, string>): void {
  for (const secret of [...Object.values(VALUES), KEY, TOKEN, 'hunter22']) {
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
      for (const [name, text] of files) assert.ok(!text.includes(form), `${name} has ${form}`);
    }
  }
}

test('The bundle of a running hub has its health, metrics, log, versions and findings, and no secret', async (t) => {
  const folder = temporaryFolder();
  const log = join(folder, 'hub.log');
  const hub = await HubProcess.start(folder, { ...VALUES, mqtt_user: 'hub' });
  t.after(() => hub.stop());
  const lines = [
    ...Object.values(VALUES).map((value) => JSON.stringify({ msg: 'Something failed', password: value })),
    `Cannot reach https://ann:hunter22@broker.example/path, https://ann:p@hunter22@broker.example`,
    `Authorization: Bearer ${KEY}, Bearer ${TOKEN}`,
    `GET /x?token=${encodeURIComponent(VALUES['mqtt_password'] ?? '')}`,
    'The last line',
  ];
  writeFileSync(log, lines.join('\n'));
  writeFileSync(join(folder, 'permissions.yaml'), 'admin: {}\n');
  const origin = new URL(hub.base).origin;
  const { path, files } = await bundle({ HUB_TOKEN: KEY }, folder, '--log', log, '--hub', origin);
  assertWithoutSecrets(files);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const contents = JSON.parse(files.get('contents.json') ?? '') as { files: string[]; missing: object };
  assert.deepEqual(contents.missing, {});
  assert.deepEqual([...files.keys()], [...contents.files, 'contents.json']);
  for (const key of SECRETS) assert.match(files.get('config.yaml') ?? '', new RegExp(`^${key}: "?\\*\\*\\*`, 'm'));
  assert.match(files.get('doctor.txt') ?? '', /^ok .*Node\.js .*\d errors?, \d warnings?\n$/s);
  assert.match(files.get('hub/metrics.txt') ?? '', /^hub_locations_received_total/m);
  assert.equal(JSON.parse(files.get('hub/health_system.json') ?? '').config.includes('mqtt_user: hub'), true);
  assert.ok(JSON.parse(files.get('machine.json') ?? '').memory_bytes > 0);
  assert.equal(JSON.parse(files.get('versions.json') ?? '').node, process.versions.node);
  assert.match(
    files.get('hub.log') ?? '',
    /https:\/\/\*\*\*@broker\.example\/path, https:\/\/\*\*\*@broker\.example\n.*olh_0123456789abcdef_\*\*\*.*The last line$/s,
  );
  assert.equal(files.get('permissions.yaml'), 'admin: {}\n');
});

test('The bundle of a stopped hub says what is missing and why', async () => {
  const folder = temporaryFolder();
  const { files, out } = await bundle({}, folder, '--hub', 'http://127.0.0.1:9');
  assertWithoutSecrets(files);
  const { missing } = JSON.parse(files.get('contents.json') ?? '') as { missing: Record<string, string> };
  assert.match(missing['hub/metrics.txt'] ?? '', /^Cannot read http:\/\/127\.0\.0\.1:9\/metrics: /);
  assert.equal(missing['permissions.yaml'], 'There is no permissions.yaml');
  assert.match(
    out,
    /^Wrote \d+ files to .*bundle\.tar\.gz\nWithout permissions\.yaml: There is no permissions\.yaml\n/,
  );
  assert.ok(files.has('config.yaml') && files.has('doctor.txt') && files.has('machine.json'));
});

test('The command replaces no file, and names a log that it cannot read', async () => {
  const folder = temporaryFolder();
  const taken = join(folder, 'taken');
  writeFileSync(taken, 'precious');
  const env = { HUB_CONFIG_PATH: folder };
  const refused = await startCliWith(env, 'support-bundle', '--out', taken, '--hub', 'http://127.0.0.1:9').finished;
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^Cannot write \S+taken: EEXIST/);
  assert.equal(readFileSync(taken, 'utf8'), 'precious');
  const log = join(folder, 'nothing.log');
  const without = await startCliWith(env, 'support-bundle', '--log', log, '--hub', 'http://127.0.0.1:9').finished;
  assert.equal(without.code, 1);
  assert.match(without.err, /^Cannot read the log \S+nothing\.log: ENOENT/);
});

test('The scrubber replaces secrets that contain each other, and leaves other text', () => {
  const env = {
    ...{ HUB_MQTT_USER: 'hub', HUB_MQTT_PASSWORD: 'swordfish' },
    ...{ HUB_PRIVATE_KEY_PASSWORD: 'swordfish-2', HUB_OPENID_CLIENT_SECRET: 'abc' },
  };
  const scrub = scrubber(loadConfig({ env, cwd: '/', cores: 1, readFile: () => '' }), ['token-of-mine']);
  assert.equal(scrub('swordfish-2 swordfish token-of-mine abc'), '*** *** *** abc');
  const plain = 'GET https://hub.example/hub/v2/zones at 10:00 by ann@example.com, olh_ and eyJ';
  assert.equal(scrub(plain), plain);
});
