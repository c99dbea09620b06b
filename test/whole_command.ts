import { resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { BESIDE, testsIn } from './groups.ts';
import { shareOut } from './shares.ts';
import { ROOT, readSourceFiles } from './tidy/source_file.ts';

/** Processes of tests at the same time. Most wait for something now and then: fewer would leave cores idle. */
const TOGETHER = 4;
/** Of the unit tests, which share the hub's code. */
const UNIT_PROCESSES = 6;
/** For a file. */
const TIMEOUT_MS = 2_400_000;

interface Summary {
  readonly success: boolean;
  readonly counts: Readonly<Record<string, number>>;
}

const report = new spec();

/**
 * Runs every test, as `npm run check:tests` does. What runs beside all others begins at once and takes the time that they
 * leave, so that no core is idle before the end.
 */
async function main(): Promise<void> {
  report.pipe(process.stdout);
  const startedMs = performance.now();
  const files = readSourceFiles();
  const shares = shareOut(testsIn(files, 'unit'), UNIT_PROCESSES);
  const apart = [...testsIn(files, 'slow'), ...testsIn(files, 'ui')].filter((path) => !BESIDE.includes(path));
  const summaries = await Promise.all([play([...apart, ...shares.paths], TOGETHER), play(BESIDE, BESIDE.length)]);
  shares.remove();
  const success = summaries.every((summary) => summary.success);
  for (const name of ['tests', 'passed', 'failed', 'cancelled', 'skipped']) {
    tell(`${name} ${summaries.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0)}`);
  }
  tell(`${Math.round((performance.now() - startedMs) / 1000)} s`);
  // With it come the failures, once more.
  report.write({ type: 'test:summary', data: { success } });
  report.end();
  process.exitCode = success ? 0 : 1;
}

/** Runs files, that many at the same time, and reports what becomes of their tests. */
async function play(paths: readonly string[], concurrency: number): Promise<Summary> {
  let summary: Summary = { success: false, counts: {} };
  let hasFailed = false;
  const files = paths.map((path) => resolve(ROOT, path));
  for await (const event of run({ files, concurrency, timeout: TIMEOUT_MS })) {
    const isOfAll = event.data.file === undefined;
    // A suite that cannot be made is not among what is counted.
    if (event.type === 'test:fail') hasFailed = true;
    if (event.type === 'test:summary' && isOfAll) summary = event.data;
    else if (event.type !== 'test:diagnostic' || !isOfAll) report.write(event);
  }
  return { ...summary, success: summary.success && !hasFailed };
}

function tell(message: string): void {
  report.write({ type: 'test:diagnostic', data: { nesting: 0, message } });
}

await main();
