import assert from 'node:assert/strict';
import { HALL } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, send } from '../../support/scene.ts';
import type { Event } from '../../support/socket_client.ts';
import type { ContractCase } from './contract_case.ts';

const VERSIONS = ['v1', 'v2'];
/** The published example of UPS (IOGP guidance note 7-2), and its mirror position in the south. */
const POLES: readonly (readonly [crs: string, lonLat: readonly number[], inPlane: readonly number[]])[] = [
  ['EPSG:32661', [44, 73], [3_320_416.75, 632_668.43]],
  ['EPSG:32761', [44, -73], [3_320_416.75, 3_367_331.57]],
];

async function bodyOf(hub: TestHub, path: string): Promise<Event> {
  const { status, body, text } = await hub.get(path);
  assert.equal(status, 200, `${path} ${text}`);
  return body;
}

function assertAt(found: readonly number[], expected: readonly number[], tolerance: number): void {
  for (const [axis, value] of expected.entries()) {
    assert.ok(Math.abs((found[axis] ?? Number.NaN) - value) <= tolerance, `${found} is not ${expected}`);
  }
}

/** Responses of the endpoints of a running hub, as far as the specification defines them. */
export const ENDPOINT_CASES: readonly ContractCase[] = [
  {
    by: 'Endpoints row 3',
    name: 'location of a trackable is the newest of its providers, and locations are all of them',
    async run({ hub }) {
      await createScene(hub);
      await hub.put(`/trackables/${CART.id}`, { ...CART, location_providers: ['a', 'b', 'c'] });
      const at = (second: number) => ({ timestamp_generated: `2026-03-01T12:00:0${second}Z` });
      await send(hub, inHall('a', 1, 1, at(1)), inHall('b', 2, 2, at(3)), inHall('c', 3, 3, at(2)));
      await send(hub, inHall('stranger', 9, 9, at(9)));
      for (const version of VERSIONS) {
        const trackable = `${hub.origin}/hub/${version}/trackables/${CART.id}`;
        assert.equal((await bodyOf(hub, `${trackable}/location`)).provider_id, 'b');
        const all = await bodyOf(hub, `${trackable}/locations`);
        assert.deepEqual(
          all.map(({ provider_id: id }: Event) => id),
          ['a', 'b', 'c'],
        );
      }
    },
  },
  {
    by: 'Endpoints row 6',
    name: 'sensors of a trackable are an array with those of all its providers that have some',
    async run({ hub }) {
      await hub.post('/trackables', CART);
      await hub.put(`/trackables/${CART.id}`, { ...CART, location_providers: ['a', 'b', 'bare', 'c'] });
      const sensors = { a: { battery: 5 }, b: [1, 'x'], c: 21.5 };
      for (const id of ['a', 'b', 'bare', 'c', 'stranger']) await hub.post('/providers', { id, type: 'uwb' });
      for (const [id, value] of Object.entries(sensors)) {
        assert.equal((await hub.put(`/providers/${id}/sensors`, JSON.stringify(value))).status, 204);
        assert.deepEqual(await bodyOf(hub, `/providers/${id}/sensors`), value);
      }
      for (const version of VERSIONS) {
        const found = await bodyOf(hub, `${hub.origin}/hub/${version}/trackables/${CART.id}/sensors`);
        assert.deepEqual(found, Object.values(sensors));
      }
    },
  },
  {
    by: 'Endpoints row 16',
    name: 'transform converts positions of a zone to EPSG:4326 and back',
    async run({ hub }) {
      await hub.post('/zones', HALL);
      for (const version of VERSIONS) {
        const path = `${hub.origin}/hub/${version}/zones/${HALL.id}/transform`;
        const onEarth = await hub.put(path, { position: { type: 'Point', coordinates: [50, 25, 3] }, crs: 'local' });
        assert.deepEqual([onEarth.status, onEarth.body.crs], [200, 'EPSG:4326']);
        assertAt(onEarth.body.position.coordinates, [9.0006974, 50.0002247, 3], 1e-6);
        const back = await hub.put(path, onEarth.body);
        assert.deepEqual([back.status, back.body.crs], [200, 'local']);
        assertAt(back.body.position.coordinates, [50, 25, 3], 0.001);
      }
    },
  },
  {
    by: 'Endpoints row 17',
    name: 'a fence that createfence derives from a zone can be posted and entered',
    async run({ hub }) {
      await hub.post('/zones', HALL);
      const events = await hub.subscribe('fence_events');
      for (const version of VERSIONS) {
        const base = `${hub.origin}/hub/${version}`;
        const made = await bodyOf(hub, `${base}/zones/${HALL.id}/createfence`);
        assert.deepEqual(await bodyOf(hub, `${base}/fences`), [], 'it is not stored');
        const { status, body } = await hub.post(`${base}/fences`, made);
        assert.equal(status, 201);
        await send(hub, inHall(`tag-${version}`, 99, 99));
        const entry = await events.next(({ provider_id: id }) => id === `tag-${version}`);
        assert.deepEqual([entry.event_type, entry.fence_id], ['region_entry', body.id]);
        assert.equal((await hub.delete(`${base}/fences`)).status, 204);
      }
    },
  },
  {
    by: 'Endpoints item 1a',
    name: 'crs selects the projection of every list and object with a location or a fence',
    async run({ hub }) {
      await createScene(hub);
      await send(hub, inHall('cart-tag', 5, 6));
      const inUtm = [500_004.998, 5_538_636.7];
      const first = (list: Event): Event => (Array.isArray(list) ? list[0] : list);
      const locations = ['/providers/locations', '/providers/cart-tag/location', `/fences/${FENCE.id}/locations`];
      const ofTrackable = ['location', 'locations'].map((name) => `/trackables/${CART.id}/${name}`);
      for (const path of [...locations, ...ofTrackable]) {
        const utm = first(await bodyOf(hub, `${path}?crs=EPSG:32632`));
        assert.equal(utm.crs, 'EPSG:32632');
        assertAt(utm.position.coordinates, inUtm, 0.5);
        const local = first(await bodyOf(hub, `${path}?crs=local&zone_id=${HALL.id}`));
        assert.deepEqual([local.crs, local.position.coordinates], ['local', [5, 6]]);
      }
      for (const path of ['/trackables/motions', `/trackables/${CART.id}/motion`, `/fences/${FENCE.id}/motions`]) {
        const { location } = first(await bodyOf(hub, `${path}?crs=EPSG:32632`));
        assertAt(location.position.coordinates, inUtm, 0.5);
      }
      for (const path of ['/fences/summary', `/fences/${FENCE.id}`]) {
        const utm = first(await bodyOf(hub, `${path}?crs=EPSG:32632`));
        assertAt(utm.region.coordinates[0][2], [500_009.997, 5_538_640.7], 0.5);
        const local = first(await bodyOf(hub, `${path}?crs=local&zone_id=${HALL.id}`));
        assert.deepEqual(local.region, FENCE.region);
      }
    },
  },
  {
    by: 'Endpoints item 1c',
    name: 'locations and fences at both poles are accepted and returned in EPSG:32661 and EPSG:32761',
    async run({ hub }) {
      const events = await hub.subscribe('fence_events');
      for (const [crs, lonLat, inPlane] of POLES) {
        const region = { type: 'Point', coordinates: inPlane };
        const fence = await hub.post('/fences', { id: crs, region, radius: 50, crs });
        assert.equal(fence.status, 201, fence.text);
        const tag = `tag ${crs}`;
        await send(hub, { position: region, crs, provider_id: tag, provider_type: 'gps' });
        const location = `/providers/${encodeURIComponent(tag)}/location`;
        assertAt((await bodyOf(hub, location)).position.coordinates, lonLat, 1e-7);
        assertAt((await bodyOf(hub, `${location}?crs=${crs}`)).position.coordinates, inPlane, 0.001);
        const shown = await bodyOf(hub, `/fences/${crs}?crs=${crs}`);
        assertAt(shown.region.coordinates, inPlane, 0.001);
        assert.equal((await events.next(({ provider_id: id }) => id === tag)).fence_id, crs);
      }
    },
  },
];
