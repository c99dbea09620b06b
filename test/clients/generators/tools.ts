import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { GO, USUAL_GO } from '../../../bench/process/go.ts';

/**
 * Generators of clients, each installed by the package manager of its language into a folder that git ignores. Existing
 * installations are reused. If an installation fails, the tests are skipped with the reason.
 */

const CACHE = new URL('../../../test-output/generators/', import.meta.url);
const INSTALL_MS = 150_000;
const RUN_MS = 120_000;
const OUTPUT_MAX_BYTES = 16 << 20;
/** Search path for programs: Go generators are run by their names. */
const PATH = GO === USUAL_GO ? `${dirname(USUAL_GO)}:${process.env['PATH'] ?? ''}` : (process.env['PATH'] ?? '');

export interface Tool {
  /** Folder of its installation. */
  readonly folder: string;
  /** Reason why its tests cannot run; false if they can. */
  readonly skip: string | false;
}

/**
 * Installs the tool with this name and version unless it is installed. Tools that cache their downloads are installed
 * each time, which then takes a moment.
 */
export async function installed(
  name: string,
  install: (folder: string) => Promise<void>,
  { eachTime = false } = {},
): Promise<Tool> {
  const folder = new URL(`${name}/`, CACHE).pathname;
  const mark = join(folder, 'installed');
  const isThere = await readFile(mark).then(
    () => true,
    () => false,
  );
  if (isThere && !eachTime) return { folder, skip: false };
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await install(folder);
    await writeFile(mark, '');
    return { folder, skip: false };
  } catch (error) {
    const [reason] = (error as Error).message
      .split('\n')
      .filter((line) => line !== '')
      .slice(-1);
    return { folder, skip: `${name} cannot be installed: ${reason}` };
  }
}

interface Running {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Runs a program to completion. Rejects with its output if it fails. */
export async function run(program: string, args: readonly string[], running: Running): Promise<string> {
  const { cwd, env = {}, timeoutMs = RUN_MS } = running;
  const options = { cwd, env: { ...process.env, PATH, ...env }, timeout: timeoutMs, maxBuffer: OUTPUT_MAX_BYTES };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, options);
    return stdout + stderr;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout}${stderr}`.trimEnd(), { cause: error });
  }
}

/** Like `run`, with the time limit of an installation. */
export function runInstall(program: string, args: readonly string[], running: Running): Promise<string> {
  return run(program, args, { timeoutMs: INSTALL_MS, ...running });
}
