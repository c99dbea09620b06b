import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../support/temporary_folder.ts';
import type { HubProcess } from './hub_process.ts';

/** A disk that fills up for a hub, and becomes writable again. */
export interface Disk {
  readonly folder: string;
  fill(hub: HubProcess): void;
  free(hub: HubProcess): void;
  /** Problems that the hub reports. */
  readonly says: RegExp;
}

/**
 * Limits the size of files to the current end of the log. Undefined if the system has no such limits for running
 * processes.
 */
export function limitedDisk(): Disk | undefined {
  if (run('prlimit', ['--version']).status !== 0) return undefined;
  const folder = temporaryFolder();
  const limit = (hub: HubProcess, bytes: string) => {
    // Only the soft limit, so that it can be raised again.
    const { status, stderr } = run('prlimit', ['--pid', String(hub.pid), `--fsize=${bytes}:`]);
    assert.equal(status, 0, stderr);
  };
  return {
    folder,
    fill: (hub) => limit(hub, String(statSync(join(folder, 'data.dat-wal')).size)),
    free: (hub) => limit(hub, 'unlimited'),
    says: /^the disk reports an error \(SQLITE_IOERR_\w+\)$/,
  };
}

/** Folder of a file system in memory, mounted until the test ends; undefined if none may be mounted. */
export function mountedFolder(context: TestContext, options: string): string | undefined {
  const folder = temporaryFolder();
  const { status } = run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  context.after(() => {
    if (status === 0) run('umount', ['--lazy', folder]);
  });
  return status === 0 ? folder : undefined;
}

/** A small file system; undefined if none may be mounted. */
export function smallDisk(context: TestContext): Disk | undefined {
  const folder = mountedFolder(context, 'size=8m');
  if (folder === undefined) return undefined;
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      assert.throws(() => {
        for (let number = 0; ; number++) writeFileSync(`${filler}${number}`, Buffer.alloc(4096));
      }, /ENOSPC/);
    },
    free() {
      run('find', [folder, '-name', 'filler*', '-delete']);
    },
    says: /^the disk is full$/,
  };
}

function run(command: string, args: readonly string[]): { status: number | null; stderr: string } {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return { status, stderr: error === undefined ? stderr : error.message };
}
