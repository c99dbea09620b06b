import { chmodSync, closeSync, copyFileSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { protectedPaths } from './protected_paths.ts';

/** The database holds positions of people, so only the user who runs the hub may read it. */
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * Creates an empty file that only its owner may read, unless it exists. Ignores errors, because opening the file
 * reports them.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch {}
}

/** Replaces a file with an empty one that only its owner may read. Throws if that fails. */
export function replaceByPrivate(path: string): void {
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', OWNER_ONLY));
}

/** Gives a file a second name. File systems without hard links copy it. */
export function linkOrCopy(path: string, to: string): void {
  try {
    linkSync(path, to);
  } catch {
    copyFileSync(path, to);
  }
}

/**
 * Restricts access to a database's files to their owner. Returns a warning about files that others could read;
 * undefined if there were none.
 */
export function keepPrivate(file: string): string | undefined {
  // File modes have no effect on Windows.
  if (process.platform === 'win32') return undefined;
  const [open, kept]: [string[], string[]] = [[], []];
  for (const path of protectedPaths(file)) {
    const mode = statSync(path).mode & 0o777;
    if ((mode & OTHERS) === 0) continue;
    const named = `${basename(path)} (${mode.toString(8)})`;
    try {
      chmodSync(path, OWNER_ONLY);
      open.push(named);
    } catch {
      kept.push(named);
    }
  }
  const said = [
    ...(open.length > 0 ? [`Others could use ${open.join(', ')}: now the owner alone can`] : []),
    ...(kept.length > 0 ? [`Others can use ${kept.join(', ')}, which belong to another user and are left so`] : []),
  ];
  return said.length > 0 ? said.join('; ') : undefined;
}
