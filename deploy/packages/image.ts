import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HUB_BUNDLE, HUB_ENV, HUB_NODE_ARGS } from '../../src/launch.mjs';
import { HOME, installHub, type Processor } from './installed_hub.ts';
import { PACKAGE } from './npm_package.ts';
import { type Layer, OciLayout } from './oci_layout.ts';

/** Architectures of the image, by processor. */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' } as const satisfies Record<Processor, string>;

/** Debian's release, and the packages that Node.js and the native packages need. base-files names the release to scanners. */
const RELEASE = 'bookworm';
const DEBIAN_PACKAGES = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6'];
/** Files of these packages that the image has. Not the converters of character sets: Node.js has its own. */
const DEBIAN_FILES = [
  ...['./etc/os-release', './etc/debian_version', './usr/lib/os-release', './lib*'],
  ...['./usr/lib/*-linux-gnu/lib*.so*', './usr/share/doc/*/copyright', './var/lib/dpkg/status.d'],
];
const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];

/** User of the hub, and the folder of its data. */
const USER = 1000;
const DATA = '/config';
const WRITABLE = ['config', 'tmp'];
const PORT = 8081;

/** Docker's health check. OCI has none, so other engines need a probe of their own: GET /health. */
const HEALTH = `fetch('http://127.0.0.1:' + (process.env.HUB_PORT || ${PORT}) + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;
const SECOND = 1_000_000_000;

/** Configuration of the image, as engines execute it. deploy/Dockerfile has the same. */
export const IMAGE_CONFIG = {
  User: `${USER}:${USER}`,
  Env: [
    'PATH=/usr/bin',
    'NODE_ENV=production',
    ...Object.entries(HUB_ENV).map(([name, value]) => `${name}=${value}`),
    'HUB_HOST=0.0.0.0',
    `HUB_CONFIG_PATH=${DATA}`,
    // The root may be read-only, and the volume is then the only folder for temporary files of the database.
    `SQLITE_TMPDIR=${DATA}`,
  ],
  Entrypoint: ['node', ...HUB_NODE_ARGS, `${HOME}/${HUB_BUNDLE}`],
  Cmd: [],
  WorkingDir: DATA,
  ExposedPorts: { [`${PORT}/tcp`]: {} },
  Volumes: { [DATA]: {} },
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', 'node', '-e', HEALTH],
    Interval: 5 * SECOND,
    Timeout: 3 * SECOND,
    StartPeriod: 60 * SECOND,
    Retries: 3,
  },
};

/**
 * Builds an image for these processors as an OCI archive, without a container engine: Debian's C libraries, Node.js and
 * the npm package with its packages, and neither a shell nor other programs. Returns its path in the folder, and the
 * compressed sizes. Throws an Error if a program is missing or fails.
 */
export async function buildImage(root: string, folder: string, processors: readonly Processor[]) {
  if (spawnSync('mmdebstrap', ['--version']).status !== 0) {
    throw new Error('mmdebstrap is not installed, which the image needs');
  }
  const staged = mkdtempSync(join(tmpdir(), 'hub-package-'));
  try {
    const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly [name in 'version' | 'description' | 'license']: string;
    };
    const { revision, epochS } = sourceOf(root);
    const created = new Date(epochS * 1000).toISOString().replace('.000', '');
    const layout = new OciLayout(join(staged, 'layout'), epochS);
    const labels = { title: PACKAGE, description, version, licenses: license, revision, created };
    const Labels = Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
    );
    const images = [];
    for (const processor of processors) {
      const own = join(staged, processor);
      mkdirSync(own);
      const layers = [addBase(layout, own, processor), ...addHub(layout, await installHub(root, own, processor), own)];
      images.push({ architecture: ARCHITECTURES[processor], config: { ...IMAGE_CONFIG, Labels }, layers });
    }
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${PACKAGE}-${version}-oci.tar`);
    layout.writeArchive(path, images, { name: PACKAGE, version, created });
    const sizes = images.map(({ architecture, layers }) => ({
      what: architecture,
      bytes: layers.reduce((sum, { descriptor }) => sum + descriptor.size, 0),
    }));
    return { path, sizes };
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Commit of the sources, and its time in seconds, which is the time of all files. Without git, that of package.json. */
function sourceOf(root: string): { readonly revision: string; readonly epochS: number } {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%H %ct'], { cwd: root, encoding: 'utf8' });
  const [revision = '', time] = status === 0 ? stdout.trim().split(' ') : [];
  const changedS = statSync(join(root, 'package.json')).mtimeMs / 1000;
  return { revision, epochS: Number(process.env['SOURCE_DATE_EPOCH'] ?? time ?? Math.floor(changedS)) };
}

/** Adds Debian's files, the user and the folders that the hub writes. */
function addBase(layout: OciLayout, staged: string, processor: Processor): Layer {
  const base = join(staged, 'base');
  mkdirSync(base);
  const tar = join(staged, 'base.tar');
  // Scanners find the packages by their control files. mmdebstrap removes the packages themselves.
  const hook = `mkdir "$1/var/lib/dpkg/status.d" && for deb in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --field "$deb" > "$1/var/lib/dpkg/status.d/$(basename "$deb" | cut -d_ -f1)"; done`;
  const options = [
    ...['--variant=extract', `--architectures=${ARCHITECTURES[processor]}`, `--include=${DEBIAN_PACKAGES.join(',')}`],
    ...[`--extract-hook=${hook}`, '--quiet'],
  ];
  execFileSync('mmdebstrap', [...options, RELEASE, tar, ...SOURCES.filter(existsSync).slice(0, 1)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  execFileSync('tar', ['-xf', tar, '-C', base, '--no-same-owner', '--wildcards', ...DEBIAN_FILES]);
  // base-files depends on it.
  for (const path of ['usr/share/doc/mawk', 'var/lib/dpkg/status.d/mawk'])
    rmSync(join(base, path), { recursive: true });

  for (const path of ['usr/bin', ...WRITABLE]) mkdirSync(join(base, path), { recursive: true });
  symlinkSync(`${HOME}/bin/node`, join(base, 'usr/bin/node'));
  const tools = `#!/usr/bin/node\nimport '${HOME}/deploy/packages/location-hub.mjs';\n`;
  writeFileSync(join(base, 'usr/bin', PACKAGE), tools, { mode: 0o755 });
  writeFileSync(join(base, 'etc/passwd'), `root:x:0:0::/:/\nhub:x:${USER}:${USER}::${DATA}:/\n`);
  writeFileSync(join(base, 'etc/group'), `root:x:0:\nhub:x:${USER}:\n`);
  return layout.addLayer([
    { from: base, paths: readdirSync(base).filter((name) => !WRITABLE.includes(name)) },
    { from: base, paths: ['tmp'], mode: '1777' },
    // OpenShift and others run a container as any user of group 0, which therefore has the permissions of the owner.
    { from: base, paths: ['config'], owner: { user: USER, group: 0 }, mode: '2770' },
  ]);
}

/** Adds Node.js, and above it the hub, which changes more often. */
function addHub(layout: OciLayout, hub: string, staged: string): readonly Layer[] {
  const files = join(staged, 'files');
  const home = HOME.slice(1);
  mkdirSync(join(files, home, '..'), { recursive: true });
  renameSync(hub, join(files, home));
  const node = layout.addLayer([{ from: files, paths: [`${home}/bin`] }]);
  rmSync(join(files, home, 'bin'), { recursive: true });
  return [node, layout.addLayer([{ from: files, paths: [home] }])];
}
