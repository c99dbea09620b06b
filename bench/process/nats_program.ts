import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GO } from './go.ts';

const MODULE = 'github.com/nats-io/nats-server/v2';
const VERSION = 'v2.15.2';
const PROGRAM = 'nats-server';
/** Outlives a run, so that it is built once. */
const CACHE = join(tmpdir(), 'hub-nats-server', VERSION);
/** Names a server that is there already. */
const GIVEN = 'NATS_SERVER';
const BUILD_MS = 240_000;
const LOOK_MS = 200;

/** Where the server is, or why there is none. */
export type NatsProgram = { readonly path: string } | { readonly missing: string };

/** The server that is named, the one that was built before, or one that is built now through Go's module proxy. */
export async function natsProgram(): Promise<NatsProgram> {
  const given = process.env[GIVEN];
  if (given !== undefined) {
    return isProgram(given) ? { path: given } : { missing: `${GIVEN} names ${given}, which does not run` };
  }
  const path = join(CACHE, PROGRAM);
  if (existsSync(path)) return { path };
  if (GO === undefined) return { missing: `there is no Go to build it with, and ${GIVEN} names none` };
  try {
    await build(path, GO);
    return { path };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const [reason] = (stderr?.trim() || message).split('\n').slice(-1);
    return { missing: `Go cannot build ${MODULE}@${VERSION}: ${reason}` };
  }
}

function isProgram(path: string): boolean {
  return spawnSync(path, ['--version']).status === 0;
}

/** Whole or not at all. Tests that need it at the same time build it once: whoever comes later waits. */
async function build(path: string, go: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const lock = join(CACHE, 'building');
  while (!locks(lock)) {
    await delay(LOOK_MS);
    if (existsSync(path)) return;
  }
  const folder = mkdtempSync(join(CACHE, 'made-'));
  try {
    const options = { cwd: folder, env: { ...process.env, GOBIN: folder }, timeout: BUILD_MS };
    await promisify(execFile)(go, ['install', `${MODULE}@${VERSION}`], options);
    renameSync(join(folder, PROGRAM), path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Whether the lock is ours now. One that is older than any build was left by a build that was broken off. */
function locks(lock: string): boolean {
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  if (Date.now() - since > BUILD_MS) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
