import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { Documented } from './documented.ts';
import { BODIES, filled, IDS, restore } from './world.ts';

/** Every endpoint with its methods and what they answer when all goes well. */
interface Endpoint {
  readonly path: string;
  readonly answers: Readonly<Record<string, number>>;
  /** Parameters that each of its methods must understand, beside those of GET alone. */
  readonly writes?: readonly string[];
  readonly reads?: readonly string[];
}

const VIEWS = ['crs=EPSG:32632', 'crs=EPSG:4326', `crs=local&zone_id=${IDS['zone_id']}`, 'geojson=true'];
const SPATIAL = ['spatial_query=true', 'spatial_query=false'];
const COLLECTION = { GET: 200, POST: 201, DELETE: 204 };
const ITEM = { GET: 200, PUT: 204, PATCH: 200, DELETE: 204 };
const FORCED = ['force_location_update=true', 'subdivide=true'];

const ENDPOINTS: readonly Endpoint[] = [
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
  { path: '/fences/{fence_id}/events', answers: { POST: 204 } },
  { path: '/anchors', answers: COLLECTION },
  { path: '/anchors/summary', answers: { GET: 200 }, reads: ['georef=true'] },
  { path: '/anchors/{anchor_id}', answers: ITEM, reads: ['georef=true'] },
  { path: '/adapters/cisco/locations', answers: { POST: 204, PUT: 204 } },
  { path: '/validator/rules/locating', answers: { POST: 204 } },
  { path: '/license/info', answers: { GET: 200 } },
  { path: '/license/key', answers: { PUT: 400 } },
  { path: '/license/starttrial', answers: { GET: 201 } },
  { path: '/license/lease', answers: { GET: 200, DELETE: 204 } },
  { path: '/stats/consumption/summary', answers: { GET: 200 } },
  { path: '/stats/consumption/current', answers: { GET: 200 } },
  { path: '/health', answers: { GET: 200 } },
  { path: '/health/system', answers: { GET: 200 } },
  { path: '/health/ws', answers: { GET: 200 } },
  { path: '/health/zones/summary', answers: { GET: 200 } },
  { path: '/health/zones/{zone_id}', answers: { GET: 200 } },
  { path: '/health/sources/summary', answers: { GET: 200 } },
  { path: '/health/sources/{source_id}', answers: { GET: 200 } },
  { path: '/version', answers: { GET: 200 } },
];

/** What is not there yet. Nothing else may be missing. */
const NOT_BUILT = /^\w+ \/adapters\//;

const ROWS = new Set(ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`));
const UNDERSTOOD = new Set(ROUTES.flatMap(({ query }) => Object.keys(query.properties)));

describe('the endpoints of the hub', () => {
  let hub: TestHub;
  let called = 0;
  let missing = 0;
  before(async () => {
    hub = await openTestHub();
  });
  after(() => hub.close());

  for (const version of ['v1', 'v2']) {
    for (const { path, answers, reads = [], writes = [] } of ENDPOINTS) {
      for (const [method, status] of Object.entries(answers)) {
        const title = `${method} ${path}`;
        if (!ROWS.has(title) && NOT_BUILT.test(title)) {
          missing++;
          it(`${version} ${title} answers ${status}`, { skip: 'not built' });
          continue;
        }
        const queries = (method === 'GET' ? reads : writes).filter((query) =>
          UNDERSTOOD.has(query.split('=')[0] ?? ''),
        );
        it(`${version} ${title} answers ${status}`, async () => {
          const documented = await Documented.of(hub, version);
          for (const query of ['', ...queries.map((text) => `?${text}`)]) {
            await restore(hub);
            const url = `${hub.origin}/hub/${version}${filled(path)}`;
            const reply = await hub.request(method, url + query, BODIES[title]?.());
            assert.equal(reply.status, status, `${query} ${reply.text}`);
            documented.check(method, path, reply);
          }
          called++;
        });
      }
    }
  }

  it('were called in both versions', (t) => {
    t.diagnostic(`${called} were called, ${missing} are not built`);
    assert.ok(called > 0);
  });

  it('are all that the hub has, but for its documents', () => {
    const listed = new Set(ENDPOINTS.flatMap(({ path, answers }) => Object.keys(answers).map((m) => `${m} ${path}`)));
    const other = [...ROWS].filter((title) => !listed.has(title) && !/^GET \/(docs|openapi|asyncapi)/.test(title));
    assert.deepEqual(
      other.filter((title) => !EXTRA.test(title)),
      [],
    );
  });
});

/** What the hub has beyond the table, tested beside what it belongs to. */
const EXTRA = /^(PUT \/fences\/\{fence_id\}\/events|GET \/metrics|GET \/stats\/consumption\/\{)/;
