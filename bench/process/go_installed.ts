import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GO } from './go.ts';

/** A program of Go's module proxy. */
export interface GoProgram {
  /** Package from which it is built, such as `github.com/nats-io/nats-server/v2`. */
  readonly path: string;
  readonly version: string;
  /** Go's name for it: the last part of the path that is not a version. */
  readonly name: string;
}

/** Path of a program, or the reason why it is missing. */
export type Installed = { readonly path: string } | { readonly missing: string };

const BUILD_MS = 240_000;
const LOOK_MS = 200;

/** Returns the program that was built before, or builds it. */
export async function goInstalled({ path: source, version, name }: GoProgram): Promise<Installed> {
  // Persists across runs, so that it is built once.
  const cache = join(tmpdir(), `hub-${name}`, version);
  const path = join(cache, name);
  if (existsSync(path)) return { path };
  if (GO === undefined) return { missing: 'there is no Go to build it with' };
  try {
    await build({ cache, path, go: GO, source: `${source}@${version}`, name });
    return { path };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const [reason] = (stderr?.trim() || message).split('\n').slice(-1);
    return { missing: `Go cannot build ${source}@${version}: ${reason}` };
  }
}

interface Build {
  readonly cache: string;
  readonly path: string;
  readonly go: string;
  readonly source: string;
  readonly name: string;
}

/** Builds it completely or not at all. Concurrent callers share one build. */
async function build({ cache, path, go, source, name }: Build): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, 'building');
  while (!locks(lock)) {
    await delay(LOOK_MS);
    if (existsSync(path)) return;
  }
  const folder = mkdtempSync(join(cache, 'made-'));
  try {
    const options = { cwd: folder, env: { ...process.env, GOBIN: folder }, timeout: BUILD_MS };
    await promisify(execFile)(go, ['install', source], options);
    renameSync(join(folder, name), path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Whether the lock was acquired. A lock older than any build was left by an aborted build. */
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
