import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { GROUPS, type Group, testsIn } from './groups.ts';
import { readSourceFiles } from './tidy/source_file.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Processes for each core: they take unlike long. */
const SHARES = 3;

/**
 * Runs one group of the tests: `npm run test:unit`, `test:ui` or `test:slow`. Words choose the files whose paths have one
 * of them (`-- fanout send_queue`), and options go to `node --test`: `--watch` runs a file again when it changes, or anything
 * that it imports. Without either the unit tests share a few processes, which load the hub's code once for many files.
 */
function main([group = '', ...rest]: readonly string[]): void {
  if (!isGroup(group)) fail(`Cannot run tests: the group must be one of ${GROUPS.join(', ')}, found "${group}"`);
  const options = rest.filter((argument) => argument.startsWith('-'));
  const words = rest.filter((argument) => !argument.startsWith('-'));
  const files = testsIn(readSourceFiles(), group).filter((path) => {
    return words.length === 0 || words.some((word) => path.includes(word));
  });
  if (files.length === 0) fail(`Cannot run tests: no file of ${group} has ${words.join(' or ')} in its path`);
  // Hubs and browsers have several threads each, and their tests measure times.
  const together = group === 'unit' ? availableParallelism() : 2;
  const shares = group === 'unit' && rest.length === 0 ? shareOut(files, together * SHARES) : undefined;
  const child = spawn(
    process.execPath,
    ['--test', `--test-concurrency=${together}`, '--test-timeout=2400000', '--test-reporter=spec', ...options].concat(
      shares?.paths ?? files,
    ),
    { cwd: ROOT, stdio: 'inherit' },
  );
  // A terminal sends Ctrl-C to the child itself, too.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => {
    if (shares !== undefined) rmSync(shares.folder, { recursive: true });
    process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 0));
  });
}

/** Writes files that import a share of the test files each. A file that cannot be imported is a test that fails. */
function shareOut(files: readonly string[], count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'hub-unit-'));
  const paths = Array.from({ length: count }, (_, share) => {
    const urls = files
      .filter((_file, index) => index % count === share)
      .map((path) => pathToFileURL(join(ROOT, path)).href);
    const path = join(folder, `share_${share + 1}.test.mjs`);
    writeFileSync(path, SHARE.replace('[]', JSON.stringify(urls, undefined, 2)));
    return path;
  });
  return { folder, paths };
}

const SHARE = `import { test } from 'node:test';

for (const url of []) {
  try {
    await import(url);
  } catch (error) {
    test(url, () => {
      throw error;
    });
  }
}
`;

function isGroup(text: string): text is Group {
  return (GROUPS as readonly string[]).includes(text);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

main(process.argv.slice(2));
