import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensureBuilt } from '../../src/build_ui.mjs';
import { bundlePackages, ensureBundled } from '../../src/bundle.mjs';

/** Name of the package and of its command. */
export const PACKAGE = 'location-hub';

/** Files and folders of the project that the package has, at the same paths. */
const FILES = [
  '.hub',
  '.hub-ui',
  'deploy/packages/location-hub.mjs',
  'src/api/docs/pages',
  'src/launch.mjs',
  'wasm/location_scanner/scanner.wasm',
  'hub_config.yaml',
  'CHANGELOG.md',
  'LICENSE',
  'NOTICE',
  'README.md',
];

/**
 * Packages that the tarball contains in part, beside the bundles: npm would install files that no hub reads, and ask
 * GitHub for the HTTP server. That has binaries for each version of Node, 130 MB, and SQLite has its sources.
 */
const VENDORED: Readonly<Record<string, (file: string) => boolean>> = {
  'uWebSockets.js': () => true,
  'uws-pack': (file) => !file.endsWith('.node') || /_(x64|arm64)_127\.node$/.test(file),
  'better-sqlite3': (file) => !/^(deps|src)\/|linuxmusl|binding\.gyp$/.test(file),
  'swagger-ui-dist': (file) => /^(package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js)$/.test(file),
};

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Builds the npm package, with the web UI and without what only tests and builds need. Returns the path of the tarball
 * in the folder. Throws an Error if a build or npm fails.
 */
export async function buildNpmPackage(root: string, folder: string): Promise<string> {
  ensureBuilt(root);
  await ensureBundled(root);
  const staged = mkdtempSync(join(tmpdir(), 'hub-package-'));
  try {
    stage(root, staged);
    mkdirSync(folder, { recursive: true });
    const args = ['pack', '--json', '--pack-destination', folder];
    const said = execFileSync('npm', args, { cwd: staged, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const [packed] = JSON.parse(said) as [{ readonly filename: string }];
    return join(folder, basename(packed.filename));
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Writes the files of the package to a folder. */
function stage(root: string, staged: string): void {
  for (const file of FILES) cpSync(join(root, file), join(staged, file), { recursive: true });
  for (const [name, isWanted] of Object.entries(VENDORED)) {
    copyWanted(join(root, 'node_modules', name), join(staged, '.hub', 'node_modules', name), isWanted);
  }
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const installed = bundlePackages(root).filter((name) => !(name in VENDORED));
  const { version, description, license } = manifest;
  const packed = {
    name: PACKAGE,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.18 <23' },
    os: ['linux', 'darwin', 'win32'],
    cpu: ['x64', 'arm64'],
    bin: { [PACKAGE]: 'deploy/packages/location-hub.mjs' },
    files: FILES,
    dependencies: Object.fromEntries(installed.map((name) => [name, manifest.dependencies[name]])),
  };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
}

/** Copies the files of a package whose paths are wanted. */
function copyWanted(from: string, to: string, isWanted: (file: string) => boolean): void {
  const entries = readdirSync(from, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name).slice(from.length + 1);
    if (isWanted(path)) cpSync(join(from, path), join(to, path), { dereference: true });
  }
}
