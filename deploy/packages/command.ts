import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildLinuxPackage } from './linux_package.ts';
import { buildNpmPackage } from './npm_package.ts';

/** `npm run package -- KIND... [--out FOLDER]`: builds packages of the hub, and prints their paths and sizes. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILDERS: Readonly<Record<string, (root: string, folder: string) => Promise<string>>> = {
  npm: buildNpmPackage,
  deb: (root, folder) => buildLinuxPackage(root, folder, 'deb'),
  rpm: (root, folder) => buildLinuxPackage(root, folder, 'rpm'),
};
const MB = 1024 * 1024;

const { values, positionals } = argumentsOf();
const kinds = positionals.length > 0 ? positionals : Object.keys(BUILDERS);
for (const kind of kinds) {
  const builder = BUILDERS[kind];
  if (builder === undefined) fail(`the kind must be one of ${Object.keys(BUILDERS).join(', ')}, found "${kind}"`);
  try {
    const path = await builder(ROOT, resolve(values.out));
    console.log(`${path}  ${(statSync(path).size / MB).toFixed(1)} MB`);
  } catch (error) {
    fail((error as Error).message);
  }
}

function argumentsOf() {
  try {
    return parseArgs({ options: { out: { type: 'string', default: 'dist' } }, allowPositionals: true });
  } catch (error) {
    // Thrown for unknown options.
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(`Cannot build packages: ${message}`);
  process.exit(1);
}
