import assert from 'node:assert/strict';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { TestHub } from '../support/running_hub.ts';

/** One object of every kind, which every call of the contract tests can use. */

/** Generated ids, available after `restore`. */
export const IDS: Record<string, string> = {
  zone_id: 'eeeeeeee-0000-4000-8000-000000000001',
  fence_id: 'ffffffff-0000-4000-8000-000000000001',
  trackable_id: '0b680db2-b39b-45be-be77-40d7d2296cb4',
  provider_id: 'tag-1',
  anchor_id: 'anchor-1',
  source_id: 'hall',
  // The current month, in which the hub was started.
  year: String(new Date().getUTCFullYear()),
  month: String(new Date().getUTCMonth() + 1),
  file: 'rest.js',
};

/** An id that no object has. */
export const UNKNOWN_ID = 'dddddddd-0000-4000-8000-00000000000d';

/** A gate, which alone has crossings. */
export const GATE_ID = 'ffffffff-0000-4000-8000-000000000002';

const READER = 'eeeeeeee-0000-4000-8000-000000000002';

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
const square = (x: number, y: number, side: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + side, y],
      [x + side, y + side],
      [x, y + side],
      [x, y],
    ],
  ],
});

const GROUND_CONTROL_POINTS = [
  [8.6821, 50.1109],
  [0, 0],
  [8.6835, 50.1109],
  [100, 0],
  [8.6835, 50.1118],
  [100, 100],
  [8.6821, 50.1118],
  [0, 100],
];

const hall = { type: 'uwb', foreign_id: 'hall', floor: 0, ground_control_points: GROUND_CONTROL_POINTS };
const reader = { type: 'rfid', foreign_id: 'reader', position: point(8.6822, 50.111), radius: 2 };
/** With a filter, since a forecast needs a velocity. */
const provider = { type: 'uwb', sensors: { battery: 0.8 }, filter: { kind: 'cv', max_gap: 3_600_000 } };
const trackable = { type: 'omlox', name: 'Vehicle 7', location_providers: ['tag-1'], radius: 1 };
const dock = { name: 'Dock A', region: square(8.6821, 50.1109, 0.0005), timeout: 60_000, foreign_id: 'dock' };
const anchor = { zone_id: 'hall', local_position: point(1, 2) };
const location = {
  position: point(20, 20),
  source: 'hall',
  provider_type: 'uwb',
  provider_id: 'tag-1',
  crs: 'local',
  accuracy: 0.5,
};
const proximity = { source: 'reader', provider_type: 'rfid', provider_id: 'tag-1' };

let made = 0;
const newName = () => `new-${++made}`;
const patch = { op: 'replace', path: '/properties', value: { a: 1 } };
const addProperties = { ...patch, op: 'add' };
const rule = { expression: "type = 'uwb'", priority: 1 };
const fromLocal = {
  creation_type: 'local_coordinates',
  global_reference: point(8.68, 50.11),
  local_coordinates: {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
    ],
  },
};
const CISCO = {
  notifications: [
    {
      notificationType: 'locationupdate',
      deviceId: '00:11:22:33:44:55',
      locationMapHierarchy: 'hall',
      locationCoordinate: { x: 10, y: 10, z: 0, unit: 'FEET' },
      geoCoordinate: { latitude: 50.111, longitude: 8.6822, unit: 'DEGREES' },
      confidenceFactor: 24,
      associated: true,
      timestamp: 1_795_000_000_000,
    },
  ],
};

