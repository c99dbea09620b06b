import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { type CoveredBy, walked } from './covered_by.ts';
import { ENDPOINTS } from './endpoints.ts';
import { ASIDES } from './statements/asides.ts';
import { CHAPTERS } from './statements/statements.ts';

/** Maps every statement of the specification, every endpoint and every topic to its tests. */

const SOCKET_WALK: CoveredBy = ['contract/socket_document.test.ts', 'describes all kinds of events of every topic'];

const RPC = 'contract/rpc.test.ts';
const RELATIONS = 'e2e/relations.test.ts';
const OPERATION = 'e2e/operation.test.ts';
const TOPICS = 'e2e/topics.test.ts';
const CHANGES = 'e2e/changes.test.ts';
const ANCHORS_AND_RULES = 'e2e/anchors_and_rules.test.ts';

const IN_FENCE: CoveredBy = [RELATIONS, 'are consistent with the fences of each object'];
const PLACES: CoveredBy = [RELATIONS, 'list their locations and motions'];
const RELATED: CoveredBy = [RELATIONS, 'list each other, as objects in v2 and by their ids in v1'];
const SENSORS: CoveredBy = ['api/assignment_endpoints.test.ts', 'are any JSON value, and 404 until they are set'];
const FORCE: CoveredBy = ['api/assignment_endpoints.test.ts', 'pass force_location_update to the shards'];
const ACKNOWLEDGED: CoveredBy = [
  'e2e/read_your_writes.test.ts',
  'means that reads see all acknowledged writes under concurrent load',
];
const PROXIMITY: CoveredBy = [
  'e2e/ways_in.test.ts',
  'by PUT of one is a location at its zone, and is published as received',
];
const RULES: CoveredBy = [
  ANCHORS_AND_RULES,
  'the locating rules of the hub apply in every shard, also after a restart',
];
const MONTHS: CoveredBy = ['e2e/kept_before.test.ts', 'A past month is returned as it was stored, in both versions'];
const LICENSE: CoveredBy = [
  'e2e/license.test.ts',
  'A license key is valid if a configured public key verifies it, whether it is set by configuration or by API',
];
const ZONES_HEALTH: CoveredBy = [OPERATION, 'arrivals from the zones at /health/zones'];
const SOURCES_HEALTH: CoveredBy = [
  OPERATION,
  'arrivals from each source at /health/sources, by its name as it was sent',
];
const BY_FOREIGN_ID: CoveredBy = ['e2e/entities.test.ts', 'zones are found by their foreign id'];
const ANCHORS: CoveredBy = [
  ANCHORS_AND_RULES,
  'anchors move everything in local coordinates of their zone at once, also after a restart',
];
const ALERTS: CoveredBy = [
  'e2e/alerts.test.ts',
  'alerts are raised by events, published at once, acknowledged and cleared, and survive a restart',
];
const ALERT_TRIAGE: CoveredBy = [
  'e2e/alert_triage.test.ts',
  'alerts are assigned, commented on and snoozed, with their authors in the audit log, and after a restart',
];
const ALERT_ROOM: CoveredBy = [
  'e2e/alerts.test.ts',
  'many info alerts leave room for a critical one, and the rest are raised later',
];
const ALERT_REFUSALS: CoveredBy = [
  'e2e/alerts.test.ts',
  'an inapplicable member of a rule or a view is rejected by name',
];
const LINKS: CoveredBy = [
  'links/links.test.ts',
  'A changed link starts again, a disabled one stops, and a deleted one is gone',
];
const SINKS: CoveredBy = [
  'e2e/sinks.test.ts',
  'A webhook receives signed locations of a hub, without secrets in any reply, and again after a restart',
];
const SINK_SECRETS: CoveredBy = [
  'sinks/sinks.test.ts',
  'Secrets are stored, retained by a PUT without them, deleted by null, and never shown',
];
const WALK_TESTS: CoveredBy = [
  'e2e/walk_tests.test.ts',
  'A walk test measures the positions of a tag at marked points, also after a restart',
];
const WALK_TEST_POINTS: CoveredBy = [
  'e2e/walk_tests.test.ts',
  'A walk test takes its points from the anchors of a zone, and rejects bad members by name',
];
const KEYS: CoveredBy = ['auth/api_keys.test.ts', 'A key is shown once, stored as a hash, and valid after a restart'];
const KEY_REVOCATION: CoveredBy = [
  'auth/api_keys.test.ts',
  'Revoking or deleting a key ends its subscriptions, its stream and its frames at once',
];
const SOURCES: CoveredBy = [
  'e2e/data_sources.test.ts',
  'An http source accepts payloads with its own token alone, which is shown once and can be rotated',
];
const SOURCE_PREVIEW: CoveredBy = [
  'e2e/data_sources.test.ts',
  'A preview returns locations with their positions and warnings, or the path and the value found',
];
const SOURCE_PRESETS: CoveredBy = [
  'mapping/presets.test.ts',
  'Every preset is a valid source, and maps its sample to a valid location or proximity',
];
const OWNERS: CoveredBy = ['e2e/operation.test.ts', 'at /cluster/owners that it owns everything, without a cluster'];
const DOCUMENTS: CoveredBy = ['contract/documents.test.ts', 'openapi.json of v2 has no dangling references'];
const PAGES: CoveredBy = ['api/docs_pages.test.ts', 'The documentation pages load only files of the hub'];

