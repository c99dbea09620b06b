import { spawn } from 'node:child_process';
import { availableParallelism, constants } from 'node:os';
import { GROUPS, type Group, QUICK_GROUPS, testsIn } from './groups.ts';
import { runGroups } from './run_groups.ts';
import { ROOT, readSourceFiles } from './tidy/source_file.ts';

/**
 * Runs tests: the quick groups, or one group for `npm run test:unit`, `test:system`, `test:ui`, `test:slow` or `test:soak`. Words select
 * the files whose paths have one of them (`-- fanout send_queue`). Options go to `node --test`: `--watch` runs a file again
 * when it, or a file that it imports, changes.
 */
async function main([group, ...rest]: readonly string[]): Promise<void> {
  if (group !== undefined && !isGroup(group)) {
    fail(`Cannot run tests: the group must be one of ${GROUPS.join(', ')}, found "${group}"`);
  }
  if (group !== undefined && rest.length > 0) runSelected(group, rest);
  else process.exitCode = (await runGroups(group === undefined ? QUICK_GROUPS : [group])) ? 0 : 1;
}

/** Runs files of a group by `node --test`, which prints each test. */
function runSelected(group: Group, rest: readonly string[]): void {
  const options = rest.filter((argument) => argument.startsWith('-'));
  const words = rest.filter((argument) => !argument.startsWith('-'));
  const files = testsIn(readSourceFiles(), group).filter((path) => {
    return words.length === 0 || words.some((word) => path.includes(word));
  });
  if (files.length === 0) fail(`Cannot run tests: no file of ${group} has ${words.join(' or ')} in its path`);
  // Hubs and browsers have several threads each, and their tests measure times.
  const together = group === 'unit' ? availableParallelism() : 2;
  const child = spawn(
    process.execPath,
    ['--test', `--test-concurrency=${together}`, '--test-timeout=1200000', '--test-reporter=spec', ...options].concat(
      files,
    ),
    { cwd: ROOT, stdio: 'inherit' },
  );
  // A terminal sends Ctrl-C to the child as well.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGTERM'] ?? 0)));
}

function isGroup(text: string): text is Group {
  return (GROUPS as readonly string[]).includes(text);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

await main(process.argv.slice(2));
