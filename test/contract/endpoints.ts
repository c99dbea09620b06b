import { GATE_ID, IDS } from './world.ts';

/** Every endpoint with its methods and their statuses of success. */
export interface Endpoint {
  readonly path: string;
  readonly answers: Readonly<Record<string, number>>;
  /** Query parameters of all methods, in addition to those of GET alone. */
  readonly writes?: readonly string[];
  readonly reads?: readonly string[];
  /** Required query parameters. */
  readonly needs?: string;
  /** Whether it is served without a version only. */
  readonly unversioned?: true;
  /** Versions that serve it; both by default. */
  readonly versions?: readonly string[];
  /** Ids other than those of the path in all other rows. */
  readonly ids?: Readonly<Record<string, string>>;
}

const VIEWS = ['crs=EPSG:32632', 'crs=EPSG:4326', `crs=local&zone_id=${IDS['zone_id']}`, 'geojson=true'];
const SPATIAL = ['spatial_query=true', 'spatial_query=false'];
const COLLECTION = { GET: 200, POST: 201, DELETE: 204 };
const ITEM = { GET: 200, PUT: 204, PATCH: 200, DELETE: 204 };
const MOVED = ['bbox=8,50,9,51', 'datetime=2026-03-01T10:00:00Z/..', 'limit=1'];
const FORCED = ['force_location_update=true', 'subdivide=true'];

