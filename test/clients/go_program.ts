import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { GO } from '../../bench/process/go.ts';

const SOURCES = fileURLToPath(new URL('go', import.meta.url));

/** Reason why the Go program is not available; undefined if it is. */
export const goIsMissing = GO === undefined ? 'skipped: there is no go' : whyNoModules(GO);

/** Modules are downloaded unless they are cached. */
function whyNoModules(command: string): string | undefined {
  const { status, stderr } = spawnSync(command, ['mod', 'download'], { cwd: SOURCES, timeout: 60_000 });
  return status === 0 ? undefined : `skipped: go cannot fetch modules: ${stderr}`;
}

/** Builds the program, unless it was built from the same sources before; returns its path. */
export async function buildGoProgram(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of readdirSync(SOURCES).sort()) hash.update(readFileSync(join(SOURCES, name)));
  const folder = join(tmpdir(), 'hub-go-program');
  const path = join(folder, hash.digest('hex').slice(0, 16));
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  // Another run may build the same sources at the same time.
  const building = `${path}.${randomUUID()}`;
  await promisify(execFile)(GO as string, ['build', '-o', building, '.'], { cwd: SOURCES });
  renameSync(building, path);
  return path;
}

/** A run of the program, whose output is read line by line. */
export interface GoRun {
  /** Returns its next line. Rejects with its error output if it exits first. */
  line(): Promise<string>;
  /** Its exit code and its error output after its exit. */
  readonly ended: Promise<{ readonly code: number | null; readonly error: string }>;
  readonly child: ChildProcess;
}

export function runGo(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): GoRun {
  const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let error = '';
  child.stderr.on('data', (chunk: Buffer) => {
    error += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; error: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, error }));
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async line() {
      const { done, value } = await lines.next();
      if (done !== true) return value;
      throw new Error(`The program has ended: ${(await ended).error}`);
    },
    ended,
    child,
  };
}
