import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const CLI = new URL('../../bench/cli.ts', import.meta.url).pathname;

/** Runs the benchmark on a tiny scene, whose numbers are meaningless. */
export async function bench(...args: readonly string[]): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--json']);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

/** Reason why nothing can be measured; false if it can. */
export const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc to read CPU times from';
