import { chmodSync, closeSync, openSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { ownFiles } from './own_files.ts';

/** Where people and things are is nobody's business but that of the user who runs the hub. */
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Makes an empty file that its owner alone may read, unless it is there, or cannot be made: whoever opens it will say. */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch {}
}

/** Makes an empty file that its owner alone may read in the place of what is there. Throws when that cannot be done. */
export function replaceByPrivate(path: string): void {
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', OWNER_ONLY));
}

/** Lets the owner alone read the files of a database. Says which of them others could read, in one line, or nothing. */
export function keepPrivate(file: string): string | undefined {
  // There modes mean nothing.
  if (process.platform === 'win32') return undefined;
  const [open, kept]: [string[], string[]] = [[], []];
  for (const path of ownFiles(file)) {
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