const ETAGS: CoveredBy = [
  'e2e/etags.test.ts',
  'Of two writers that have read the same version, one succeeds; ETags survive a restart',
];

/** Tests of an endpoint beyond its statuses, parameters and bodies, by path. */
export const IN_DEPTH: Readonly<Record<string, readonly CoveredBy[]>> = {
  '/zones': [BY_FOREIGN_ID],
  '/zones/summary': [BY_FOREIGN_ID],
  '/zones/{zone_id}': [[CHANGES, 'the position of a zone moves its fences']],
  '/zones/{zone_id}/transform': [['api/zone_endpoints.test.ts', 'transform positions both ways and preserve z']],
  '/zones/{zone_id}/createfence': [
    ['api/zone_fences.test.ts', 'returns a fence of the points of a zone, without storing it'],
  ],
  '/zones/{zone_id}/fence': [['api/zone_fences.test.ts', 'stores a local fence in EPSG:4326']],
  '/zones/fromlocal': [
    ['api/from_local.test.ts', 'returns a zone whose points are the local coordinates, without storing it'],
  ],
  '/fences/fromlocal': [
    ['api/from_local.test.ts', 'makes a circle in a zone, a polygon by a reference, and a polygon in a zone'],
  ],
  '/trackables': [FORCE],
  '/trackables/motions': [PLACES],
  '/trackables/rules/locating': [RULES],
  '/trackables/{trackable_id}': [
    [CHANGES, 'the providers of a trackable takes effect with the next location, or at once by force'],
    ['api/patch_endpoints.test.ts', 'are unaffected by patches of other members, and cycles are rejected'],
  ],
  '/trackables/{trackable_id}/fences': [IN_FENCE],
  '/trackables/{trackable_id}/location': [PLACES],
  '/trackables/{trackable_id}/locations': [PLACES],
  '/trackables/{trackable_id}/motion': [PLACES],
  '/trackables/{trackable_id}/forecast': [
    ['e2e/forecasts.test.ts', 'A forecast says what a trackable will do at the fences around it'],
  ],
  '/trackables/{trackable_id}/sensors': [SENSORS],
  '/trackables/{trackable_id}/providers': [RELATED],
  '/providers/{provider_id}/fences': [IN_FENCE],
  '/providers/{provider_id}/trackables': [RELATED],
  '/providers/{provider_id}/location': [ACKNOWLEDGED],
  '/providers/{provider_id}/proximity': [PROXIMITY],
  '/providers/proximities': [PROXIMITY],
  '/providers/{provider_id}/sensors': [SENSORS],
  '/providers/locations': [['e2e/read_your_writes.test.ts', 'to a list of locations acknowledges all of them']],
  '/fences/{fence_id}': [ETAGS, [CHANGES, 'the region of a fence makes objects exit and enter at once']],
  '/fences/{fence_id}/locations': [IN_FENCE],
  '/fences/{fence_id}/motions': [IN_FENCE],
  '/fences/{fence_id}/providers': [IN_FENCE],
  '/fences/{fence_id}/trackables': [IN_FENCE],
  '/fences/{fence_id}/events': [
    [ANCHORS_AND_RULES, 'third-party events reach the subscribers of fence_events and of its GeoJSON'],
  ],
  '/search': [['e2e/search.test.ts', 'A search finds the nearest objects, and those in a region']],
  '/alerts': [ALERTS],
  '/alerts/acknowledge': [ALERTS],
  '/alerts/assign': [ALERT_TRIAGE],
  '/alerts/clear': [ALERTS],
  '/alerts/comment': [ALERT_TRIAGE],
  '/alerts/rules': [ALERTS, ALERT_REFUSALS],
  '/alerts/rules/preview': [
    ['e2e/alerts.test.ts', 'long stays and long silences raise alerts, by the clock of the hub'],
  ],
  '/alerts/rules/{rule_id}': [ALERTS],
  '/alerts/snoozes': [ALERT_TRIAGE],
  '/alerts/snoozes/{snooze_id}': [ALERT_TRIAGE],
  '/alerts/summary': [ALERT_ROOM],
  '/alerts/{alert_id}': [ALERTS],
  '/alerts/{alert_id}/acknowledge': [ALERTS],
  '/alerts/{alert_id}/clear': [ALERTS],
  '/links': [LINKS],
  '/links/{link_id}': [LINKS],
  '/views': [ALERT_REFUSALS],
  '/views/{view_id}': [ALERT_REFUSALS, ETAGS],
  '/sinks': [SINKS],
  '/sinks/status': [SINKS],
  '/sinks/{sink_id}': [SINKS, SINK_SECRETS],
  '/sinks/{sink_id}/status': [SINKS],
  '/sinks/{sink_id}/deliveries': [
    ['sinks/sinks.test.ts', 'Deliveries list what waits, has failed and was delivered, with attempts and errors'],
  ],
  '/sinks/{sink_id}/test': [SINKS],
  '/sinks/{sink_id}/replay': [['sinks/sinks.test.ts', 'A replay delivers from a cursor or a time, and rejects others']],
  '/sinks/{sink_id}/pause': [SINKS],
  '/sinks/{sink_id}/resume': [SINKS],
  '/keys': [KEYS],
  '/keys/{key_id}': [KEYS, KEY_REVOCATION],
  '/keys/{key_id}/revoke': [KEY_REVOCATION],
  '/walk_tests': [WALK_TESTS, WALK_TEST_POINTS],
  '/walk_tests/{walk_test_id}': [WALK_TESTS],
  '/walk_tests/{walk_test_id}/pass': [WALK_TESTS, WALK_TEST_POINTS],
  '/walk_tests/{walk_test_id}/finish': [WALK_TESTS],
  '/walk_tests/{walk_test_id}/result': [WALK_TESTS, ['core/walk_figures.test.ts', 'are those computed by hand']],
  '/sources': [SOURCES],
  '/sources/status': [SOURCES],
  '/sources/presets': [SOURCE_PRESETS],
  '/sources/preview': [SOURCE_PREVIEW],
  '/sources/{data_source_id}': [SOURCES],
  '/sources/{data_source_id}/status': [SOURCES],
  '/sources/{data_source_id}/token': [SOURCES],
  '/sources/{data_source_id}/data': [SOURCES],
  '/anchors': [ANCHORS],
  '/anchors/summary': [['api/anchor_endpoints.test.ts', 'include georeferenced positions of the zone, if possible']],
  '/anchors/{anchor_id}': [ANCHORS],
  '/adapters/cisco/locations': [['e2e/sources.test.ts', 'Cisco notifications are forwarded by REST to a subscriber']],
  '/audit': [['e2e/audit.test.ts', 'Each change of an entity has one entry, whose patches lead to the stored entity']],
  '/events': [
    [
      'e2e/event_log.test.ts',
      'fence events, collisions, alerts and changes of entities can be read after a restart, in order',
    ],
  ],
  '/rpc/available': [[RPC, 'lists the methods of all clients with their handlers, under all prefixes']],
  '/rpc': [[RPC, 'answers a REST request with the result of a WebSocket client']],
  '/license/info': [[OPERATION, 'at /license/info that its key is invalid, which has no other effect']],
  '/license/key': [LICENSE],
  '/license/lease': [LICENSE],
  '/license/starttrial': [['operation/license.test.ts', 'has a trial of 30 days that starts once']],
  '/stats/consumption/summary': [MONTHS],
  '/stats/consumption/current': [[OPERATION, 'the usage of this month at /stats/consumption']],
  '/stats/consumption/{year}/{month}': [MONTHS],
  '/health': [
    [OPERATION, 'its liveness at /health and its version at /version, with and without a version in the path'],
  ],
  '/health/system': [[OPERATION, 'its start time and its configuration without secrets at /health/system']],
  '/health/mqtt': [[OPERATION, 'at /health/mqtt that there is no broker']],
  '/health/ws': [[OPERATION, 'the subscribers at /health/ws, with the time of the last frame to each']],
  '/health/zones/summary': [ZONES_HEALTH],
  '/health/zones/{zone_id}': [ZONES_HEALTH],
  '/health/sources/summary': [SOURCES_HEALTH],
  '/health/sources/{source_id}': [SOURCES_HEALTH],
  '/cluster/owners': [OWNERS],
  '/cluster/owners/{provider_id}': [OWNERS],
  '/openapi.json': [DOCUMENTS],
  '/asyncapi.json': [SOCKET_WALK],
  '/docs': [PAGES],
  '/docs/{file}': [PAGES],
  '/metrics': [[OPERATION, 'consistent counters at /metrics, also below /hub']],
};

