import assert from 'node:assert/strict';
import { HALL, square } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import type { ContractCase } from './contract_case.ts';
import { LOCAL_FENCE_CASES } from './local_fence_cases.ts';

const DOCK = square({ id: 'dock', zone_id: 'hall', name: 'Dock' });
const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const READER = { id: 'reader', type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 3 } as const;
const POINTS = (HALL.ground_control_points ?? []).filter((_, row) => row % 2 === 0);

async function made(hub: TestHub, path: string, body: object): Promise<void> {
  const { status, text } = await hub.post(path, body);
  assert.equal(status, 201, text);
}

async function refuses(reply: Promise<{ status: number; text: string }>, message: RegExp): Promise<void> {
  const { status, text } = await reply;
  assert.equal(status, 400, text);
  assert.match(JSON.parse(text).message, message);
}

const GEOMETRIES: readonly (readonly [what: string, geometry: unknown, message: RegExp])[] = [
  ['an empty list of rings', { type: 'Polygon', coordinates: [] }, /^FIELD\.coordinates: must have at least one ring/],
  [
    'a ring of two positions',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    /^FIELD\.coordinates\[0\]: must have at least 4 positions, the last the same as the first, found 2$/,
  ],
  [
    'a MultiPolygon',
    { type: 'MultiPolygon', coordinates: [] },
    /^FIELD\.type: must be .*Polygon(, LineString)?"?, found "MultiPolygon"$/,
  ],
  [
    'a Feature',
    { type: 'Feature', geometry: DOCK.region },
    /^FIELD\.type: must be .*Polygon(, LineString)?"?, found "Feature"$/,
  ],
  ['no object', [[9, 50]], /^FIELD: must be a GeoJSON .*Polygon(, LineString)?, found \[\[9,50\]\]$/],
  [
    'a polygon that crosses itself',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [4, 4],
          [4, 0],
          [0, 4],
          [0, 0],
        ],
      ],
    },
    /^FIELD: must be a valid polygon, found Self-intersection at \[2, 2\]$/,
  ],
];

const geometries = GEOMETRIES.map(
  ([what, geometry, message]): ContractCase => ({
    by: 'decision 107',
    name: `A fence and a trackable with ${what} are rejected with an error that names the defect and its position`,
    async run({ hub }) {
      const at = (field: string) => new RegExp(message.source.replace('FIELD', field));
      await refuses(hub.post('/fences', { region: geometry }), at('region'));
      await refuses(hub.post('/trackables', { type: 'omlox', geometry }), at('geometry'));
      await made(hub, '/trackables', { id: CART, type: 'omlox' });
      const patch = { op: 'add', path: '/geometry', value: geometry };
      await refuses(hub.request('PATCH', `/trackables/${CART}`, patch), at('geometry'));
    },
  }),
);

/** Orders of five points of which the last is inside the hull of the others. */
const ORDERS = ['01234', '40123', '04123', '02413', '32104', '13420'];

