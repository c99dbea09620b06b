/**
 * Permitted imports between parts. The first row that contains a file applies. A part may always import its own files
 * and the shared ones. All other imports are rejected, so a new folder needs a row here.
 */
export const SHARED = [
  'src/errors.ts',
  'src/problem.ts',
  'src/reasons.ts',
  'src/exchange.ts',
  'src/time/token_bucket.ts',
  'src/time/task_scheduler.ts',
];

interface Area {
  /** A folder, or a file. */
  readonly path: string;
  readonly mayImport: readonly string[];
  /** Packages, or files of them, to which the part is limited; it may then import nothing of Node. */
  readonly packages?: readonly string[];
}

const INNER = ['src/model', 'src/core'];

/**
 * Rooms of the core with only values and rules. Each may import those before it, and geodesy. None imports handlers.
 */
const VALUES = ['encoding', 'rules', 'zone', 'fence', 'tracking', 'location', 'motion', 'collision'].map(
  (room) => `src/core/${room}`,
);
/** Files that they share. */
const STATE = ['state', 'deadline_heap', 'variant_filter', 'json_bytes', 'event_writer'].map(
  (name) => `src/core/${name}.ts`,
);

/** Folders of the web UI, from values to pages. Each may import those before it. A new folder is added here. */
const UI = [
  ...['json', 'languages', 'problems', 'hub', 'controls', 'charts', 'alerts', 'drafts', 'bulk'],
  ...['plane', 'view', 'ground', 'site', 'objects', 'labels', 'navigation'].map((room) => `map/${room}`),
  // Formats without a page. Floor plans of zones are read from drawings.
  ...['json_error', 'entity_document', 'entity_properties', 'decode_text', 'drawing', 'dxf', 'dxf_plan'].map(
    (file) => `formats/${file}.ts`,
  ),
  ...['editor', 'fields', 'map', 'rules', 'providers', 'trackables', 'anchors', 'fences', 'zones'].map(
    (room) => `setup/${room}`,
  ),
  ...[
    'setup',
    'formats',
    'lists',
    'first_steps',
    'history',
    'events',
    'methods',
    'operations',
    'exchange',
    'links',
    'sinks',
  ],
  ...['sources', 'walk_tests', 'keys', 'audit', 'finder', 'reports', 'palette', 'signin'],
  ...['multi_select', 'layers', 'tools', 'wall', 'panel', 'find', 'filter'].map((room) => `map_page/${room}`),
  ...['map_page', 'home', 'muster', 'styles', 'shell', 'app.tsx', 'main.tsx', 'vite.config.ts'],
];

/** Geometry of the core that is small enough for a page: no projection libraries. */
const UI_GEOMETRY = ['plane_fit', 'ellipsoid', 'rings', 'longitude', 'rounding'].map(
  (file) => `src/core/geo/${file}.ts`,
);

