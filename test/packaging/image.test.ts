import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { type Program, usesHub } from './uses_hub.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const noRoot = process.getuid?.() === 0 ? undefined : 'it must be root to mount and to change its user';
const missing = ['mmdebstrap', 'unshare'].find((name) => spawnSync(name, ['--version']).status !== 0);
const skip = noRoot ?? (missing === undefined ? false : `there is no ${missing}`);

/** A user that the image does not have. */
const USER = '54321:0';
/** Mounts a root read-only, with a volume, and runs a command there. */
const RUN = `set -e
root=$1 volume=$2 folder=$3; shift 3
mount --bind "$root" "$root"
mount --bind -o remount,ro "$root"
mount --bind "$volume" "$root$folder"
for each in dev proc; do mount --rbind /$each "$root/$each"; done
exec /usr/sbin/chroot --userspec=${USER} "$root" "$@"`;
const [AMD64, MB] = [62, 1024 * 1024];

interface Manifest {
  readonly manifests: readonly [{ readonly digest: string }];
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

interface Config {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Volumes: object;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

describe('The image', { skip }, () => {
  const folder = temporaryFolder();
  const [root, volume] = [join(folder, 'root'), join(folder, 'volume')];
  let config: Config;
  let layers: Manifest['layers'];
  before(() => {
    const args = [join(ROOT, 'deploy/packages/command.ts'), 'image', '--processor', 'x64', '--out', folder];
    const printed = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const [archive = ''] = printed.split('  ');
    execFileSync('tar', ['-xf', archive, '-C', folder]);
    const pathOf = (digest: string) => join(folder, 'blobs', ...digest.split(':'));
    const read = <T>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as T;
    const index = read<Manifest>(pathOf(read<Manifest>(join(folder, 'index.json')).manifests[0].digest));
    const manifest = read<Manifest>(pathOf(index.manifests[0].digest));
    ({ config } = read<{ config: Config }>(pathOf(manifest.config.digest)));
    ({ layers } = manifest);
    mkdirSync(root);
    for (const { digest } of layers) execFileSync('tar', ['-xpf', pathOf(digest), '-C', root, '--numeric-owner']);
    // An engine makes these folders, and fills a new volume from the image.
    for (const name of ['data', 'dev', 'proc']) mkdirSync(join(root, name));
    execFileSync('cp', ['-a', join(root, 'config'), volume]);
  });

  /** A command in a container with the environment of the image and more variables, and with the volume at a folder. */
  const inContainer = (
    command: readonly string[],
    more: Readonly<Record<string, string>> = {},
    at = '/config',
  ): Program => ({
    command: 'unshare',
    args: ['--mount', 'sh', '-c', RUN, 'sh', root, volume, at, ...command],
    env: { ...Object.fromEntries(config.Env.map((text) => text.split(/=(.*)/s) as [string, string])), ...more },
  });
  const runs = (command: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const { command: program, args, env } = inContainer(command, more);
    return spawnSync(program, args, { env, encoding: 'utf8' });
  };

  test('has at most 120 MB, an unprivileged user, and a volume', () => {
    const bytes = layers.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes <= 120 * MB, `the layers have ${bytes} bytes`);
    assert.equal(config.User, '1000:1000');
    assert.deepEqual(config.Volumes, { '/config': {} });
  });

  test('runs a hub as any user of group 0 on a read-only root, which its health check finds healthy', async () => {
    const written = runs(['node', '-e', "require('fs').writeFileSync('/tmp/x', '')"]);
    assert.match(written.stderr, /EROFS: read-only file system/);
    await usesHub(inContainer(config.Entrypoint), ({ port }) => {
      const [, ...check] = config.Healthcheck.Test;
      assert.equal(runs(check, { HUB_PORT: port }).status, 0);
    });
    const [, ...check] = config.Healthcheck.Test;
    assert.equal(runs(check, { HUB_PORT: '1' }).status, 1);
    assert.ok(readdirSync(volume).includes('data.dat'));
  });

  test('runs a hub with its data and history in another volume, as the Helm chart has it', async () => {
    const more = {
      ...{ HUB_DATA_PATH: '/data', SQLITE_TMPDIR: '/data' },
      ...{ HUB_HISTORY: 'true', HUB_HISTORY_PATH: '/data/history', HUB_HISTORY_MAX_SIZE: '100' },
    };
    await usesHub(inContainer(config.Entrypoint, more, '/data'));
    assert.ok(readdirSync(volume).includes('history'));
  });

  test('has the command-line tools', () => {
    const { status, stdout, stderr } = runs(['location-hub', 'tail', '--help']);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /Usage: hub tail/);
  });

  test('has native files of its processor alone, and names the packages of Debian', () => {
    const native = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.node$|\.so[.\d]*$/.test(path),
    );
    assert.ok(native.length > 10);
    for (const path of [...native, 'usr/lib/location-hub/bin/node'])
      assert.equal(machineOf(join(root, path)), AMD64, path);
    assert.deepEqual(readdirSync(join(root, 'var/lib/dpkg/status.d')).sort(), [
      'base-files',
      'gcc-12-base',
      'libc6',
      'libgcc-s1',
      'libstdc++6',
    ]);
    assert.deepEqual(readdirSync(join(root, 'usr/bin')), ['location-hub', 'node']);
  });
});

/** Returns the processor of a native file, as in the header of ELF. */
function machineOf(path: string): number {
  const header = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, header);
  closeSync(file);
  assert.equal(header.toString('latin1', 1, 4), 'ELF', path);
  return header.readUInt16LE(18);
}
