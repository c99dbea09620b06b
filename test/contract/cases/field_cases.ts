import assert from 'node:assert/strict';
import { HALL, square } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, send } from '../../support/scene.ts';
import type { Event, Recorder } from '../../support/socket_client.ts';
import { publicForm } from '../../support/time_sent.ts';
import type { ContractCase } from './contract_case.ts';

const POSITION = { type: 'Point', coordinates: [9, 50] };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Entities without id, by their paths. */
const NAMELESS = {
  '/zones': { type: 'rfid', position: POSITION },
  '/fences': { region: POSITION, radius: 5 },
  '/trackables': { type: 'omlox' },
  '/providers': { type: 'uwb' },
};
const SILENT_MS = 300;

async function post(hub: TestHub, path: string, entity: object): Promise<Event> {
  const { status, text, body } = await hub.post(path, entity);
  assert.equal(status, 201, text);
  return body;
}

const exitOf = (provider: string) => (event: Event) =>
  event.event_type === 'region_exit' && event.provider_id === provider;

/** Waits for the exit of a silent tag next to the tags of a test: by then, all earlier exits have been published. */
async function silence(hub: TestHub, events: Recorder, providerIds: readonly string[]): Promise<Event[]> {
  await events.next(exitOf('clock'));
  await hub.settle();
  return events.events.filter((event) => event.event_type === 'region_exit' && providerIds.includes(event.provider_id));
}