export const AREAS: readonly Area[] = [
  { path: 'src/model', mayImport: [], packages: ['typebox/build/index.mjs', 'typebox/build/compile/index.mjs'] },
  { path: 'src/core/geo', mayImport: ['src/model'], packages: ['proj4', 'geographiclib-geodesic'] },
  ...VALUES.map((path, i) => ({
    path,
    mayImport: ['src/model', 'src/core/geo', ...VALUES.slice(0, i), ...STATE],
    packages: [],
  })),
  { path: 'src/core', mayImport: ['src/model'], packages: [] },
  { path: 'wasm', mayImport: [] },
  { path: 'src/fence_index', mayImport: [...INNER, 'wasm'] },
  { path: 'src/store', mayImport: [...INNER, 'src/wire'] },
  { path: 'src/wire', mayImport: INNER, packages: ['msgpackr'] },
  {
    path: 'src/cluster',
    mayImport: [...INNER, 'src/wire', 'src/lane', 'src/time', 'workers/bus.ts'].concat([
      'src/events/event_bytes.ts',
      'src/events/event_log.ts',
      'src/shards/affinity.ts',
      'src/store/newest_rows.ts',
      'src/rpc/carrier.ts',
    ]),
  },
  { path: 'src/mqtt', mayImport: [...INNER, 'src/fanout', 'src/ingest', 'src/rpc/carrier.ts'] },
  { path: 'src/opcua', mayImport: [...INNER, 'src/fanout', 'src/socket/expiry.ts'] },
  { path: 'src/mcp', mayImport: ['src/model'] },
  { path: 'src/remote', mayImport: INNER },
  { path: 'src/links', mayImport: [...INNER, 'src/ingest', 'src/remote'] },
  { path: 'src/history', mayImport: [...INNER, 'src/fanout', 'wasm/h3.ts'] },
  { path: 'workers/history_query.ts', mayImport: ['src/history', 'src/time/clock.ts'] },
  { path: 'workers/history_postgres.ts', mayImport: ['src/history', 'src/time/clock.ts'] },
  { path: 'workers/history.ts', mayImport: ['src/history', 'src/time/clock.ts'] },
  {
    path: 'workers/demo.ts',
    mayImport: ['src/model', 'src/cli/demo', 'src/cli/hub_client.ts'],
  },
  { path: 'workers/bus.ts', mayImport: ['src/cluster/nats'] },
  { path: 'workers/mqtt.ts', mayImport: ['src/mqtt', 'src/time/clock.ts'] },
  { path: 'workers/opcua.ts', mayImport: ['src/opcua', 'src/time/clock.ts'] },
  { path: 'workers', mayImport: [...INNER, 'src/wire', 'src/fence_index', 'src/store', 'src/time/clock.ts'] },
  { path: 'src/config', mayImport: ['src/model'] },
  { path: 'src/ingest', mayImport: INNER },
  { path: 'src/mapping', mayImport: ['src/model'] },
  { path: 'src/adapters', mayImport: [...INNER, 'src/ingest'] },
  { path: 'src/entities', mayImport: [...INNER, 'src/mapping'] },
  { path: 'src/fanout', mayImport: INNER },
  { path: 'src/events', mayImport: [...INNER, 'src/fanout'] },
  { path: 'src/alerts', mayImport: [...INNER, 'src/entities', 'src/fanout'] },
  { path: 'src/sinks', mayImport: [...INNER, 'src/entities', 'src/fanout', 'src/remote'] },
  {
    path: 'src/sources',
    mayImport: [...INNER, 'src/entities', 'src/ingest', 'src/mapping'].concat([
      'src/adapters/iso24730/line_splitter.ts',
      'src/links/link_runner.ts',
    ]),
  },
  { path: 'src/auth', mayImport: INNER },
  { path: 'src/rpc', mayImport: ['src/model'], packages: [] },
  {
    path: 'src/api',
    mayImport: [
      ...INNER,
      'src/auth',
      'src/entities',
      'src/events',
      'src/ingest',
      'src/fanout',
      'src/mapping/presets.ts',
      'src/socket/docs',
      'src/history/queries',
      'src/history/erasure.ts',
    ],
  },
  { path: 'src/socket', mayImport: [...INNER, 'src/auth', 'src/events', 'src/ingest', 'src/fanout', 'src/rpc'] },
  { path: 'src/lane', mayImport: [...INNER, 'src/wire'] },
  { path: 'src/shards', mayImport: [...INNER, 'src/lane', 'src/wire'] },
  { path: 'src/transport', mayImport: ['src/model'] },
  {
    path: 'src/cli/data',
    mayImport: [...INNER, 'src/mapping'].concat([
      ...['command_error', 'entities', 'history_of', 'hub_client', 'options', 'status_line'].map(
        (name) => `src/cli/${name}.ts`,
      ),
      ...['deliver', 'pace', 'recording'].map((name) => `src/cli/replay/${name}.ts`),
      'src/config',
      'src/entities',
      'src/store',
      'src/history',
      'src/fence_index/shape_checks.ts',
      'src/cluster/config/offline_config.ts',
      'src/auth/api_key_text.ts',
      'src/ingest/check_location.ts',
    ]),
  },
  {
    path: 'src/cli/doctor',
    mayImport: ['src/model', 'src/config'].concat([
      'src/mqtt/broker_connection.ts',
      'src/cluster/nats/connection.ts',
      ...['connect', 'failures'].map((name) => `src/store/widecolumn/${name}.ts`),
    ]),
  },
  {
    path: 'src/cli/support',
    mayImport: ['src/model', 'src/config', 'src/cli/doctor', 'package.json'].concat([
      ...['command_error', 'hub_client', 'options'].map((name) => `src/cli/${name}.ts`),
    ]),
  },
  { path: 'src/cli', mayImport: ['src/model', 'src/config/load.ts', 'src/config/npm_options.ts'] },
  ...UI.map((room, i) => ({
    path: `src/hub-ui/${room}`,
    mayImport: ['src/model', ...UI_GEOMETRY, 'src/core/rules', 'src/core/tracking'].concat(
      UI.slice(0, i).map((before) => `src/hub-ui/${before}`),
    ),
  })),
  { path: 'src/site', mayImport: [] },
  { path: 'src/built_folder.mjs', mayImport: [] },
  { path: 'src/build_ui.mjs', mayImport: ['src/built_folder.mjs'] },
  { path: 'src/bundle.mjs', mayImport: ['src/built_folder.mjs'] },
  { path: 'src/errors.ts', mayImport: [] },
  { path: 'src/problem.ts', mayImport: [] },
  { path: 'src/reasons.ts', mayImport: [] },
  { path: 'src/exchange.ts', mayImport: ['src/model'] },
  {
    path: 'src/operation',
    mayImport: [...INNER, 'src/auth', 'src/config', 'src/entities', 'src/fanout', 'src/ingest'].concat([
      'src/lane',
      'src/mqtt/messages.ts',
      'src/rpc',
      'src/shards',
      'src/store',
    ]),
  },
  { path: 'src/telemetry', mayImport: [] },
  { path: 'src/time', mayImport: ['src/model'], packages: [] },
  { path: 'src/launch.mjs', mayImport: [] },
  { path: 'src/main.ts', mayImport: ['src', 'workers'] },
  { path: 'src/hub', mayImport: ['src', 'workers', 'wasm', 'package.json'] },
  { path: 'bench/load', mayImport: ['bench/listen', 'bench/process'] },
  { path: 'bench/listen', mayImport: ['bench/load', 'bench/process'] },
  {
    path: 'bench/process',
    mayImport: ['bench/load', 'bench/listen', 'bench/bare_server.ts', 'src/bundle.mjs', 'src/launch.mjs'],
  },
  {
    path: 'bench/kernel',
    mayImport: ['src', 'workers', 'wasm', 'bench/load', 'bench/profiles/site.ts', 'bench/profiles/scenes.ts'],
  },
  { path: 'bench/cluster', mayImport: ['bench/load/random.ts', 'bench/report/result.ts'] },
  { path: 'bench/locating', mayImport: ['src/core/tracking', 'src/model/filter.ts'] },
  { path: 'bench/history', mayImport: ['src/history', 'src/model/history.ts'] },
  { path: 'bench/report', mayImport: ['bench/targets.ts', 'bench/cluster/clusters.ts'] },
  { path: 'bench/soak', mayImport: ['bench/process', 'bench/profiles', 'src/store/backup.ts'] },
  { path: 'bench', mayImport: [] },
  {
    path: 'deploy/packages',
    mayImport: ['src/bundle.mjs', 'src/build_ui.mjs', 'src/launch.mjs', 'bench/process/go_installed.ts'],
  },
  { path: 'deploy/site', mayImport: ['bench/process/hub.ts'] },
  { path: 'sdk', mayImport: [] },
  { path: 'test', mayImport: ['src', 'workers', 'wasm', 'bench', 'deploy', 'sdk'] },
];

