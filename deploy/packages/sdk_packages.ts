import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Packs the SDK for TypeScript. Returns its path in the folder. Throws an Error if the compiler or npm fails. */
export function buildTypeScriptSdk(root: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const printed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: join(root, 'sdk/typescript'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // npm prints the name of the tarball after the output of the compiler.
  return join(folder, printed.trim().split('\n').at(-1) ?? '');
}

/** Builds the wheel of the SDK for Python. Returns its path in the folder. Throws an Error if Python lacks venv, or pip fails. */
export function buildPythonSdk(root: string, folder: string): string {
  const staged = mkdtempSync(join(tmpdir(), 'hub-package-'));
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    run('python3', '-m', 'venv', join(staged, 'venv'));
    // pip builds in the folder of the sources.
    run('cp', '-R', join(root, 'sdk/python'), join(staged, 'sources'));
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', join(staged, 'wheel')];
    run(join(staged, 'venv/bin/python'), '-m', 'pip', 'wheel', ...options, join(staged, 'sources'));
    const [wheel = ''] = readdirSync(join(staged, 'wheel'));
    mkdirSync(folder, { recursive: true });
    run('cp', join(staged, 'wheel', wheel), folder);
    return join(folder, wheel);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