/** The WebSocket as an endpoint. */
export const OF_SOCKET: readonly CoveredBy[] = [
  ['e2e/frames.test.ts', 'are the same on all paths of the WebSocket'],
  ['contract/socket_document.test.ts', 'describes the commands that the hub accepts, and its responses'],
];

const FORECAST: CoveredBy = [
  'e2e/forecasts.test.ts',
  'A collision is forecast to subscribers of its trackables before it happens',
];
const EVERY_CHANGE: CoveredBy = [TOPICS, 'the topics of changes receive every change with its entity'];

/** The WebSocket of remote procedure calls. */
const OF_RPC_SOCKET: readonly CoveredBy[] = [
  [RPC, 'forwards a call of one WebSocket client to another, on all paths, with its own id'],
];

/** Tests of a topic beyond the schema of its events. */
export const OF_TOPICS: Readonly<Record<string, readonly CoveredBy[]>> = {
  location_updates: [
    [TOPICS, 'location_updates receive the locations of each provider in order, in EPSG:4326 and completed by the hub'],
  ],
  'location_updates:geojson': [[TOPICS, 'a location as a point with its other members as properties']],
  fence_events: [[TOPICS, 'fence_events receive entries and exits of providers and of trackables']],
  'fence_events:geojson': [
    [TOPICS, 'a fence event as the region of its fence with the event, and the name and floor of the fence'],
  ],
  trackable_motions: [[TOPICS, 'trackable_motions receive the trackable, its location and its shape']],
  'trackable_motions:geojson': [[TOPICS, 'a motion as its shape with its other members as properties']],
  collision_events: [[TOPICS, 'collision_events receive start, colliding and end, the mover first']],
  collision_forecast: [FORECAST],
  proximity_updates: [[TOPICS, 'proximity_updates receive the events of that topic']],
  zone_changes: [EVERY_CHANGE],
  fence_changes: [EVERY_CHANGE],
  provider_changes: [EVERY_CHANGE],
  trackable_changes: [EVERY_CHANGE],
  anchor_changes: [ANCHORS],
  alert_changes: [ALERTS],
  xcmd_broadcast: [
    [
      'mqtt/rpc_on_brokers.test.ts',
      'each broadcast of a core zone is delivered once per hub to subscribers of the WebSocket and of the broker',
    ],
  ],
};

