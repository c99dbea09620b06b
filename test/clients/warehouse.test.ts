import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openTestHub, type TestHub, type TestReply } from '../support/running_hub.ts';

const TAG = '77:4f:34:69:27:40';

const ZONE = {
  id: 'warehouse',
  type: 'uwb',
  foreign_id: 'warehouse-uwb',
  name: 'Warehouse',
  ground_control_points: [
    [9, 50],
    [0, 0],
    [9.001394785, 50],
    [100, 0],
    [9.001394785, 50.000898919],
    [100, 100],
    [9, 50.000898919],
    [0, 100],
  ],
};

const dockIn = (zone: string) => ({
  id: 'dock-a',
  name: 'Dock A',
  region: {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 10],
        [0, 0],
      ],
    ],
  },
  crs: 'local',
  zone_id: zone,
});

const forkliftAt = (x: number) => ({
  position: { type: 'Point', coordinates: [x, 5] },
  source: 'warehouse-uwb',
  provider_type: 'uwb',
  provider_id: TAG,
});

/** Body of a script: an entity with its own id. */
type Sent = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Scripts that set up a warehouse with v1. They send JSON without a Content-Type and with ids that are no UUIDs,
 * continue with the returned ids, and distinguish errors by their types.
 */
describe('a script of v1 that sets up a warehouse', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
  });
  after(() => hub.close());

  const call = (method: string, path: string, body?: object): Promise<TestReply> => {
    return hub.request(
      method,
      `${hub.origin}/deephub/v1${path}`,
      body === undefined ? undefined : JSON.stringify(body),
    );
  };

  /** Creates an entity unless it exists, like scripts that may run twice. */
  async function ensure(path: string, entity: Sent): Promise<string> {
    const known = await call('GET', `${path}/${encodeURIComponent(entity.id)}`);
    if (known.status === 200) return known.body.id;
    assert.deepEqual([known.status, known.body.type, known.body.code], [404, 'not found', 404]);
    const { status, body, headers } = await call('POST', path, entity);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(headers.location, `/deephub/v1${path}/${encodeURIComponent(body.id)}`);
    return body.id;
  }

  test('receives zones, trackables and fences with ids of the hub, and events of their movements', async () => {
    const zone = await ensure('/zones', ZONE);
    assert.notEqual(zone, ZONE.id);
    const { body: kept } = await call('GET', `/zones/${zone}`);
    assert.deepEqual([kept.foreign_id, kept.need_transformation], [ZONE.foreign_id, true]);
    assert.equal(await ensure('/providers', { id: TAG, type: 'uwb' }), TAG);
    assert.equal(await ensure('/providers', { id: TAG, type: 'uwb' }), TAG);
    const forklift = { id: 'forklift-7', type: 'omlox', name: 'Forklift 7', location_providers: [TAG] };
    const trackable = await createdAs('/trackables', forklift);
    const fence = await createdAs('/fences', dockIn(zone));
    assert.deepEqual((await call('GET', `/trackables/${trackable}/providers`)).body, [TAG]);

    const socket = await hub.socket({ path: '/deephub/v1/ws/socket' });
    const events = await socket.subscribe('fence_events', { trackable_id: trackable });
    for (const x of [50, 5, 50]) socket.publish('location_updates', forkliftAt(x));
    const entry = await events.next(({ event_type: type }) => type === 'region_entry');
    const exit = await events.next(({ event_type: type }) => type === 'region_exit');
    for (const event of [entry, exit]) {
      assert.deepEqual([event.fence_id, event.trackable_id, event.provider_id], [fence, trackable, null]);
    }
    assert.deepEqual((await call('GET', `/trackables/${trackable}/fences`)).body, []);
  });

  test('distinguishes errors by the messages of v1', async () => {
    await ensure('/providers', { id: TAG, type: 'uwb' });
    const refusals: readonly (readonly [TestReply, number, string])[] = [
      [await call('POST', '/providers', { id: TAG, type: 'uwb' }), 400, 'bad request'],
      [await call('POST', '/zones', { type: 'radar' }), 400, 'bad request'],
      [await call('PUT', '/providers/nobody', { id: 'nobody', type: 'uwb' }), 404, 'not found'],
      [await call('DELETE', '/fences/nothing'), 404, 'not found'],
      [await call('GET', '/trackables/nothing/location'), 404, 'not found'],
      [await call('PUT', '/fences', {}), 405, 'bad request'],
    ];
    for (const [{ status, body }, code, type] of refusals) {
      assert.deepEqual([status, body.code, body.type], [code, code, type], body.message);
    }
  });

  /** v1 generates a separate id for it. */
  async function createdAs(path: string, entity: Sent): Promise<string> {
    const { status, body } = await call('POST', path, entity);
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(body.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    return body.id;
  }
});

