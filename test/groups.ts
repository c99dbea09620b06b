import type { SourceFile } from './tidy/source_file.ts';

/**
 * The groups of test files. `unit` needs neither a hub nor other processes and is quick enough for the inner loop; `system`
 * runs hubs, threads and other processes; `ui` is the page, most of it in a browser. These three are the quick check,
 * `npm test`. `slow` has the files of `SLOW`, `soak` those of `SOAK`. A new test file is in the right group by what it imports,
 * unless it takes long.
 */
export const GROUPS = ['unit', 'system', 'ui', 'slow', 'soak'] as const;

export type Group = (typeof GROUPS)[number];

/** The groups that `npm test` runs, in this order. */
export const QUICK_GROUPS = ['unit', 'system', 'ui'] as const satisfies readonly Group[];

const PROCESSES = 'node:child_process';
const UI_FOLDER = 'test/hub-ui/';
const BROWSER = 'test/support/browser.ts';
/** A hub, worker threads with shards, processes of a test itself. A part of the hub starts its own only if it is used. */
const HEAVY = ['src/hub/hub.ts', 'test/threads/running_shards.ts', PROCESSES];

/** Files that import nothing heavy but take more than 1.5 s, and the reason: they are in `system`. */
export const LONG: Readonly<Record<string, string>> = {
  'test/cluster/simulation.test.ts': 'plays whole hubs through faults of many seeds',
  'test/cluster/cluster_fanout.test.ts': 'plays hubs and their faults on simulated time',
  'test/cluster/reporters.test.ts': 'plays eight hubs and their faults on simulated time',
  'test/cluster/living_owners.test.ts': 'plays three hubs on simulated time',
  'test/cluster/takeover_model.test.ts': 'visits every state of small clusters',
  'test/core/index_properties.test.ts': 'plays random tracks with the index and without it',
  'test/core/restart_properties.test.ts': 'restarts random sites at random moments',
  'test/core/shards_properties.test.ts': 'plays random sites with every number of shards',
  'test/core/site_properties.test.ts': 'plays hundreds of random sites',
  'test/store/event_segments.test.ts': 'writes segments, and starts a store after each of many crashes',
  'test/events/event_log.test.ts': 'plays random failures and restarts of a database file',
  'test/geometry/fence_index_properties.test.ts': 'compares the index with brute force over random fences',
  'test/hardening/regexes.test.ts': 'tries every regular expression with long strings',
  'test/ingest/location_scanner.test.ts': 'compares 100,000 random bodies with the parser, and compiles',
  'test/ingest/scanned_bodies.test.ts': 'compares thousands of random bodies with the parser',
  'test/model/lossless_numbers.test.ts': 'compares thousands of random strings with a slow reader',
  'test/store/contract.test.ts': 'opens each kind of store, threads included, for each promise',
  'test/store/log_size.test.ts': 'writes until the log would have grown',
  'test/store/thread_store.test.ts': 'starts a store thread for each test',
  'test/transport/browsers.test.ts': 'resolves host names that do not exist',
  'test/transport/limits.test.ts': 'waits for time limits of real connections',
  'test/transport/peers.test.ts': 'waits for pings of real connections',
  'test/transport/tls.test.ts': 'makes certificates, and waits for time limits',
};