export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/zones', answers: COLLECTION, reads: ['foreign_id=hall'] },
  { path: '/zones/summary', answers: { GET: 200 }, reads: ['foreign_id=hall'] },
  { path: '/zones/{zone_id}', answers: ITEM },
  { path: '/zones/{zone_id}/transform', answers: { PUT: 200 }, writes: ['geojson=true'] },
  { path: '/zones/{zone_id}/createfence', answers: { GET: 200 } },
  { path: '/zones/{zone_id}/fence', answers: { POST: 201 } },
  { path: '/zones/fromlocal', answers: { PUT: 200 } },
  { path: '/trackables', answers: COLLECTION, writes: FORCED },
  { path: '/trackables/summary', answers: { GET: 200 } },
  { path: '/trackables/motions', answers: { GET: 200 }, reads: VIEWS },
  { path: '/trackables/rules/locating', answers: { GET: 200, PUT: 200 } },
  { path: '/trackables/{trackable_id}', answers: { ...ITEM, PUT: 200 }, writes: FORCED },
  { path: '/trackables/{trackable_id}/fences', answers: { GET: 200 }, reads: SPATIAL },
  { path: '/trackables/{trackable_id}/location', answers: { GET: 200 }, reads: VIEWS },
  { path: '/trackables/{trackable_id}/locations', answers: { GET: 200 }, reads: VIEWS },
  { path: '/trackables/{trackable_id}/motion', answers: { GET: 200 }, reads: VIEWS },
  { path: '/trackables/{trackable_id}/forecast', answers: { GET: 200 }, reads: ['horizon=5000'], versions: ['v2'] },
  { path: '/trackables/{trackable_id}/sensors', answers: { GET: 200 } },
  { path: '/trackables/{trackable_id}/providers', answers: { GET: 200 } },
  { path: '/providers', answers: COLLECTION },
  { path: '/providers/summary', answers: { GET: 200 } },
  { path: '/providers/{provider_id}', answers: ITEM },
  { path: '/providers/{provider_id}/location', answers: { GET: 200, PUT: 204, DELETE: 204 }, reads: VIEWS },
  { path: '/providers/{provider_id}/proximity', answers: { PUT: 204 } },
  { path: '/providers/{provider_id}/sensors', answers: { GET: 200, PUT: 204 } },
  { path: '/providers/{provider_id}/fences', answers: { GET: 200 }, reads: SPATIAL },
  { path: '/providers/{provider_id}/trackables', answers: { GET: 200 } },
  { path: '/providers/locations', answers: { GET: 200, PUT: 204, POST: 204, DELETE: 204 }, reads: VIEWS },
  { path: '/providers/proximities', answers: { PUT: 204, POST: 204 } },
  { path: '/fences', answers: COLLECTION, writes: ['subdivide=true'] },
  { path: '/fences/summary', answers: { GET: 200 }, reads: VIEWS },
  { path: '/fences/fromlocal', answers: { PUT: 200 } },
  { path: '/fences/{fence_id}', answers: ITEM, reads: VIEWS, writes: ['subdivide=true'] },
  { path: '/fences/{fence_id}/locations', answers: { GET: 200 }, reads: [...VIEWS, ...SPATIAL] },
  { path: '/fences/{fence_id}/motions', answers: { GET: 200 }, reads: [...VIEWS, ...SPATIAL] },
  { path: '/fences/{fence_id}/providers', answers: { GET: 200 }, reads: SPATIAL },
  { path: '/fences/{fence_id}/trackables', answers: { GET: 200 }, reads: SPATIAL },
  { path: '/fences/{fence_id}/events', answers: { POST: 204, PUT: 204 } },
  {
    path: '/search',
    answers: { GET: 200, POST: 200 },
    needs: 'kind=trackable&near=7.6,51.9',
    reads: ['k=5', 'radius=100', 'floor=0', 'where=accuracy<5', 'crs=local'],
    versions: ['v2'],
  },
  { path: '/alerts', answers: { GET: 200 }, reads: ['state=raised'] },
  { path: '/alerts/acknowledge', answers: { POST: 204 } },
  { path: '/alerts/assign', answers: { POST: 204 } },
  { path: '/alerts/clear', answers: { POST: 204 } },
  { path: '/alerts/comment', answers: { POST: 204 } },
  { path: '/alerts/rules', answers: { GET: 200, POST: 201 } },
  { path: '/alerts/rules/preview', answers: { POST: 200 } },
  { path: '/alerts/rules/{rule_id}', answers: { GET: 200, PUT: 200, DELETE: 204 } },
  { path: '/alerts/snoozes', answers: { GET: 200, POST: 201 } },
  { path: '/alerts/snoozes/{snooze_id}', answers: { GET: 200, DELETE: 204 } },
  { path: '/alerts/summary', answers: { GET: 200 } },
  { path: '/alerts/{alert_id}', answers: { GET: 200 } },
  { path: '/alerts/{alert_id}/acknowledge', answers: { POST: 200 } },
  { path: '/alerts/{alert_id}/clear', answers: { POST: 200 } },
  { path: '/links', answers: { GET: 200, POST: 201 } },
  { path: '/links/{link_id}', answers: { GET: 200, PUT: 200, DELETE: 204 } },
  { path: '/views', answers: { GET: 200, POST: 201 } },
  { path: '/views/{view_id}', answers: { GET: 200, PUT: 200, DELETE: 204 } },
  { path: '/sinks', answers: { GET: 200, POST: 201 } },
  { path: '/sinks/status', answers: { GET: 200 } },
  { path: '/sinks/{sink_id}', answers: { GET: 200, PUT: 200, PATCH: 200, DELETE: 204 } },
  { path: '/sinks/{sink_id}/status', answers: { GET: 200 } },
  { path: '/sinks/{sink_id}/deliveries', answers: { GET: 200 }, reads: ['state=waiting'] },
  { path: '/sinks/{sink_id}/test', answers: { POST: 200 } },
  { path: '/sinks/{sink_id}/pause', answers: { POST: 200 } },
  { path: '/sinks/{sink_id}/resume', answers: { POST: 200 } },
  { path: '/sinks/{sink_id}/replay', answers: { POST: 200 } },
  { path: '/walk_tests', answers: { GET: 200, POST: 201 } },
  { path: '/walk_tests/{walk_test_id}', answers: { GET: 200, PUT: 200, DELETE: 204 } },
  { path: '/walk_tests/{walk_test_id}/pass', answers: { POST: 200 } },
  { path: '/walk_tests/{walk_test_id}/finish', answers: { POST: 200 } },
  { path: '/walk_tests/{walk_test_id}/result', answers: { GET: 200 } },
  { path: '/keys', answers: { GET: 200, POST: 201 } },
  { path: '/keys/{key_id}', answers: { GET: 200, DELETE: 204 } },
  { path: '/keys/{key_id}/revoke', answers: { POST: 200 } },
  { path: '/sources', answers: { GET: 200, POST: 201 } },
  { path: '/sources/status', answers: { GET: 200 } },
  { path: '/sources/presets', answers: { GET: 200 } },
  { path: '/sources/preview', answers: { POST: 200 } },
  { path: '/sources/{data_source_id}', answers: { GET: 200, PUT: 200, PATCH: 200, DELETE: 204 } },
  { path: '/sources/{data_source_id}/status', answers: { GET: 200 } },
  { path: '/sources/{data_source_id}/token', answers: { POST: 200 } },
  { path: '/sources/{data_source_id}/data', answers: { POST: 204 } },
  { path: '/anchors', answers: COLLECTION },
  { path: '/anchors/summary', answers: { GET: 200 }, reads: ['georef=true'] },
  { path: '/anchors/{anchor_id}', answers: ITEM, reads: ['georef=true'] },
  { path: '/adapters/cisco/locations', answers: { POST: 204, PUT: 204 } },
  { path: '/validator/rules/locating', answers: { POST: 204 } },
  { path: '/rpc/available', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/rpc', answers: { PUT: 200 }, versions: ['v2'] },
  { path: '/trackables/{trackable_id}/history', answers: { GET: 200, DELETE: 200 }, versions: ['v2'] },
  { path: '/trackables/{trackable_id}/visits', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/providers/{provider_id}/history', answers: { GET: 200, DELETE: 200 }, versions: ['v2'] },
  {
    path: '/fences/{fence_id}/crossings',
    answers: { GET: 200 },
    reads: ['step=900000'],
    versions: ['v2'],
    ids: { fence_id: GATE_ID },
  },
  { path: '/fences/{fence_id}/visits', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/audit', answers: { GET: 200 }, reads: ['kind=zone'], versions: ['v2'] },
  { path: '/events', answers: { GET: 200 }, reads: ['topic=fence_events'], versions: ['v2'] },
  { path: '/history/snapshot', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/history/tracks', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/history/events', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/dwell', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/occupancy', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/flows', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/heatmap', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/quality', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/analytics/trips', answers: { GET: 200 }, versions: ['v2'], needs: `trackable_id=${IDS['trackable_id']}` },
  { path: '/ogc/mf', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/ogc/mf/conformance', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/ogc/mf/collections', answers: { GET: 200 }, versions: ['v2'] },
  ...['trackable', 'provider'].flatMap((kind) => {
    const path = `/ogc/mf/collections/${kind}s`;
    const [answers, versions] = [{ GET: 200 }, ['v2']];
    return [
      { path, answers, versions },
      { path: `${path}/items`, answers, reads: MOVED, versions },
      { path: `${path}/items/{${kind}_id}`, answers, versions },
      {
        path: `${path}/items/{${kind}_id}/tgsequence`,
        answers,
        reads: [...MOVED, 'leaf=2026-03-01T10:00:00Z'],
        versions,
      },
    ];
  }),
  {
    path: '/import',
    answers: { GET: 200, POST: 202, DELETE: 204 },
    writes: ['dry_run=true', 'delete_others=false'],
    versions: ['v2'],
  },
  { path: '/demo', answers: { GET: 200, POST: 202, DELETE: 204 }, needs: 'beside=true', versions: ['v2'] },
  { path: '/license/info', answers: { GET: 200 } },
  { path: '/license/key', answers: { PUT: 204 } },
  { path: '/license/starttrial', answers: { GET: 201 } },
  { path: '/license/lease', answers: { GET: 200, DELETE: 204 } },
  { path: '/stats/consumption/summary', answers: { GET: 200 } },
  { path: '/stats/consumption/current', answers: { GET: 200 } },
  { path: '/stats/consumption/{year}/{month}', answers: { GET: 200 } },
  { path: '/health', answers: { GET: 200 } },
  { path: '/health/system', answers: { GET: 200 } },
  { path: '/health/mqtt', answers: { GET: 200 } },
  { path: '/health/history', answers: { GET: 200 } },
  { path: '/health/ws', answers: { GET: 200 } },
  { path: '/health/zones/summary', answers: { GET: 200 } },
  { path: '/health/zones/{zone_id}', answers: { GET: 200 } },
  { path: '/health/sources/summary', answers: { GET: 200 } },
  { path: '/health/sources/{source_id}', answers: { GET: 200 } },
  { path: '/cluster/owners', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/cluster/owners/{provider_id}', answers: { GET: 200 }, versions: ['v2'] },
  { path: '/version', answers: { GET: 200 } },
  { path: '/openapi.json', answers: { GET: 200 } },
  { path: '/openapi-3.0.json', answers: { GET: 200 } },
  { path: '/asyncapi.json', answers: { GET: 200 } },
  { path: '/docs', answers: { GET: 200 }, unversioned: true },
  { path: '/docs/{file}', answers: { GET: 200 }, unversioned: true },
  { path: '/metrics', answers: { GET: 200 }, unversioned: true },
];

/** Versions of the API in which an endpoint is called. An empty string means no version. */
export function versionsOf({ unversioned, versions = ['v1', 'v2'] }: Endpoint): readonly string[] {
  return unversioned === true ? [''] : versions;
}

/** Name of the test for a method of an endpoint. */
export function testName(version: string, title: string, status: number): string {
  return `${version === '' ? 'Without version' : version} ${title} answers ${status}`;
}