/** Squares of ten meters in the hall, by purpose. */
const AREAS = { production: 0, storage: 20, ramp: 40, loading: 60 } as const;
type Area = keyof typeof AREAS;
const TRUCK_TAG = 'truck-tag';
const PRODUCTS = ['P-1', 'P-2', 'P-3'];

/**
 * The vendor's warehouse example as the requests that it sends. A product is picked up by assigning the provider of a
 * forklift to it, and put down by removing that again. Other scripts find it by its position.
 */
describe('scripts of v1 that carry products to a truck by attaching and detaching them', () => {
  let hub: TestHub;
  let zone: string;
  const fences = new Map<Area, string>();
  before(async () => {
    hub = await openTestHub();
    zone = (await call('POST', '/zones', ZONE)).body.id;
    for (const [area, x] of Object.entries(AREAS)) {
      const dock = dockIn(zone);
      const ring = dock.region.coordinates[0]?.map(([east = 0, north = 0]) => [east + x, north]);
      const body = { ...dock, name: area, region: { type: 'Polygon', coordinates: [ring] } };
      fences.set(area as Area, (await call('POST', '/fences', body)).body.id);
    }
  });
  after(() => hub.close());

  const call = (method: string, path: string, body?: object): Promise<TestReply> => {
    return hub.request(
      method,
      `${hub.origin}/deephub/v1${path}`,
      body === undefined ? undefined : JSON.stringify(body),
    );
  };
  const locationOf = (provider: string, x: number) => ({ ...forkliftAt(x), provider_id: provider, source: zone });

  test('every product reaches the truck, which leaves when all of them are loaded', async () => {
    const socket = await hub.socket({ path: '/deephub/v1/ws/socket' });
    const events = await socket.subscribe('fence_events');
    const crossing = (id: string, area: Area, type = 'region_entry') => {
      return events.next(
        (event) => event.trackable_id === id && event.fence_id === fences.get(area) && event.event_type === type,
      );
    };
    const drive = async (provider: string, ...way: readonly number[]) => {
      for (const x of way) socket.publish('location_updates', locationOf(provider, x));
      await hub.settle();
    };
    const change = async (id: string, more: object) => {
      const { body } = await call('GET', `/trackables/${id}`);
      const { status, body: changed } = await call('PUT', `/trackables/${id}`, { ...body, ...more });
      assert.equal(status, 200);
      return changed;
    };
    const liesIn = async (area: Area) => {
      const { body } = await call('GET', `/fences/${fences.get(area)}/trackables?spatial_query=true`);
      return (body as { id: string }[]).map(({ id }) => id);
    };
    /** Carries a product along a path on a vehicle, puts it down, and drives the vehicle back without it. */
    const carry = async (id: string, vehicle: string, way: readonly number[]) => {
      await drive(vehicle, ...way.slice(0, 1));
      await change(id, { location_providers: [vehicle] });
      await drive(vehicle, ...way);
      await change(id, { location_providers: [] });
      await drive(vehicle, ...way.toReversed());
    };

    const loaded = [];
    await drive(TRUCK_TAG, 90);
    const truck = await call('POST', '/trackables', { type: 'virtual', location_providers: [TRUCK_TAG], radius: 0.5 });
    await drive(TRUCK_TAG, 65);
    await crossing(truck.body.id, 'loading');
    for (const barcode of PRODUCTS) {
      await drive('spot', 5);
      const product = { type: 'virtual', radius: 0.5, location_providers: ['spot'], properties: { barcode } };
      const { body: made } = await call('POST', '/trackables?force_location_update=true', product);
      await crossing(made.id, 'production');
      await change(made.id, { location_providers: [] });
      assert.deepEqual(await liesIn('production'), [made.id]);
      const ways = [
        ['storage', 'forklift-1', [5, 15, 25]],
        ['ramp', 'forklift-2', [25, 35, 45]],
      ] as const;
      for (const [area, forklift, way] of ways) {
        await carry(made.id, forklift, way);
        await crossing(made.id, area);
        assert.deepEqual(await liesIn(area), [made.id], `${barcode} is in the ${area}`);
      }
      await carry(made.id, 'pallet-truck', [45, 55, 62]);
      await crossing(made.id, 'loading');
      loaded.push({ trackableId: made.id, barcode });
      await change(truck.body.id, { properties: { loaded } });
      assert.equal((await call('DELETE', `/trackables/${made.id}`)).status, 204);
      assert.equal((await call('GET', `/trackables/${made.id}`)).body.type, 'not found');
    }
    const { body } = await call('GET', `/trackables/${truck.body.id}`);
    assert.deepEqual(
      body.properties.loaded.map((each: { barcode: string }) => each.barcode),
      PRODUCTS,
    );
    await drive(TRUCK_TAG, 90);
    await crossing(truck.body.id, 'loading', 'region_exit');
  });
});
