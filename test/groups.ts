import type { SourceFile } from './tidy/source_file.ts';

/**
 * The three groups of test files. `unit` needs neither a hub nor other processes and is quick enough for the inner loop;
 * `ui` is what is tested in a browser, and the page's own code; `slow` is the rest. A new test file is in the right one
 * by what it imports, unless it takes long by itself.
 */
export const GROUPS = ['unit', 'ui', 'slow'] as const;

export type Group = (typeof GROUPS)[number];

const UI_FOLDER = 'test/hub-ui/';
const BROWSER = 'test/support/browser.ts';
/** A hub, other processes, worker threads with shards. */
const HEAVY = ['src/hub/hub.ts', 'test/threads/running_shards.ts', 'node:child_process'];

/** Files that import nothing heavy and take more than a second and a half all the same, and why. */
export const LONG: Readonly<Record<string, string>> = {
  'test/cluster/simulation.test.ts': 'plays whole hubs through faults of many seeds',
  'test/cluster/cluster_fanout.test.ts': 'plays hubs, and what goes wrong with them, on simulated time',
  'test/core/index_properties.test.ts': 'plays random tracks with the index and without it',
  'test/core/restart_properties.test.ts': 'restarts random sites wherever they are',
  'test/core/shards_properties.test.ts': 'plays random sites with every number of shards',
  'test/core/site_properties.test.ts': 'plays hundreds of random sites',
  'test/geometry/fence_index_properties.test.ts': 'compares the index with brute force over random fences',
  'test/hardening/regexes.test.ts': 'tries every regular expression with growing texts',
  'test/ingest/location_scanner.test.ts': 'compares 100,000 random bodies with the parser, and compiles',
  'test/ingest/scanned_bodies.test.ts': 'compares thousands of random bodies with the parser',
  'test/model/lossless_numbers.test.ts': 'compares thousands of random texts with a slow reader',
  'test/store/contract.test.ts': 'opens each kind of store, threads included, for each promise',
  'test/store/log_size.test.ts': 'writes until the log would have grown',
  'test/store/thread_store.test.ts': 'starts a store thread for each test',
  'test/transport/browsers.test.ts': 'resolves names that nobody has',
  'test/transport/limits.test.ts': 'waits for time limits of real connections',
  'test/transport/peers.test.ts': 'waits for pings of real connections',
  'test/transport/tls.test.ts': 'makes certificates, and waits for time limits',
};

/**
 * Files that take the time that others leave, in processes of a low priority, and run beside all of them from the beginning
 * to the end of a whole run.
 */
export const BESIDE: readonly string[] = ['test/cluster/many_simulations.test.ts'];

/** The group that a test file belongs to; `all` are the files that it may import. */
export function groupOf(file: SourceFile, all: ReadonlyMap<string, SourceFile>): Group {
  const reached = reachedFrom(file, all);
  if (file.path.startsWith(UI_FOLDER) || reached.has(BROWSER)) return 'ui';
  if (file.path in LONG || HEAVY.some((heavy) => reached.has(heavy))) return 'slow';
  return 'unit';
}

/** Test files of a group, by path; all of them without one. */
export function testsIn(files: readonly SourceFile[], group?: Group): string[] {
  const all = new Map(files.map((file) => [file.path, file]));
  return files
    .filter((file) => file.path.startsWith('test/') && file.path.endsWith('.test.ts'))
    .filter((file) => group === undefined || groupOf(file, all) === group)
    .map(({ path }) => path);
}

/** Paths of our files, and names of modules, that a file imports, directly or not. */
function reachedFrom(file: SourceFile, all: ReadonlyMap<string, SourceFile>, reached = new Set<string>()): Set<string> {
  for (const { ours, module, address } of file.imports) {
    const name = ours ?? module;
    if (name === undefined || address || reached.has(name)) continue;
    reached.add(name);
    const imported = all.get(name);
    if (imported !== undefined) reachedFrom(imported, all, reached);
  }
  return reached;
}