/** Files that only `npm run test:slow` runs, and the reason. The reason names a quick file that covers a part of the same behavior. */
export const SLOW: Readonly<Record<string, string>> = {
  'test/clients/generated_go.test.ts':
    'downloads a generator, and compiles; test/contract/for_generators.test.ts checks the documents',
  'test/clients/generated_python.test.ts':
    'downloads a generator; test/contract/for_generators.test.ts checks the documents',
  'test/clients/generated_typescript.test.ts':
    'downloads a generator; test/contract/for_generators.test.ts checks the documents',
  'test/sdk/generators.test.ts':
    'downloads generators; generated.test.ts of that folder compares the hash of the document',
  'test/sdk/node_red.test.ts': 'downloads Node-RED; the tests in sdk/ use the client that its nodes consist of',
  'test/sdk/notebook.test.ts':
    'downloads pandas and GeoPandas; test/cli/import_positions.test.ts imports the same kind of file',
  'test/sdk/python.test.ts':
    'downloads packages; acceptance.test.ts of that folder runs the same rounds with the other SDK',
  'test/sdk/readme.test.ts':
    'packs and installs the SDKs; the tests in sdk/ and acceptance.test.ts of that folder use them without',
  'test/clients/go.test.ts':
    'downloads packages, and compiles; test/contract/go_client.test.ts makes the same requests',
  'test/clients/omlox_cli.test.ts':
    'downloads a program, and compiles; test/contract/go_client.test.ts makes its requests',
  'test/clients/python_mqtt.test.ts': 'downloads packages; test/mqtt/rpc_on_brokers.test.ts speaks to the same brokers',
  'test/clients/webhook_signatures.test.ts':
    'downloads packages, and compiles; test/sinks/webhook.test.ts verifies signatures with the package of npm',
  'test/cluster/cluster_command.test.ts':
    'kills hubs of a whole cluster; hub_processes.test.ts of that folder kills one of two',
  'test/cluster/documented_subscriber.test.ts':
    'kills, stops and halts hubs below a subscriber; simulation.test.ts of that folder does so in simulated time',
  'test/cluster/history_of_all.test.ts':
    'starts two hubs with a history each; test/history/queries_of_a_hub.test.ts asks one hub the same',
  'test/cluster/locating_of_all_hubs.test.ts':
    'starts two hubs with a history each; search.test.ts, gates.test.ts and forecasts.test.ts of test/e2e ask one hub the same',
  'test/cluster/many_simulations.test.ts':
    'plays hundreds of clusters through faults; simulation.test.ts of that folder plays the seeds that once failed',
  'test/cluster/move_data.test.ts':
    'moves data into a cluster by commands; test/cli/import_export.test.ts moves it between hubs',
  'test/core/tracking/filter_oracle.test.ts':
    'downloads packages; filter.test.ts of that folder tests the same filter without an oracle',
  'test/deploy/helm.test.ts':
    'downloads and compiles helm; examples.test.ts of that folder checks the manifests that the chart has in common',
  'test/durability/lost_files.test.ts':
    'starts processes of hubs on lost and changed files; damage.test.ts, unclean_end.test.ts and lock.test.ts of test/store/ have the faults without hubs',
  'test/e2e/long_lists.test.ts':
    'reads long lists of a whole hub; test/api/pages.test.ts and test/transport/long_answers.test.ts send them in parts',
  'test/history/other_program.test.ts': 'downloads Python packages; whole_csv.test.ts of that folder reads the rows',
  'test/hub-ui/accessibility.test.ts':
    'checks each page in each width, theme and language; keyboard.test.ts of that folder checks the map',
  'test/hub-ui/cluster.test.ts':
    'kills hubs of clusters below pages; live_socket.test.ts of that folder reconnects without a browser, and operator.test.ts shows it',
  'test/hub-ui/import_files.test.ts':
    'imports each kind of file in a browser; import_drawings.test.ts of that folder imports drawings, and formats.test.ts the other kinds without a browser',
  'test/hub-ui/installed.test.ts':
    'restarts hubs below installed pages; prefix.test.ts of that folder installs the shell below a path',
  'test/hub-ui/setup_zones.test.ts':
    'draws and places zones in a browser; setup_fences.test.ts of that folder draws on the same map, and drawn_features.test.ts moves zones without a browser',
  'test/documents/cluster_tutorial.test.ts':
    'starts NATS and three hubs as npm does; tutorials.test.ts of that folder follows the other tutorials',
  'test/opcua/asyncua.test.ts':
    'downloads packages; server.test.ts of that folder starts the same server, and checks its nodes without a client',
  'test/packaging/site.test.ts':
    'downloads VitePress, and builds the site; site_pages.test.ts of that folder checks its pages and links',
  'test/packaging/image.test.ts':
    'builds an image, and downloads its base; oci_layout.test.ts of that folder writes images of small files',
  'test/packaging/packages.test.ts':
    'builds and installs packages; test/deploy/bundle.test.ts runs the bundles that they contain',
  'test/packaging/release_command.test.ts':
    'builds a package of a copy of the repository; release.test.ts of that folder makes the same changes without building',
  'test/sinks/kafka.test.ts':
    'starts Kafka, which is downloaded; nats.test.ts of that folder has the same faults of a smaller server',
  'test/store/wide_column_contract.test.ts':
    'starts Cassandra, which is downloaded; contract.test.ts of that folder checks the other stores',
  'test/store/widecolumn/failures.test.ts':
    'starts Cassandra, which is downloaded; test/store/damage.test.ts has the faults of SQLite',
  'test/store/widecolumn/start.test.ts': 'starts Cassandra, which is downloaded',
};