export const ENTITIES_CASES: readonly ContractCase[] = [
  ...LOCAL_FENCE_CASES,
  {
    by: 'decision 103',
    name: 'Ids and foreign ids of zones share a namespace',
    async run({ hub }) {
      await made(hub, '/zones', { ...READER, foreign_id: 'door' });
      await made(hub, '/zones', { ...READER, id: 'own', foreign_id: 'own' });
      await made(hub, '/zones', { ...READER, id: 'plain' });
      await refuses(hub.post('/zones', { ...READER, id: 'door' }), /^id: must differ from ids and foreign ids .*$/);
      const taken = /^foreign_id: must differ from ids and foreign ids of other zones, found "reader"$/;
      await refuses(hub.post('/zones', { ...READER, id: 'new', foreign_id: 'reader' }), taken);
      await refuses(hub.put('/zones/plain', { ...READER, id: 'plain', foreign_id: 'reader' }), taken);
      const patch = { op: 'add', path: '/foreign_id', value: 'reader' };
      await refuses(hub.request('PATCH', '/zones/plain', patch), taken);
      assert.deepEqual((await hub.get('/zones')).body, ['reader', 'own', 'plain']);
    },
  },
  {
    by: 'decision 104',
    name: 'A proximity must have a provider type that supports proximities',
    async run({ hub }) {
      await made(hub, '/zones', READER);
      const near = (type: string) => ({ source: 'reader', provider_type: type, provider_id: `tag-${type}` });
      for (const type of ['rfid', 'ibeacon', 'virtual', 'unknown', 'ble-aoa', 'ble-mesh']) {
        assert.equal((await hub.put('/providers/proximities', [near(type)])).status, 204, type);
      }
      const client = await hub.socket();
      for (const type of ['uwb', 'gps', 'wifi']) {
        const message = new RegExp(`provider_type: must be one of rfid, ibeacon, .*found "${type}"$`);
        await refuses(hub.put('/providers/proximities', [near('rfid'), near(type)]), message);
        await refuses(hub.put(`/providers/tag-${type}/proximity`, near(type)), message);
        client.publish('proximity_updates', near(type));
        const { code, description } = await client.frame((frame) => frame.description?.includes(`"${type}"`) === true);
        assert.equal(code, 10005, description);
      }
      assert.equal((await hub.get('/providers')).body.length, 6);
    },
  },
  ...geometries,
  {
    by: 'decision 107',
    name: 'Positions of zones and locations are rejected with an error that names the defect and its position',
    async run({ hub }) {
      const position = { type: 'Point', coordinates: [9] };
      const message = /position\.coordinates: must be a position of 2 or 3 numbers, found \[9\]$/;
      await refuses(hub.post('/zones', { ...READER, position }), message);
      await refuses(
        hub.post('/anchors', { id: 'a', local_position: position }),
        /^local_position\.coordinates: must be a po/,
      );
      const pairs = { type: 'uwb', ground_control_points: [[9], [0, 0]] };
      await refuses(hub.post('/zones', pairs), /^ground_control_points\[0\]: must be a position .*found \[9\]$/);
      const location = { position, provider_type: 'uwb', provider_id: 'tag', crs: 'EPSG:4326' };
      await refuses(hub.put('/providers/tag/location', location), message);
      await refuses(
        hub.put('/providers/locations', [location]),
        /^locations\[0\]\.position\.coordinates: must be a po/,
      );
      const client = await hub.socket();
      client.publish('location_updates', location);
      const { code, description } = await client.frame((frame) => frame.code !== undefined);
      assert.equal(code, 10005);
      assert.match(description ?? '', /position\.coordinates: must be a position of 2 or 3 numbers, found \[9\]/);
    },
  },
  {
    by: 'specification, createfence',
    name: 'createfence makes the convex hull of the points of a zone, whatever their order',
    async run({ hub }) {
      const places = [...POINTS, [9.0004, 50.0005]];
      const locals = [
        [0, 0],
        [100, 0],
        [100, 100],
        [0, 100],
        [28.7, 55.6],
      ];
      for (const order of ORDERS) {
        const rows = [...order].flatMap((i) => [places[Number(i)], locals[Number(i)]]);
        await made(hub, '/zones', { id: order, type: 'uwb', ground_control_points: rows });
        const { region } = (await hub.get(`/zones/${order}/createfence`)).body;
        assert.deepEqual(region.coordinates, [[...POINTS, POINTS[0]]], order);
      }
    },
  },
  {
    by: 'decision 13',
    name: 'Sensors set to null are absent, in whatever way they were set, also after a restart',
    async run({ hub, restart }) {
      const ways: Readonly<Record<string, (hub: TestHub) => Promise<{ status: number }>>> = {
        sensors: () => hub.put('/providers/sensors/sensors', 'null'),
        put: () => hub.put('/providers/put', { id: 'put', type: 'uwb', sensors: null }),
        patch: () => hub.request('PATCH', '/providers/patch', { op: 'replace', path: '/sensors', value: null }),
        remove: () => hub.request('PATCH', '/providers/remove', { op: 'remove', path: '/sensors' }),
      };
      const ids = Object.keys(ways);
      await made(hub, '/providers', { id: 'kept', type: 'uwb', sensors: [null] });
      await made(hub, '/trackables', { id: CART, type: 'omlox', location_providers: [...ids, 'kept'] });
      const hasNone = async (hub: TestHub) => {
        for (const id of ids) {
          const { status, body } = await hub.get(`/providers/${id}/sensors`);
          assert.deepEqual([status, body.message], [404, `Cannot get sensors of provider "${id}": it has none`]);
        }
        assert.deepEqual((await hub.get(`/trackables/${CART}/sensors`)).body, [[null]]);
      };
      for (const [id, clear] of Object.entries(ways)) {
        await made(hub, '/providers', { id, type: 'uwb', sensors: { battery: 5 } });
        assert.ok((await clear(hub)).status < 300, id);
      }
      await hasNone(hub);
      await hasNone(await restart());
    },
  },
  {
    by: 'decision 109',
    name: 'A posted fence event names exactly one of provider and trackable',
    async run({ hub }) {
      await made(hub, '/zones', HALL);
      await made(hub, '/fences', DOCK);
      const events = await hub.subscribe('fence_events');
      const message = /^provider_id: exactly one of provider_id and trackable_id is required, found /;
      for (const method of ['POST', 'PUT']) {
        const send = (more: object) => {
          return hub.request(method, '/fences/dock/events', { event_type: 'region_entry', ...more });
        };
        await refuses(send({}), message);
        await refuses(send({ provider_id: null, trackable_id: '' }), message);
        await refuses(send({ provider_id: 'tag', trackable_id: CART }), message);
        assert.equal((await send({ provider_id: 'tag', trackable_id: null })).status, 204);
        assert.equal((await send({ trackable_id: CART })).status, 204);
      }
      await hub.settle();
      const named = events.events.map(({ provider_id: provider, trackable_id: trackable }) => provider ?? trackable);
      // Events of different objects may change places between two hubs.
      assert.deepEqual(named.sort(), [CART, CART, 'tag', 'tag']);
    },
  },
];