/** Returns the contents of COVERAGE.md. */
export function coveragePage(): string {
  const endpoints = ENDPOINTS.flatMap(({ path, answers }) => {
    return Object.keys(answers).map((method, i) => {
      return row(`\`${method} ${path}\``, [...walked(path, method), ...(i === 0 ? (IN_DEPTH[path] ?? []) : [])]);
    });
  });
  const topics = TOPIC_NAMES.map((topic) => row(`\`${topic}\``, [SOCKET_WALK, ...(OF_TOPICS[topic] ?? [])]));
  const asides = Object.entries(ASIDES).map(([at, why]) => `| ${at} | ${why} |`);
  return `${INTRODUCTION}
## Statements of the specification
${chapters().join('')}
### Said of no hub

| at | why |
|---|---|
${asides.join('\n')}

## Endpoints

| endpoint | tests |
|---|---|
${endpoints.join('\n')}
${row('WebSocket `/ws/socket`', OF_SOCKET)}
${row('WebSocket `/ws/rpc`', OF_RPC_SOCKET)}

## Topics of the WebSocket

| topic | tests |
|---|---|
${topics.join('\n')}
`;
}

/** Statements of each chapter, by heading. */
function chapters(): readonly string[] {
  return Object.entries(CHAPTERS).map(([chapter, statements]) => {
    const parts = Map.groupBy(statements, ({ at }) => at.slice(0, at.search(PLACE)));
    const tables = Array.from(parts, ([heading, own]) => {
      const rows = own.map(({ at, says, tests }) => row(`${at.slice(at.search(PLACE) + 1)} | ${says}`, tests));
      return `
${heading === chapter ? '' : `#### ${heading}\n\n`}| at | in short | tests |
|---|---|---|
${rows.join('\n')}
`;
    });
    return `\n### ${chapter}\n${tables.join('')}`;
  });
}

/** Kind and number of a statement, after its heading. */
const PLACE = / (row|item|sentence) [\w.]+$/;

const INTRODUCTION = `<!-- Made of the statements and endpoints in test/contract/ by "npm run generate". -->

# Coverage of the contract

Each statement of the specification, each endpoint and each topic with the tests that cover it, by file and name. A
statement goes by its heading, its kind (row of a table, item of a list, sentence) and its number there. Every reply
that the tests of endpoints get is held against the OpenAPI document of its version, every frame against the AsyncAPI
document. Operations of the public omlox Hub API are called by \`reference_api.test.ts\`, too, and their bodies held
against its schemas. A test of this folder fails when a file or a name here does not exist, or a statement, an endpoint
or a topic is missing.
`;

function row(what: string, tests: readonly CoveredBy[]): string {
  const files = Map.groupBy(tests, ([file]) => file);
  const shown = Array.from(files, ([file, named]) => {
    const names = named.map(([, name]) => `“${name}”`).join(', ');
    return `[${file.slice(0, -'.test.ts'.length)}](../${file}): ${names}`;
  });
  return `| ${what} | ${shown.join('<br>')} |`;
}
