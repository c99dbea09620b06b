import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GO } from './go.ts';

/** A program of Go's module proxy. */
export interface GoProgram {
  /** Of the package that it is built of, such as `github.com/nats-io/nats-server/v2`. */
  readonly path: string;
  readonly version: string;
  /** What Go calls it: the last part of the path that is no version. */
  readonly name: string;
}

/** The path of a program, or the reason why it is missing. */
export type Installed = { readonly path: string } | { readonly missing: string };

const BUILD_MS = 240_000;
const LOOK_MS = 200;

/** The program that was built before, or one that is built now. */
export async function goInstalled({ path: source, version, name }: GoProgram): Promise<Installed> {
  // Outlives a run, so that it is built once.
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
