/**
 * Builds the web UI if it is missing or older than its sources:
 *
 *     node src/build_ui.mjs
 */
import { spawnSync } from 'node:child_process';
import { realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshFolder, hashOf, hasStamp, replaceFolder } from './built_folder.mjs';

const SELF = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(SELF));

/** Returns the output folder. */
export function builtFolder(root = ROOT) {
  return join(root, '.hub-ui');
}

/** Returns a hash of all inputs of the UI: its sources, the files that it shares with the hub, and its packages. */
export function sourcesHash(root = ROOT) {
  return hashOf(root, ['src/hub-ui', 'src/model', 'src/core/geo', 'src/core/rules']);
}

export function isBuilt(root = ROOT) {
  return hasStamp(builtFolder(root), sourcesHash(root));
}

/** Builds the UI if needed. Throws an Error with the output of a failed build. */
export function ensureBuilt(root = ROOT) {
  if (isBuilt(root)) return;
  console.error('Building the web UI …');
  const stamp = sourcesHash(root);
  const fresh = freshFolder(builtFolder(root));
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', join(root, 'src', 'hub-ui', 'vite.config.ts'), '--logLevel', 'warn'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, HUB_UI_OUT: fresh },
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`${stdout}${stderr}Cannot build the web UI: vite ended with code ${status}`);
  }
  replaceFolder(builtFolder(root), stamp);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(SELF)) {
  try {
    ensureBuilt();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
