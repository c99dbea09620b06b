import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary_folder.ts';

const CLI = fileURLToPath(new URL('../../src/cli/cli.ts', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts a command in a process, as a user does. */
export function startCli(...args: readonly string[]): { child: ChildProcess; finished: Promise<Finished> } {
  return start(args, process.env);
}

/** Starts a command with the hub's files in this folder. */
export function startCliIn(folder: string, ...args: readonly string[]): ReturnType<typeof startCli> {
  return start(args, { ...process.env, HUB_CONFIG_PATH: folder });
}

/** Starts a command with settings in its environment. */
export function startCliWith(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  return start(args, { ...process.env, ...env });
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): ReturnType<typeof startCli> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const finished = once(child, 'close').then(([code]) => ({ code, out, err }));
  return { child, finished };
}

export function runCli(...args: readonly string[]): Promise<Finished> {
  return startCli(...args).finished;
}

export function runCliIn(folder: string, ...args: readonly string[]): Promise<Finished> {
  return startCliIn(folder, ...args).finished;
}

/** Creates a file in a new temporary folder. */
export function temporaryFile(name: string, text: string): string {
  const folder = temporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