/** Valid bodies by operation. They are created for each call, since each name can be used only once. */
export const BODIES: Readonly<Record<string, () => unknown>> = {
  'POST /zones': () => ({ ...hall, foreign_id: newName() }),
  'PUT /zones/{zone_id}': () => hall,
  'PATCH /zones/{zone_id}': () => addProperties,
  'PUT /zones/{zone_id}/transform': () => ({ position: point(1, 2) }),
  'POST /zones/{zone_id}/fence': () => ({ region: square(10, 10, 20) }),
  'PUT /zones/fromlocal': () => fromLocal,
  'POST /trackables': () => ({ ...trackable, location_providers: [] }),
  'PUT /trackables/{trackable_id}': () => trackable,
  'PATCH /trackables/{trackable_id}': () => addProperties,
  'PUT /trackables/rules/locating': () => [rule],
  'POST /validator/rules/locating': () => ({ expression: rule.expression }),
  'POST /providers': () => ({ ...provider, id: newName() }),
  'PUT /providers/{provider_id}': () => provider,
  'PATCH /providers/{provider_id}': () => addProperties,
  'PUT /providers/{provider_id}/location': () => location,
  'PUT /providers/{provider_id}/proximity': () => proximity,
  'PUT /providers/{provider_id}/sensors': () => ({ any: 1 }),
  'PUT /providers/locations': () => [location],
  'POST /providers/locations': () => [location],
  'PUT /providers/proximities': () => [proximity],
  'POST /providers/proximities': () => [proximity],
  'POST /fences': () => dock,
  'PUT /fences/{fence_id}': () => dock,
  'PATCH /fences/{fence_id}': () => addProperties,
  'PUT /fences/fromlocal': () => fromLocal,
  'POST /fences/{fence_id}/events': () => ({ event_type: 'region_entry', provider_id: 'tag-1' }),
  'POST /alerts/acknowledge': () => ({ ids: [IDS['alert_id']] }),
  'POST /alerts/assign': () => ({ ids: [IDS['alert_id']], assignee: 'Anna' }),
  'POST /alerts/comment': () => ({ ids: [IDS['alert_id']], text: 'I look at it' }),
  'POST /alerts/snoozes': () => alertSnooze(),
  'POST /alerts/clear': () => ({ ids: [IDS['alert_id']] }),
  'POST /search': () => ({ kind: 'provider', near: [7.6, 51.9] }),
  'POST /alerts/rules': () => alertRule,
  'POST /alerts/rules/preview': () => alertRule,
  'PUT /alerts/rules/{rule_id}': () => alertRule,
  'POST /links': () => link,
  'PUT /links/{link_id}': () => link,
  'POST /views': () => mapView,
  'PUT /views/{view_id}': () => mapView,
  'POST /sinks': () => sink,
  'PUT /sinks/{sink_id}': () => sink,
  'PATCH /sinks/{sink_id}': () => ({ op: 'replace', path: '/name', value: 'Another name' }),
  'POST /sinks/{sink_id}/replay': () => ({ from: '2026-11-27T08:00:00Z' }),
  'POST /walk_tests': () => walkTest,
  'PUT /walk_tests/{walk_test_id}': () => walkTest,
  'POST /walk_tests/{walk_test_id}/pass': () => ({ point_id: 'P1' }),
  'POST /keys': () => ({ name: 'A display', roles: ['viewer'] }),
  'POST /sources': () => source,
  'PUT /sources/{data_source_id}': () => source,
  'PATCH /sources/{data_source_id}': () => ({ op: 'replace', path: '/name', value: 'Another name' }),
  'POST /sources/preview': () => ({ source, payload: '{"id":"tag-1","lon":8.68,"lat":50.11}' }),
  'POST /sources/{data_source_id}/data': () => ({ id: 'tag-1', lon: 8.68, lat: 50.11 }),
  'POST /anchors': () => ({ ...anchor, id: newName() }),
  'PUT /anchors/{anchor_id}': () => anchor,
  'PATCH /anchors/{anchor_id}': () => addProperties,
  'POST /adapters/cisco/locations': () => CISCO,
  'PUT /adapters/cisco/locations': () => CISCO,
  'PUT /fences/{fence_id}/events': () => ({ event_type: 'region_exit', trackable_id: IDS['trackable_id'] }),
  'POST /import': () => ({ format: 'location-hub-entities', version: 1, anchors: [{ ...anchor, id: newName() }] }),
  'PUT /rpc': () => ({ jsonrpc: '2.0', id: 1, method: 'com.omlox.ping' }),
  'PUT /license/key': () => ({ license_key: '00000000-0000-4000-8000-000000000000' }),
};

/** Headers by operation, of operations with tokens of their own. */
export const HEADERS: Record<string, Readonly<Record<string, string>>> = {};

const alertSnooze = () => ({ rule_id: IDS['rule_id'], until: '2100-01-01T00:00:00Z' });
const alertRule = { name: 'Somebody is there', kind: 'more_inside', more_than: 0 };
/** Disabled, so that it connects to nothing. */
const link = { name: 'Plant 2', url: 'http://127.0.0.1:9/v2', enabled: false };
/** Live topics need no event log; nothing is sent to the address, which is not public. */
const sink = { name: 'Nowhere', type: 'webhook', url: 'https://sink.invalid/', topics: ['proximity_updates'] };
const walkTest = {
  ...{ name: 'The hall', object_type: 'provider', object_id: 'tag-1' },
  points: [{ id: 'P1', position: point(8.6828, 50.1113) }],
};
const source = {
  ...{ name: 'Tags', kind: 'http', format: 'json' },
  map: { provider_id: '/id', x: '/lon', y: '/lat', crs: { value: 'EPSG:4326' } },
};
const gate = {
  ...{ name: 'Door', floor: 0 },
  region: {
    type: 'LineString',
    coordinates: [
      [8.6824, 50.1112],
      [8.6825, 50.1112],
    ],
  },
};
const mapView = { name: 'The hall', address: '?at=8.6828,50.1113&z=18' };