/** Fields of the resources as the specification defines them. */
export const FIELD_CASES: readonly ContractCase[] = [
  {
    by: 'Resources and their fields sentence 2',
    name: 'the hub generates ids, which are distinct strings',
    async run({ hub }) {
      for (const version of ['v1', 'v2']) {
        for (const [path, entity] of Object.entries(NAMELESS)) {
          const [one, two] = [
            await post(hub, `${hub.origin}/hub/${version}${path}`, entity),
            await post(hub, `${hub.origin}/hub/${version}${path}`, entity),
          ];
          assert.match(one.id, UUID);
          assert.match(two.id, UUID);
          assert.notEqual(one.id, two.id);
        }
      }
    },
  },
  {
    by: 'Resources and their fields sentence 3',
    name: 'version 2 accepts the id of a client, version 1 generates its own',
    async run({ hub }) {
      for (const [path, entity] of Object.entries(NAMELESS)) {
        const given = { ...entity, id: '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01' };
        assert.equal((await post(hub, `${hub.origin}/hub/v2${path}`, given)).id, given.id);
        if (path === '/providers') continue;
        const { id } = await post(hub, `${hub.origin}/hub/v1${path}`, given);
        assert.match(id, UUID);
        assert.notEqual(id, given.id);
      }
    },
  },
  {
    by: 'Location provider row 1',
    name: 'a provider created by a location has the type of the location, and PUT sets the actual one',
    async run({ hub }) {
      await hub.post('/zones', HALL);
      await send(hub, inHall('tag', 1, 1, { provider_type: 'ble-aoa' }));
      assert.deepEqual((await hub.get('/providers/tag')).body, { id: 'tag', type: 'ble-aoa' });
      assert.equal((await hub.put('/providers/tag', { type: 'uwb' })).status, 204);
      assert.equal((await hub.get('/providers/tag')).body.type, 'uwb');
      assert.equal((await hub.put('/providers/tag', { type: 'sonar' })).status, 400);
    },
  },
  {
    by: 'Location provider row 4',
    name: 'timeout of a provider and of a trackable is an integer in milliseconds that decides before that of the fence',
    async run({ hub }) {
      const events = await hub.subscribe('fence_events');
      await hub.post('/zones', HALL);
      await post(hub, '/fences', square({ timeout: SILENT_MS }));
      await post(hub, '/providers', { id: 'clock', type: 'uwb', timeout: 5 * SILENT_MS });
      await post(hub, '/providers', { id: 'forever', type: 'uwb', timeout: -1 });
      const ofTrackable = { type: 'omlox', location_providers: ['carried'], timeout: -1 };
      assert.equal((await post(hub, '/trackables', ofTrackable)).timeout, -1);
      for (const timeout of [1.5, '300', -2]) {
        const { status, body } = await hub.post('/providers', { id: 'bad', type: 'uwb', timeout });
        assert.equal(status, 400);
        assert.match(body.message, /^timeout: must be (an integer|>= -1)/);
      }
      await send(hub, ...['plain', 'forever', 'carried', 'clock'].map((id) => inHall(id, 5, 5)));
      const exits = await silence(hub, events, ['plain', 'forever', 'carried', 'clock']);
      assert.deepEqual(
        exits.map(({ provider_id: id }) => id),
        ['plain', 'clock'],
      );
      const [plain, clock] = exits.map(
        ({ exit_time: exit, entry_time: entry }) => Date.parse(exit) - Date.parse(entry),
      );
      assert.ok((plain ?? 0) >= SILENT_MS && (clock ?? 0) >= 5 * SILENT_MS, `${plain} and ${clock} ms`);
    },
  },
  {
    by: 'Limits row 2',
    name: '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay, wherever it is set',
    async run({ hub }) {
      const events = await hub.subscribe('fence_events');
      await hub.post('/zones', HALL);
      const finite = { timeout: SILENT_MS, exit_tolerance: 2, tolerance_timeout: SILENT_MS, exit_delay: SILENT_MS };
      const infinite = { tolerance_timeout: -1, exit_delay: -1 };
      await post(hub, '/fences', square(finite));
      await post(hub, '/fences', { ...square({ ...finite, ...infinite, timeout: -1 }), id: 'endless' });
      await post(hub, '/providers', { id: 'clock', type: 'uwb', fence_timeout: 4 * SILENT_MS });
      for (const id of ['inside', 'near', 'far']) {
        await post(hub, '/providers', { id, type: 'uwb', fence_timeout: -1, ...infinite });
        await post(hub, '/providers', { id: `${id}-plain`, type: 'uwb' });
      }
      const seenAt = { inside: 5, near: 11, far: 50 };
      const ids = Object.keys(seenAt).flatMap((id) => [id, `${id}-plain`]);
      // In one request, so that no timer expires in between.
      const outside = Object.entries(seenAt).flatMap(([id, x]) => [inHall(id, x, 5), inHall(`${id}-plain`, x, 5)]);
      await send(hub, ...['clock', ...ids].map((id) => inHall(id, 5, 5)), ...outside);
      const exits = await silence(hub, events, ids);
      assert.deepEqual(
        exits.map(({ provider_id: id, fence_id: fence }) => `${id} ${fence}`).sort(),
        ['far-plain', 'inside-plain', 'near-plain'].map((id) => `${id} ${square().id}`),
      );
      const { body: members } = await hub.get('/fences/endless/providers');
      assert.deepEqual(members.map(({ id }: Event) => id).sort(), ids.toSorted());
    },
  },
  {
    by: 'Zone row 6',
    name: 'exit_delay is in the APIs of zones and of fences, and of a fence that is made of a zone',
    async run({ hub }) {
      for (const version of ['v1', 'v2']) {
        const base = `${hub.origin}/hub/${version}`;
        const { id } = await post(hub, `${base}/zones`, {
          ...HALL,
          id: undefined,
          foreign_id: version,
          exit_delay: 5000,
        });
        assert.equal((await hub.get(`${base}/zones/${id}`)).body.exit_delay, 5000);
        const { body: fence } = await hub.get(`${base}/zones/${id}/createfence`);
        assert.equal(fence.exit_delay, 5000);
        assert.equal((await post(hub, `${base}/fences`, fence)).exit_delay, 5000);
        const replaced = { ...HALL, id, foreign_id: version, exit_delay: -1 };
        assert.equal((await hub.put(`${base}/zones/${id}`, replaced)).status, 204);
        assert.equal((await hub.get(`${base}/zones/summary?foreign_id=${version}`)).body[0].exit_delay, -1);
      }
    },
  },
  {
    by: 'Fence row 1',
    name: 'the name of a fence is name, and not fence_name',
    async run({ hub }) {
      const fence = { region: POSITION, radius: 5, name: 'Dock' };
      const { id } = await post(hub, '/fences', { ...fence, fence_name: 'Quay' });
      assert.deepEqual((await hub.get(`/fences/${id}`)).body, { id, ...fence });
    },
  },
  {
    by: 'Fence row 2',
    name: 'regions may be 2D or 3D and overlap: each fence has events of its own',
    async run({ hub }) {
      const events = await hub.subscribe('fence_events');
      const ring = (...height: readonly number[]) => ({
        type: 'Polygon',
        coordinates: [
          [
            [9, 50, ...height],
            [9.001, 50, ...height],
            [9.001, 50.001, ...height],
            [9, 50.001, ...height],
            [9, 50, ...height],
          ],
        ],
      });
      const regions = {
        flat: { region: ring() },
        high: { region: ring(12.5) },
        round: { region: { type: 'Point', coordinates: [9.0005, 50.0005] }, radius: 20 },
        ball: { region: { type: 'Point', coordinates: [9.0005, 50.0005, 1] }, radius: 30 },
      };
      for (const [id, fence] of Object.entries(regions)) {
        await post(hub, '/fences', { id, ...fence });
        assert.deepEqual((await hub.get(`/fences/${id}`)).body.region, fence.region);
      }
      const location = { position: { type: 'Point', coordinates: [9.0005, 50.0005] }, crs: 'EPSG:4326' };
      await hub.put('/providers/tag/location', { ...location, provider_type: 'gps' });
      await hub.settle();
      assert.deepEqual(events.events.map(({ fence_id: id }) => id).sort(), Object.keys(regions).sort());
    },
  },
  {
    by: 'States and transitions row 2',
    name: 'a deleted trackable is found in no fence any more, and has no motion, however it is asked for',
    async run({ hub }) {
      await createScene(hub);
      await send(hub, inHall('cart-tag', 5, 5));
      const lists = ['trackables', 'motions'].flatMap((name) => {
        return [`/fences/${FENCE.id}/${name}`, `/fences/${FENCE.id}/${name}?spatial_query=true`];
      });
      for (const path of [...lists, '/trackables/motions'])
        assert.equal((await hub.get(path)).body[0].id, CART.id, path);
      assert.equal((await hub.delete(`/trackables/${CART.id}`)).status, 204);
      for (const path of [...lists, '/trackables/motions']) assert.deepEqual((await hub.get(path)).body, [], path);
      assert.equal((await hub.get(`/trackables/${CART.id}/motion`)).status, 404);
      const motions = await hub.subscribe('trackable_motions');
      await send(hub, inHall('cart-tag', 50, 50), inHall('cart-tag', 5, 5));
      await hub.settle();
      assert.deepEqual(motions.events, []);
    },
  },
  {
    by: 'States and transitions row 4',
    name: 'an outdated location moves no trackable',
    async run({ hub }) {
      await createScene(hub);
      const motions = await hub.subscribe('trackable_motions');
      const events = await hub.subscribe('fence_events');
      const at = (second: number) => ({ timestamp_generated: `2026-03-01T12:00:0${second}Z` });
      await send(hub, inHall('cart-tag', 50, 50, at(2)));
      const { body: motion } = await hub.get(`/trackables/${CART.id}/motion`);
      await send(hub, inHall('cart-tag', 5, 5, at(1)));
      await hub.settle();
      assert.deepEqual([motions.events.map(publicForm), events.events], [[motion], []]);
      assert.deepEqual((await hub.get(`/trackables/${CART.id}/motion`)).body, motion);
      const forced = `/trackables/${CART.id}?force_location_update=true`;
      assert.equal((await hub.put(forced, CART)).status, 200);
      await hub.settle();
      assert.equal(motions.events.length, 1);
    },
  },
];
