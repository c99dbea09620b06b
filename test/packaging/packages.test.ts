import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { usesHub } from './uses_hub.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MB = 1024 * 1024;

const folder = temporaryFolder();

/** Paths of the built packages, by kind. */
const built = new Map<string, string>();
before(() => {
  for (const kind of ['npm', 'deb']) {
    const args = [join(ROOT, 'deploy/packages/command.ts'), kind, '--out', folder];
    const printed = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const [path] = printed.split('  ');
    assert.ok(path !== undefined && existsSync(path), printed);
    built.set(kind, path);
  }
});

test('The npm package runs from an empty folder without a compiler, in at most 150 MB', async () => {
  const home = join(folder, 'home');
  const app = join(folder, 'app');
  for (const path of [home, app]) mkdirSync(path);
  // Node and npm, and no other programs than those of npm's shell.
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['sh', 'env']) symlinkSync(`/bin/${name}`, join(bin, name));
  const npm = dirname(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
  const path = [dirname(process.execPath), bin, npm].join(delimiter);
  const env = { ...process.env, HOME: home, PATH: path };
  const tarball = built.get('npm') ?? '';
  execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: app, env, stdio: 'pipe' });
  const [size = ''] = execFileSync('du', ['-sm', 'node_modules'], { cwd: app, encoding: 'utf8' }).split('\t');
  assert.ok(Number(size) <= 150, `node_modules has ${size} MB`);

  const command = join(app, 'node_modules/.bin/location-hub');
  const data = join(folder, 'data');
  mkdirSync(data);
  await usesHub({ command, args: ['start'], cwd: data, env: { HOME: home, PATH: path } });
  const help = spawnSync(command, ['tail', '--help'], { cwd: data, env, encoding: 'utf8' });
  assert.equal(help.status, 0, help.stderr);
  assert.match(help.stdout, /Usage: hub tail/);
});

const CHROOT = '/usr/sbin/chroot';
const noRoot = process.getuid?.() === 0 ? undefined : 'it must be root to install packages';
const noMaker = spawnSync('mmdebstrap', ['--version']).status === 0 ? undefined : 'there is no mmdebstrap';

test('The Debian package runs in a fresh root, and leaves its data until it is purged', {
  skip: noRoot ?? noMaker ?? false,
}, async () => {
  const root = join(folder, 'root');
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter(existsSync).slice(0, 1);
  const options = ['--mode=root', '--variant=essential', '--include=libstdc++6,passwd', '--quiet'];
  execFileSync('mmdebstrap', [...options, 'bookworm', root, ...sources], { stdio: 'pipe' });
  const deb = built.get('deb') ?? '';
  assert.ok(statSync(deb).size < 80 * MB);
  cpSync(deb, join(root, 'hub.deb'));
  const dpkg = (...args: readonly string[]) => execFileSync(CHROOT, [root, 'dpkg', ...args], { stdio: 'pipe' });
  dpkg('--install', '/hub.deb');

  const unit = readFileSync(join(root, 'usr/lib/systemd/system/location-hub.service'), 'utf8');
  const [, started = ''] = unit.match(/^ExecStart=(.+)$/m) ?? [];
  const variables = [...unit.matchAll(/^Environment=(.+)$/gm)].flatMap(([, text = '']) => text.split(' '));
  const user = 'location-hub';
  await usesHub({
    command: CHROOT,
    args: [`--userspec=${user}:${user}`, root, ...started.split(' ')],
    env: Object.fromEntries(variables.map((text) => text.split('=') as [string, string])),
  });
  const { uid, mode } = statSync(join(root, 'var/lib/location-hub/data.dat'));
  assert.notEqual(uid, 0);
  assert.equal(mode & 0o077, 0);

  dpkg('--remove', 'location-hub');
  const places = ['etc/location-hub/hub_config.yaml', 'var/lib/location-hub/data.dat', 'usr/lib/location-hub'];
  const left = () => places.map((path) => existsSync(join(root, path)));
  assert.deepEqual(left(), [true, true, false]);
  dpkg('--purge', 'location-hub');
  assert.deepEqual(left(), [false, false, false]);
  assert.doesNotMatch(readFileSync(join(root, 'etc/passwd'), 'utf8'), /location-hub/);
});
