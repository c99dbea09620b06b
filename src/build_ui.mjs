/**
 * Builds the web UI if it is missing or older than its sources:
 *
 *     node src/build_ui.mjs
 *
 * Plain JavaScript, like the launcher that calls it. The stamp in the output folder is a hash of all inputs. A page is built
 * in a separate folder, which replaces the old one when it is complete.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(SELF));
const STAMP = 'stamp.txt';

/** The output folder. */
export function builtFolder(root = ROOT) {
  return join(root, '.hub-ui');
}

/** A hash of all inputs of the page: its sources, the files it shares with the hub, and its packages. */
export function sourcesHash(root = ROOT) {
  const hash = createHash('sha256');
  const files = ['src/hub-ui', 'src/model', 'src/core/geo', 'src/core/rules'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  );
  for (const file of [...files, 'package-lock.json'].sort()) {
    hash.update(`${file.split(sep).join('/')}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

export function isBuilt(root = ROOT) {
  const stamp = join(builtFolder(root), STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourcesHash(root);
}

/** Builds the page if needed. Throws an Error with the output of a failed build. */
export function ensureBuilt(root = ROOT) {
  if (isBuilt(root)) return;
  console.error('Building the web UI …');
  const stamp = sourcesHash(root);
  const fresh = `${builtFolder(root)}-${process.pid}`;
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
  writeFileSync(join(fresh, STAMP), stamp);
  const stale = `${fresh}-stale`;
  if (existsSync(builtFolder(root))) renameSync(builtFolder(root), stale);
  try {
    renameSync(fresh, builtFolder(root));
  } catch (error) {
    // Another process has built it concurrently.
    if (!isBuilt(root)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(stale, { recursive: true, force: true });
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(SELF)) {
  try {
    ensureBuilt();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