const THINGS: readonly [path: string, id: string, body: object][] = [
  ['/zones', IDS['zone_id'] ?? '', hall],
  ['/zones', READER, reader],
  ['/providers', 'tag-1', provider],
  ['/trackables', IDS['trackable_id'] ?? '', trackable],
  ['/fences', IDS['fence_id'] ?? '', dock],
  ['/anchors', IDS['anchor_id'] ?? '', anchor],
];

/** Maximum number of polls for an alert. */
const LOOKS = 200;

/** Paths of the hub. */
const COLLECTIONS = new Set(ROUTES.map(({ path }) => path));

/** Restores every object, whatever earlier calls have changed. */
export async function restore(hub: TestHub): Promise<void> {
  await hub.delete(`/providers/${UNKNOWN_ID}`);
  for (const [path, id, body] of THINGS) {
    if (!COLLECTIONS.has(path)) continue;
    const { status } = await hub.put(`${path}/${id}`, body);
    if (status !== 404) continue;
    const created = await hub.post(path, { ...body, id });
    assert.equal(created.status, 201, created.text);
  }
  // A filter knows the velocity from the second location on.
  for (const seconds of [1, 0]) {
    const timestamp = new Date(Date.now() - seconds * 1000).toISOString();
    const put = await hub.put('/providers/tag-1/location', { ...location, timestamp_generated: timestamp });
    assert.equal(put.status, 204, put.text);
  }
  if (!COLLECTIONS.has('/alerts/rules')) return;
  await untilImported(hub);
  IDS['link_id'] = await firstOf(hub, '/links', link);
  IDS['view_id'] = await firstOf(hub, '/views', mapView);
  IDS['walk_test_id'] = await firstOf(hub, '/walk_tests', walkTest);
  // It may have been finished: then no pass can be marked now.
  await hub.put(`/walk_tests/${IDS['walk_test_id']}`, walkTest);
  IDS['sink_id'] = await firstOf(hub, '/sinks', sink);
  IDS['data_source_id'] = await firstOf(hub, '/sources', source);
  const { token } = (await hub.post(`/sources/${IDS['data_source_id']}/token`)).body as { token: string };
  HEADERS['POST /sources/{data_source_id}/data'] = { authorization: `Bearer ${token}` };
  IDS['rule_id'] = await firstOf(hub, '/alerts/rules', alertRule);
  IDS['snooze_id'] = await firstOf(hub, '/alerts/snoozes', alertSnooze());
  // It is raised a moment after its rule is created, and stays when the rule is deleted.
  for (let left = LOOKS; left > 0; left--) {
    const [alert] = (await hub.get('/alerts')).body as { id: string }[];
    IDS['alert_id'] = alert?.id ?? '';
    if (alert !== undefined) return;
    await hub.settle();
  }
  assert.fail('no alert was raised');
}

/** Waits until the import that a call has started is over: there is one at a time. */
async function untilImported(hub: TestHub): Promise<void> {
  for (let left = LOOKS; left > 0; left--) {
    const { began_at: began, ended_at: ended } = (await hub.get('/import')).body;
    if (began === undefined || ended !== undefined) return;
    await hub.settle();
  }
  assert.fail('an import does not end');
}

/** Creates the gate, which the reference of the API does not have, unless it exists. */
export async function restoreGate(hub: TestHub): Promise<void> {
  if ((await hub.get(`/fences/${GATE_ID}`)).status === 200) return;
  const created = await hub.post('/fences', { ...gate, id: GATE_ID });
  assert.equal(created.status, 201, created.text);
}

/** Returns the id of the first object of a list, and creates one if the list is empty. */
async function firstOf(hub: TestHub, path: string, body: object): Promise<string> {
  const [first] = (await hub.get(path)).body as { id: string }[];
  return first?.id ?? (await hub.post(path, body)).body.id;
}

/** Returns the path of an operation with its parameters filled in. */
export function filled(path: string, ids: Readonly<Record<string, string>> = IDS): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? UNKNOWN_ID));
}
