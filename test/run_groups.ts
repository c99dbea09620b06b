import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { ALONE, type Group, testsIn } from './groups.ts';
import { shareOut } from './shares.ts';
import { ROOT, readSourceFiles } from './tidy/source_file.ts';

/** Concurrent processes. Most wait occasionally, so two would leave cores idle. */
const TOGETHER: Readonly<Record<Group, number>> = { unit: 3, system: 4, ui: 4, slow: 3, soak: 1 };
/**
 * Number of processes that the files of a group share. A process of its own costs a file one second of CPU time for loading
 * the hub's code, and more for a hub or a browser. Fewer processes leave cores idle while the last one runs.
 */
const SHARES: Readonly<Record<Group, number>> = {
  unit: 6,
  system: 36,
  ui: 16,
  slow: Number.POSITIVE_INFINITY,
  soak: Number.POSITIVE_INFINITY,
};
/** Modules that keep hubs or a browser for the next file of the process. */
const COMMON: Readonly<Record<Group, readonly string[]>> = {
  unit: [],
  system: ['test/support/shared_hubs.ts'],
  ui: ['test/support/shared_hubs.ts', 'test/support/browser.ts', 'test/hub-ui/signed_site.ts'],
  slow: [],
  soak: [],
};
/** Timeout for one file. */
const TIMEOUTS_MS: Readonly<Record<Group, number>> = {
  unit: 300_000,
  system: 300_000,
  ui: 300_000,
  slow: 1_200_000,
  soak: 1_200_000,
};
const PROGRESS_MS = 20_000;
const SLOWEST_SHOWN = 15;
/** Maximum number of characters shown of the output of a failed file. */
const OUTPUT_MAX = 20_000;

interface TestEvent {
  readonly type: string;
  readonly data: EventData;
}

/** The members of the events of `node:test` that are used here. */
interface EventData {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly skip?: string | boolean;
  readonly message: string;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string;
    readonly error?: { readonly failureType?: string };
  };
}

/**
 * Runs groups of tests one after another. Prints a line when a group starts, every 20 s, and when it ends, and a line for
 * each failure; then the skipped tests, the slowest files, and each failure in full. Resolves to whether all have passed.
 */
export async function runGroups(groups: readonly Group[]): Promise<boolean> {
  const files = readSourceFiles();
  const startedMs = performance.now();
  const runs: GroupRun[] = [];
  for (const group of groups) {
    const groupRun = new GroupRun(group, testsIn(files, group));
    runs.push(groupRun);
    await groupRun.play();
  }
  printSkipped(runs);
  printSlowest(runs);
  await printFailures(runs);
  const failed = runs.filter((groupRun) => !groupRun.hasPassed).map(({ group }) => group);
  const verdict = failed.length === 0 ? 'All tests passed' : `Tests failed in: ${failed.join(', ')}`;
  print(`${verdict}, ${seconds(performance.now() - startedMs)}`);
  return failed.length === 0;
}

/** One run of the files of a group. */
class GroupRun {
  readonly group: Group;
  readonly #files: readonly string[];
  readonly failures: TestEvent[] = [];
  /** Reasons of skipped tests, and how many were skipped for each. */
  readonly skipped = new Map<string, number>();
  /** Milliseconds by file, without its import. */
  readonly tookMs = new Map<string, number>();
  /** Output of processes that have not exited yet, and of those that have failed. */
  readonly #output = new Map<string, string>();
  readonly #startedMs = performance.now();
  #filesDone = 0;
  #passed = 0;
  #isCounted = false;

  constructor(group: Group, files: readonly string[]) {
    this.group = group;
    this.#files = files;
  }

  get hasPassed(): boolean {
    return this.failures.length === 0 && this.#isCounted;
  }

