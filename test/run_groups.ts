import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { type Group, testsIn } from './groups.ts';
import { shareOut } from './shares.ts';
import { ROOT, readSourceFiles } from './tidy/source_file.ts';

/** Processes at the same time. Most wait now and then: two would leave cores idle. */
const TOGETHER: Readonly<Record<Group, number>> = { unit: 3, system: 4, ui: 4, slow: 2 };
/** Processes of the unit tests, which load the hub's code once for many files. */
const SHARES = 6;
/** Limit for one file, or one share. */
const TIMEOUTS_MS: Readonly<Record<Group, number>> = {
  unit: 600_000,
  system: 300_000,
  ui: 300_000,
  slow: 1_200_000,
};
const PROGRESS_MS = 20_000;
const SLOWEST_SHOWN = 15;
/** Characters of the output of a failed file. */
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
  readonly details: { readonly duration_ms: number; readonly type?: string };
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
  /** Milliseconds by file: of its process, or in a share the sum of its tests. */
  readonly tookMs = new Map<string, number>();
  /** Output of processes that have not ended yet, and of those that have failed. */
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
    const shares = this.group === 'unit' ? shareOut(this.#files, SHARES) : undefined;
    const paths = shares?.paths ?? this.#files;
    print(`${this.group.padEnd(7)} ${this.#files.length} files`);
    const timer = setInterval(() => this.#printProgress(paths.length), PROGRESS_MS);
    const files = paths.map((path) => resolve(ROOT, path));
    const options = { files, concurrency: TOGETHER[this.group], timeout: TIMEOUTS_MS[this.group] };
    for await (const event of run(options)) this.#take(event as unknown as TestEvent);
    clearInterval(timer);
    this.#printProgress(paths.length);
    shares?.remove();
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
    const isTest = data.details.type !== 'suite';
    if (type === 'test:fail') {
      this.failures.push(event);
      print(`✖ ${file ?? ''}: ${data.name}`);
    } else if (isSkipped(data.skip)) {
      const reason = typeof data.skip === 'string' ? data.skip : 'without a reason';
      this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
    } else if (isTest) {
      this.#passed++;
    }
    // A share has a test of its own, which waits until its files are loaded.
    if (data.nesting > 0 || file === undefined || file.startsWith('..') || this.group !== 'unit') return;
    this.tookMs.set(file, (this.tookMs.get(file) ?? 0) + data.details.duration_ms);
  }

  #takeSummary({ success, duration_ms }: EventData, file: string | undefined): void {
    if (file === undefined) {
      this.#isCounted = true;
      return;
    }
    this.#filesDone++;
    if (this.group !== 'unit') this.tookMs.set(file, duration_ms);
    if (success) this.#output.delete(file);
  }

  #printProgress(processes: number): void {
    const done =
      this.group === 'unit' ? `${this.#filesDone}/${processes} shares` : `${this.#filesDone}/${processes} files`;
    const skipped = [...this.skipped.values()].reduce((sum, count) => sum + count, 0);
    const counts = `${this.#passed} passed, ${this.failures.length} failed, ${skipped} skipped`;
    print(`${this.group.padEnd(7)} ${done}, ${counts}, ${seconds(performance.now() - this.#startedMs)}`);
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

/** Writes each failure as the spec reporter does, after what its file has written. */
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