/** The only parts that may import a package. Tests and benches may import any. */
export const SINGLE_SITES: Readonly<Record<string, readonly string[]>> = {
  'hyper-express': ['src/transport'],
  'geos-wasm': ['wasm'],
  'h3-js': ['wasm'],
  proj4: ['src/core/geo'],
  'geographiclib-geodesic': ['src/core/geo'],
  'better-sqlite3': ['src/store'],
  'cassandra-driver': ['src/store/widecolumn'],
  piscina: ['src/lane', 'workers'],
  jose: ['src/auth'],
  oauth4webapi: ['src/hub-ui/signin'],
  dxf: ['src/hub-ui/formats/dxf.ts'],
  fflate: ['src/hub-ui/formats/zip.ts'],
  '@prometheus-io/client': ['src/operation'],
  '@duckdb/node-api': ['src/history/duck.ts'],
  pg: ['src/history/postgres_copy.ts'],
  'pg-copy-streams': ['src/history/postgres_copy.ts'],
  commander: ['src/cli'],
  nanotar: ['src/cli/support'],
  yaml: ['src/config'],
  undici: ['src/hub'],
  standardwebhooks: ['src/sinks'],
  pino: ['src/hub'],
  '@nats-io/transport-node': ['src/cluster/nats/connection.ts', 'src/sinks/nats.ts'],
  '@platformatic/kafka': ['src/sinks/kafka.ts'],
  nodemailer: ['src/sinks/email.ts'],
  '@modelcontextprotocol/server': ['src/mcp/mcp.ts'],
  'node-opcua-address-space': ['src/opcua/site_nodes.ts'],
  'node-opcua-certificate-manager': ['src/opcua/certificates.ts'],
  'node-opcua-debug': ['workers/opcua.ts'],
  'node-opcua-nodeid': ['src/opcua/site_nodes.ts'],
  'node-opcua-secure-channel': ['src/opcua/opcua_thread.ts'],
  'node-opcua-server': ['src/opcua/opcua_thread.ts'],
  'node-opcua-status-code': ['src/opcua'],
  'node-opcua-variant': ['src/opcua/site_nodes.ts'],
  mqtt: ['src/mqtt/broker_connection.ts', 'src/cli/demo/broker_feed.ts', 'src/sources/mqtt.ts'],
};

