import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildNpmPackage, PACKAGE } from './npm_package.ts';

/** Processors for which the native packages have binaries for Linux, as npm names them. */
export type Processor = 'x64' | 'arm64';

/** Folder in which packages with Node.js install the hub. */
export const HOME = `/usr/lib/${PACKAGE}`;

/** Programs that remove symbols for debuggers from binaries of a processor. */
const STRIP: Readonly<Record<Processor, string>> = {
  x64: 'x86_64-linux-gnu-strip',
  arm64: 'aarch64-linux-gnu-strip',
};

/**
 * Installs the npm package for Linux to `staged/hub`, with its packages and with Node.js as `bin/node`. Without native
 * binaries of other platforms, and files of packages that no program reads. Returns the folder. Throws an Error if npm
 * fails.
 */
export async function installHub(root: string, staged: string, processor: Processor): Promise<string> {
  const tarball = await buildNpmPackage(root, staged);
  const { optionalDependencies: nodes } = JSON.parse(readFileSync(join(root, 'deploy/node/package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const installed = join(staged, 'installed');
  mkdirSync(installed);
  const platform = ['--os=linux', `--cpu=${processor}`, '--libc=glibc'];
  const args = ['install', '--prefix', installed, '--ignore-scripts', '--no-audit', '--no-fund', ...platform];
  execFileSync('npm', [...args, tarball], { stdio: ['ignore', 'ignore', 'inherit'] });

  const modules = join(installed, 'node_modules');
  const hub = join(staged, 'hub');
  renameSync(join(modules, PACKAGE), hub);
  for (const name of ['.bin', '.package-lock.json']) rmSync(join(modules, name), { recursive: true });
  renameSync(modules, join(hub, 'node_modules'));
  // npm would not install the Node.js of another processor.
  const node = `node-linux-${processor}`;
  const fetched = execFileSync('npm', ['pack', '--silent', '--pack-destination', staged, `${node}@${nodes[node]}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  mkdirSync(join(hub, 'bin'));
  const member = 'package/bin/node';
  execFileSync('tar', ['-xf', join(staged, fetched.trim()), '-C', join(hub, 'bin'), '--strip-components=2', member]);

  const unused = unusedOn(processor);
  const hasStrip = spawnSync(STRIP[processor], ['--version']).status === 0;
  for (const path of filesIn(hub)) {
    if (unused.some((pattern) => pattern.test(path))) rmSync(path);
    // The symbols are 28 MB.
    else if (hasStrip && /\.(node|so)$|\/bin\/node$/.test(path)) {
      execFileSync(STRIP[processor], ['--strip-unneeded', path]);
    }
  }
  return hub;
}

function unusedOn(processor: Processor): readonly RegExp[] {
  return [
    new RegExp(`/uws_(?!linux_${processor}_)\\w+\\.node$`),
    new RegExp(`/prebuilds/(?!linux-${processor})[^/]+\\.node$`),
    /\/node\.(abi|napi\.musl)[^/]*\.node$/,
    /\/node_modules\/.+\/(test|tests|benchmark|docs|examples|example|\.github)\//,
    /\/node_modules\/.+\.(ts|mts|cts|map|md|yml)$/,
    /\/\.gitattributes$/,
  ];
}

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
