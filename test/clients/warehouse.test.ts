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

/** What a script sends: entities with ids of its own. */
type Sent = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Scripts that set up a warehouse by v1: they send JSON without a Content-Type, with ids of their own that are no UUIDs,
 * go on with the ids that they are answered, and tell errors apart by their type.
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

  /** Makes something unless it is there: what scripts do that may run twice. */
  async function ensure(path: string, entity: Sent): Promise<string> {
    const known = await call('GET', `${path}/${encodeURIComponent(entity.id)}`);
    if (known.status === 200) return known.body.id;
    assert.deepEqual([known.status, known.body.type, known.body.code], [404, 'not found', 404]);
    const { status, body, headers } = await call('POST', path, entity);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(headers.location, `/deephub/v1${path}/${encodeURIComponent(body.id)}`);
    return body.id;
  }

  test('gets zones, trackables and fences with ids of the hub, and events of what moves among them', async () => {
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

  test('tells its errors apart by the words of v1', async () => {
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

  /** v1 has an id of its own for it. */
  async function createdAs(path: string, entity: Sent): Promise<string> {
    const { status, body } = await call('POST', path, entity);
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(body.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    return body.id;
  }
});