/** Optional rooms, which a hub only loads if it uses them, and the files that may import each. All others use `import()`. */
export const OPTIONAL_ROOMS: readonly { readonly path: string; readonly importers: readonly string[] }[] = [
  // For a single hub.
  { path: 'src/cluster', importers: ['src/cluster', 'workers/bus.ts', 'test'] },
  // For a hub without a broker.
  { path: 'src/mqtt', importers: ['src/mqtt', 'workers/mqtt.ts', 'test'] },
  // For a hub without a collector of telemetry.
  { path: 'src/telemetry', importers: ['src/telemetry', 'test'] },
  // For a hub without OPC UA.
  { path: 'src/opcua', importers: ['src/opcua', 'workers/opcua.ts', 'test'] },
  // For a hub without agents.
  { path: 'src/mcp', importers: ['src/mcp', 'test'] },
  // For a hub without links to other hubs.
  { path: 'src/links', importers: ['src/links', 'test'] },
  // For a hub without links, and without sinks to other hubs.
  { path: 'src/remote', importers: ['src/remote', 'src/links', 'src/sinks/hub.ts', 'test'] },
  // For a hub without authentication.
  { path: 'src/hub/authorization.ts', importers: ['test'] },
  { path: 'src/hub/outgoing_fetch.ts', importers: ['test'] },
  // For a hub without sinks, and for a sink of another type.
  ...['sink_runner', 'webhook', 'hub', 'kafka', 'nats', 'email'].map((name) => ({
    path: `src/sinks/${name}.ts`,
    importers: ['test'],
  })),
  // For a hub without sources, and for a source of another kind.
  ...['source_runner', 'preview', 'mqtt', 'tcp', 'udp', 'websocket', 'poll'].map((name) => ({
    path: `src/sources/${name}.ts`,
    importers: ['test'],
  })),
  { path: 'src/sinks/open_sender.ts', importers: ['src/sinks/sink_runner.ts', 'test'] },
  // For a hub without history: its routes reject requests, but describe the queries.
  {
    path: 'src/history',
    importers: [
      ...['src/history', 'workers/history.ts', 'workers/history_query.ts', 'workers/history_postgres.ts'],
      ...[
        'src/api/routes/history.ts',
        'src/api/routes/erasure.ts',
        'src/api/routes/moving_features.ts',
        'src/api/history_access.ts',
        'src/api/time_range.ts',
        'src/hub/connect_audit.ts',
      ],
      ...['src/cli/data', 'bench', 'test'],
    ],
  },
];

/** Files that may start a hub. It passes on its parts to others. */
export const HUB_STARTERS = ['src/main.ts', 'test'];
