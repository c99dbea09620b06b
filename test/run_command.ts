import { spawn } from 'node:child_process';
import { availableParallelism, constants } from 'node:os';
import { GROUPS, type Group, testsIn } from './groups.ts';
import { shareOut } from './shares.ts';
import { ROOT, readSourceFiles } from './tidy/source_file.ts';

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
    shares?.remove();
    process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 0));
  });
}

function isGroup(text: string): text is Group {
  return (GROUPS as readonly string[]).includes(text);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

main(process.argv.slice(2));