  async play(): Promise<void> {
    const timeoutMs = TIMEOUTS_MS[this.group];
    const options = { count: SHARES[this.group], alone: ALONE, common: COMMON[this.group], timeoutMs };
    const { paths, remove } = shareOut(this.#files, options);
    print(`${this.group.padEnd(7)} ${this.#files.length} files`);
    const timer = setInterval(() => this.#printProgress(), PROGRESS_MS);
    // A failed test may leave a hub open, which would keep the process running until the timeout.
    const how = { files: [...paths], concurrency: TOGETHER[this.group], timeout: 2 * timeoutMs, forceExit: true };
    for await (const event of run(how)) this.#take(event as unknown as TestEvent);
    clearInterval(timer);
    this.#printProgress();
    remove();
  }

  #take(event: TestEvent): void {
    const { type, data } = event;
    const file = data.file === undefined ? undefined : pathOf(data.file);
    if (type === 'test:pass' || type === 'test:fail') this.#takeTest(event, file);
    if ((type === 'test:stdout' || type === 'test:stderr') && file !== undefined) {
      this.#output.set(file, `${this.#output.get(file) ?? ''}${data.message}`.slice(-OUTPUT_MAX));
    }
    if (type === 'test:summary') this.#takeSummary(data, file);
  }

  #takeTest(event: TestEvent, file: string | undefined): void {
    const { type, data } = event;
    const { details, nesting, name, skip } = data;
    const isSuite = details.type === 'suite';
    // Each file is a suite at the top level: see shareOut.
    if (isSuite && nesting === 0) {
      this.#filesDone++;
      this.tookMs.set(name, details.duration_ms);
    }
    if (type === 'test:fail') {
      if (isSuite && details.error?.failureType === 'subtestsFailed') return;
      this.failures.push(event);
      print(`✖ ${file ?? ''}: ${name}`);
    } else if (isSkipped(skip)) {
      const reason = typeof skip === 'string' ? skip : 'without a reason';
      this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
    } else if (!isSuite) {
      this.#passed++;
    }
  }

  #takeSummary({ success }: EventData, file: string | undefined): void {
    if (file === undefined) this.#isCounted = true;
    else if (success) this.#output.delete(file);
  }

  #printProgress(): void {
    const skipped = [...this.skipped.values()].reduce((sum, count) => sum + count, 0);
    const counts = `${this.#passed} passed, ${this.failures.length} failed, ${skipped} skipped`;
    const files = `${this.#filesDone}/${this.#files.length} files`;
    print(`${this.group.padEnd(7)} ${files}, ${counts}, ${seconds(performance.now() - this.#startedMs)}`);
  }

  /** Output of the processes of failed files, without the results of their tests. */
  get output(): ReadonlyMap<string, string> {
    return this.#output;
  }
}

function printSkipped(runs: readonly GroupRun[]): void {
  const skipped = runs.flatMap((groupRun) => [...groupRun.skipped]);
  if (skipped.length > 0) print('\nSkipped:');
  for (const [reason, count] of skipped) print(`${String(count).padStart(6)}  ${reason}`);
}

function printSlowest(runs: readonly GroupRun[]): void {
  const took = runs.flatMap((groupRun) => [...groupRun.tookMs]).sort(([, a], [, b]) => b - a);
  print('\nThe slowest files:');
  for (const [file, ms] of took.slice(0, SLOWEST_SHOWN)) print(`${seconds(ms).padStart(8)}  ${file}`);
  print('');
}

/** Writes each failure as the spec reporter does, after the output of its file. */
async function printFailures(runs: readonly GroupRun[]): Promise<void> {
  const failures = runs.flatMap((groupRun) => groupRun.failures);
  if (failures.length === 0) return;
  for (const { output } of runs) for (const [file, text] of output) print(`Output of ${file}:\n${text}`);
  const report = new spec();
  const written = report.pipe(process.stdout, { end: false });
  for (const event of failures) report.write(event);
  report.write({ type: 'test:summary', data: { success: false } });
  await new Promise((done) => report.end(done));
  written.write('\n');
}

function isSkipped(skip: EventData['skip']): boolean {
  return skip !== undefined && skip !== false;
}

function pathOf(file: string): string {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  return relative(ROOT, path).replaceAll('\\', '/');
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
