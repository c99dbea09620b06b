/**
 * Goes through the API of a hub with the types that openapi-typescript makes of its OpenAPI document. Prints what it was
 * answered as one line of JSON.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './hub.gen.mts';

type Schemas = components['schemas'];

const { GET, POST, PUT, PATCH } = createClient<paths>({ baseUrl: process.argv[2] ?? '' });

const corners = [
  [8.6821, 50.1109],
  [8.6835, 50.1109],
  [8.6835, 50.1118],
  [8.6821, 50.1118],
];
const local = [
  [0, 0],
  [100, 0],
  [100, 100],
  [0, 100],
];

const zone = good(
  await POST('/zones', {
    body: {
      type: 'uwb',
      name: 'Hall',
      foreign_id: 'hall',
      ground_control_points: corners.flatMap((corner, i) => [corner, local[i] ?? []]),
    },
  }),
);
const zoneId = zone.id ?? '';

const region: Schemas['Polygon'] = { type: 'Polygon', coordinates: [[...corners, ...corners.slice(0, 1)]] };
const fence = good(await POST('/fences', { body: { name: 'Dock', region } }));
const fencePath = { path: { fence_id: fence.id ?? '' } };

const trackable: Schemas['Trackable'] = good(
  await POST('/trackables', { body: { type: 'omlox', name: 'Vehicle', location_providers: ['tag-1'], radius: 1.5 } }),
);
const trackablePath = { path: { trackable_id: trackable.id ?? '' } };

const location: Schemas['Location'] = {
  position: { type: 'Point', coordinates: [20.25, 20] },
  source: 'hall',
  provider_type: 'uwb',
  provider_id: 'tag-1',
  crs: 'local',
};
good(await PUT('/providers/{provider_id}/location', { params: { path: { provider_id: 'tag-1' } }, body: location }));
good(await PUT('/providers/locations', { body: [location] }));

const [motion] = listOf(good(await GET('/trackables/motions')));
const motionFeatures = good(await GET('/trackables/motions', { params: { query: { geojson: true } } }));
const [stored] = listOf(
  good(await GET('/providers/locations', { params: { query: { crs: 'local', zone_id: zoneId } } })),
);
const fenceFeatures = good(await GET('/fences/summary', { params: { query: { geojson: true } } }));
const dock = good(await GET('/fences/{fence_id}', { params: fencePath }));
const inside = good(await GET('/fences/{fence_id}/trackables', { params: fencePath }));
const renamed = good(
  await PUT('/trackables/{trackable_id}', { params: trackablePath, body: { ...trackable, name: 'Vehicle 7' } }),
);
const patched = good(
  await PATCH('/zones/{zone_id}', {
    params: { path: { zone_id: zoneId } },
    body: [{ op: 'add', path: '/building', value: 'A' }],
  }),
);
const providers = good(await GET('/trackables/{trackable_id}/providers', { params: trackablePath }));
const sensorsOf = { params: { path: { provider_id: 'tag-1' } } };
good(await PUT('/providers/{provider_id}/sensors', { ...sensorsOf, body: { battery: 0.5 } }));
const sensors = good(await GET('/providers/{provider_id}/sensors', sensorsOf));

const missing = refusal(await GET('/zones/{zone_id}', { params: { path: { zone_id: 'nothing' } } }));
const refused = refusal(await POST('/fences', { body: { region, radius: -1 } }));

console.log(
  JSON.stringify({
    zone: zone.name,
    motions: [motion?.name, motion?.geometry?.type],
    motionFeatures: geometries(motionFeatures),
    locations: [stored?.provider_id, stored?.position.coordinates[0]],
    fenceFeatures: geometries(fenceFeatures),
    fence: 'region' in dock && dock.region.type === 'Polygon' ? [dock.name, dock.region.coordinates[0]?.length] : [],
    inside: inside[0]?.name,
    renamed: renamed.name,
    patched: patched.building,
    providers: [providers[0]?.id, providers[0]?.type],
    sensors,
    notFound: [missing.code, missing.message],
    refused: [refused.code, refused.message],
  }),
);

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: Schemas['Error'];
  readonly response: Response;
}

function good<Data>({ data, error, response }: Answered<Data>): Exclude<Data, undefined> {
  if (error !== undefined || !response.ok) throw new Error(`${response.status} ${response.url}: ${error?.message}`);
  return data as Exclude<Data, undefined>;
}

function refusal({ error, response }: Answered<unknown>): Schemas['Error'] {
  if (error === undefined) throw new Error(`${response.status} ${response.url}: this should not be`);
  return error;
}

function listOf<Element>(answer: readonly Element[] | Schemas['FeatureCollection']): readonly Element[] {
  if ('features' in answer) throw new Error('GeoJSON was not asked for');
  return answer;
}

function geometries(answer: readonly unknown[] | Schemas['FeatureCollection']): readonly string[] {
  return 'features' in answer ? answer.features.map(({ geometry }) => geometry.type) : [];
}