/** Files that only `npm run test:soak` runs, and the reason, as in `SLOW`: long loads, measurements and series of faults. */
export const SOAK: Readonly<Record<string, string>> = {
  'test/bench/smoke_long.test.ts':
    'measures a broker and a day of the past; smoke.test.ts of that folder measures two profiles in the same way',
  'test/cluster/large_takeover_model.test.ts':
    'visits 170,000 states; takeover_model.test.ts of that folder visits smaller clusters',
  'test/contract/schemathesis.test.ts':
    'makes random requests for a minute; reference_api.test.ts of that folder makes each request once',
  'test/durability/cluster_crash.test.ts':
    'plays crash rounds of a cluster; test/cluster/hub_processes.test.ts has one crash',
  'test/durability/cluster_outages.test.ts':
    'restarts a whole cluster of processes; test/cluster/living_owners.test.ts has the same waits on simulated time',
  'test/durability/wide_column.test.ts':
    'starts Cassandra, which is downloaded; crash.test.ts of that folder has the same rounds on SQLite',
  'test/hardening/fence_memory.test.ts':
    'fills hubs of eight shards with fences; test/core/kept_region.test.ts checks that polygons are kept as numbers',
  'test/hardening/hostile.test.ts':
    'sends thousands of hostile requests; bounds.test.ts and paths.test.ts of that folder send each kind',
  'test/hardening/memory_back.test.ts':
    'floods hubs, and waits for their memory; test/threads/memory_watch.test.ts collects garbage at the same moments',
  'test/history/demo_retention.test.ts':
    'records 26 hours of the demo; retention.test.ts of that folder checks the same warning of replay',
  'test/hub-ui/event_memory.test.ts': 'sends events until memory would have grown',
  'test/sdk/cluster_acceptance.test.ts':
    'kills hubs of a cluster below a client; acceptance.test.ts of that folder runs the same rounds with one hub',
};

/** Files that replace a global, and so run in a process of their own. */
export const ALONE: ReadonlySet<string> = new Set([
  'test/hub-ui/drafts_functions.test.ts',
  'test/hub-ui/reasons.test.ts',
  'test/hub-ui/reasons_es.test.ts',
  'test/hub-ui/reasons_fr.test.ts',
]);

/** The group that a test file belongs to; `all` are the files that it may import. */
export function groupOf(file: SourceFile, all: ReadonlyMap<string, SourceFile>): Group {
  if (file.path in SLOW) return 'slow';
  if (file.path in SOAK) return 'soak';
  const reached = reachedFrom(file, all);
  if (file.path.startsWith(UI_FOLDER) || reached.has(BROWSER)) return 'ui';
  if (file.path in LONG || HEAVY.some((heavy) => reached.has(heavy))) return 'system';
  return 'unit';
}

/** Test files of a group, by path; all test files without a group. */
export function testsIn(files: readonly SourceFile[], group?: Group): string[] {
  const all = new Map(files.map((file) => [file.path, file]));
  return files
    .filter(({ path }) => /^(test|sdk)\//.test(path) && path.endsWith('.test.ts'))
    .filter((file) => group === undefined || groupOf(file, all) === group)
    .map(({ path }) => path);
}

/** Paths of our files, and names of modules, that a file imports, directly or indirectly. */
function reachedFrom(file: SourceFile, all: ReadonlyMap<string, SourceFile>, reached = new Set<string>()): Set<string> {
  for (const { ours, module, address } of file.imports) {
    const name = ours ?? module;
    if (name === undefined || address || reached.has(name)) continue;
    if (name === PROCESSES && file.path.startsWith('src/')) continue;
    reached.add(name);
    const imported = all.get(name);
    if (imported !== undefined) reachedFrom(imported, all, reached);
  }
  return reached;
}
