import assert from 'node:assert/strict';
import type { Event } from '../../support/socket_client.ts';
import type { ContractCase } from './contract_case.ts';
import { at, BOTH_EXIT, CART, cart, FENCE, hears, LIFT, send, withCartInside } from './cart_scene.ts';

const LEAVE = { detached_trackables: 'leave' };

/** Changes of assignments without new locations. */
export const ASSIGNMENT_CASES: readonly ContractCase[] = [
  {
    by: 'decision 119',
    name: 'A detached trackable keeps its fence, motion and collisions until its next location, also across a restart',
    async run({ hub: first, restart }) {
      const events = await withCartInside(first, {}, { radius: 1 });
      const lift = { id: LIFT, type: 'omlox', location_providers: ['other'], radius: 1 };
      assert.equal((await first.post('/trackables', lift)).status, 201);
      const collisions = await first.subscribe('collision_events');
      await send(first, at(6, 'other'));
      await collisions.next(({ collision_type: type }) => type === 'collision_start');
      await hears(first, events, ['entry other', `entry ${LIFT}`]);
      const motions = await first.subscribe('trackable_motions');
      assert.equal((await first.put(`/trackables/${CART}`, cart({ location_providers: [], radius: 1 }))).status, 200);
      await send(first, at(50));
      await hears(first, events, ['exit tag']);
      assert.deepEqual([motions.events, collisions.take().length], [[], 1]);
      await send(first, at(6.5, 'other'));
      await collisions.next(({ collision_type: type }) => type === 'colliding');
      const stands = async (hub: typeof first) => {
        const { body, status } = await hub.get(`/trackables/${CART}/motion?crs=local`);
        assert.deepEqual([status, body.location.position.coordinates, body.location.provider_id], [200, [5, 5], 'tag']);
        const location = await hub.get(`/trackables/${CART}/location?crs=local`);
        assert.deepEqual([location.status, location.body], [200, body.location]);
        for (const query of ['', '?spatial_query=true']) {
          const inside = (await hub.get(`/fences/${FENCE.id}/trackables${query}`)).body as { id: string }[];
          assert.ok(inside.some(({ id }) => id === CART));
        }
      };
      await stands(first);
      const hub = await restart();
      await stands(hub);
      const later = await hub.subscribe('fence_events');
      const ends = await hub.subscribe('collision_events');
      assert.equal(
        (await hub.put(`/trackables/${CART}`, cart({ location_providers: ['tag'], radius: 1 }))).status,
        200,
      );
      await hears(hub, later, []);
      await send(hub, at(50));
      await hears(hub, later, ['exit cart']);
      await ends.next(({ collision_type: type }) => type === 'collision_end');
    },
  },
  {
    by: 'decision 119',
    name: 'A detached trackable leaves everything with force_location_update, and when it is deleted',
    async run({ hub }) {
      const events = await withCartInside(hub);
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ location_providers: [] }))).status, 200);
      await hears(hub, events, []);
      const force = `/trackables/${CART}?force_location_update=true`;
      assert.equal((await hub.put(force, cart({ location_providers: [] }))).status, 200);
      await hears(hub, events, ['exit cart']);
      for (const path of ['motion', 'location']) {
        assert.equal((await hub.get(`/trackables/${CART}/${path}`)).status, 404);
      }
      assert.equal((await hub.put(force, cart())).status, 200);
      await hears(hub, events, ['entry cart']);
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ location_providers: [] }))).status, 200);
      assert.equal((await hub.delete(`/trackables/${CART}`)).status, 204);
      await hears(hub, events, ['exit cart']);
    },
  },
  {
    by: 'decision 120',
    name: 'A changed extent of a silent trackable reaches its motion, fences and collisions at once',
    async run({ hub }) {
      const events = await withCartInside(hub, {}, { radius: 0.5 });
      const lift = { id: LIFT, type: 'omlox', location_providers: ['other'], radius: 1 };
      assert.equal((await hub.post('/trackables', lift)).status, 201);
      await send(hub, at(15, 'other'), at(12));
      await hears(hub, events, BOTH_EXIT);
      const [motions, collisions] = [await hub.subscribe('trackable_motions'), await hub.subscribe('collision_events')];
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ radius: 3 }))).status, 200);
      await hears(hub, events, ['entry cart']);
      await collisions.next(({ collision_type: type }) => type === 'collision_start');
      assert.deepEqual(
        motions.take().map(({ id }: Event) => id),
        [CART],
      );
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ radius: 3, name: 'Cart' }))).status, 200);
      await hears(hub, events, []);
      assert.deepEqual(motions.take(), []);
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ radius: 0.1, name: 'Cart' }))).status, 200);
      await hears(hub, events, ['exit cart']);
      await collisions.next(({ collision_type: type }) => type === 'collision_end');
    },
  },
  {
    by: 'decision 92',
    name: 'A detached trackable that does not stay exits its fence, and its motion is deleted, also after a restart',
    settings: LEAVE,
    async run({ hub: first, restart }) {
      const events = await withCartInside(first);
      const motions = await first.subscribe('trackable_motions');
      assert.equal((await first.put(`/trackables/${CART}`, cart({ location_providers: [] }))).status, 200);
      await hears(first, events, ['exit cart']);
      assert.deepEqual(motions.events, []);
      for (const path of ['motion', 'location']) {
        assert.equal((await first.get(`/trackables/${CART}/${path}`)).status, 404);
      }
      assert.deepEqual((await first.get('/trackables/motions')).body, []);
      assert.deepEqual((await first.get(`/fences/${FENCE.id}/trackables`)).body, []);
      const hub = await restart();
      assert.equal((await hub.get(`/trackables/${CART}/motion`)).status, 404);
      assert.deepEqual((await hub.get(`/fences/${FENCE.id}/trackables`)).body, []);
      const later = await hub.subscribe('fence_events');
      await send(hub, at(50));
      await hears(hub, later, ['exit tag']);
    },
  },
  {
    by: 'decision 92',
    name: 'A detached trackable that does not stay takes part in no collision',
    settings: LEAVE,
    async run({ hub }) {
      await withCartInside(hub, {}, { radius: 1 });
      const lift = { id: LIFT, type: 'omlox', location_providers: ['other'], radius: 1 };
      assert.equal((await hub.post('/trackables', lift)).status, 201);
      const collisions = await hub.subscribe('collision_events');
      await send(hub, at(6, 'other'));
      await collisions.next(({ collision_type: type }) => type === 'collision_start');
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ location_providers: [], radius: 1 }))).status, 200);
      const end = await collisions.next(({ collision_type: type }) => type === 'collision_end');
      assert.equal(end.collisions[0].id, CART);
      await send(hub, at(50, 'other'), at(6, 'other'));
      await hub.settle();
      assert.equal(collisions.events.length, 2);
    },
  },
  {
    by: 'decision 92',
    name: 'A trackable that does not stay falls back to its other tag when one is removed',
    settings: LEAVE,
    async run({ hub }) {
      const events = await withCartInside(hub, {}, { location_providers: ['tag', 'spare'] });
      await send(hub, at(50, 'spare', { timestamp_generated: '2020-01-01T00:00:00Z' }));
      const motions = await hub.subscribe('trackable_motions');
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ location_providers: ['spare'] }))).status, 200);
      await hears(hub, events, ['exit cart']);
      assert.deepEqual(
        motions.events.map(({ id, location }: Event) => [id, location.provider_id, location.trackables]),
        [[CART, 'spare', [CART]]],
      );
    },
  },
  {
    by: 'decision 92',
    name: 'A newly assigned tag acts from its next location on, or at once by force_location_update',
    async run({ hub }) {
      const events = await withCartInside(hub);
      await send(hub, at(6, 'new'));
      await hears(hub, events, ['entry new']);
      const motions = await hub.subscribe('trackable_motions');
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ location_providers: ['new'] }))).status, 200);
      await hears(hub, events, []);
      assert.equal((await hub.get(`/trackables/${CART}/motion`)).body.location.provider_id, 'tag');
      const forced = await hub.put(
        `/trackables/${CART}?force_location_update=true`,
        cart({ location_providers: ['new'] }),
      );
      assert.equal(forced.status, 200);
      await motions.next(({ location }: Event) => location.provider_id === 'new');
      await hears(hub, events, []);
      assert.equal((await hub.get(`/trackables/${CART}/motion`)).body.location.provider_id, 'new');
    },
  },
  ...(
    [
      ['A deleted location', '/providers/tag/location'],
      ['A deleted provider', '/providers/tag'],
    ] as const
  ).map(
    ([what, path]): ContractCase => ({
      by: 'decision 92',
      name: `${what} moves its trackable to the position of its other provider, with fences and collisions`,
      async run({ hub }) {
        const events = await withCartInside(hub, {}, { location_providers: ['tag', 'spare'], radius: 1 });
        const lift = { id: LIFT, type: 'omlox', location_providers: ['other'], radius: 1 };
        assert.equal((await hub.post('/trackables', lift)).status, 201);
        const collisions = await hub.subscribe('collision_events');
        await send(hub, at(50, 'spare', { timestamp_generated: '2020-01-01T00:00:00Z' }), at(6, 'other'));
        await collisions.next(({ collision_type: type }) => type === 'collision_start');
        const motions = await hub.subscribe('trackable_motions');
        await hears(hub, events, ['entry other', `entry ${LIFT}`]);
        assert.equal((await hub.delete(path)).status, 204);
        await hears(hub, events, BOTH_EXIT);
        const [motion, ...more] = motions.events;
        assert.deepEqual([motion.id, motion.location.provider_id, more], [CART, 'spare', []]);
        await collisions.next(({ collision_type: type }) => type === 'collision_end');
        assert.equal((await hub.get(`/trackables/${CART}/motion`)).body.location.provider_id, 'spare');
      },
    }),
  ),
  {
    by: 'decision 92',
    name: 'Changed locating rules, of the hub or of a trackable, move it at once',
    async run({ hub }) {
      const events = await withCartInside(hub, {}, { location_providers: ['tag', 'spare'] });
      await send(hub, at(50, 'spare', { timestamp_generated: '2020-01-01T00:00:00Z' }));
      await hears(hub, events, []);
      const rules = [{ expression: "provider_id = 'spare'", priority: 1 }];
      assert.equal((await hub.put('/trackables/rules/locating', rules)).status, 200);
      await hears(hub, events, ['exit cart']);
      const own = [{ expression: "provider_id = 'tag'", priority: 1 }];
      const body = cart({ location_providers: ['tag', 'spare'], locating_rules: own });
      assert.equal((await hub.put(`/trackables/${CART}`, body)).status, 200);
      await hears(hub, events, ['entry cart']);
    },
  },
];
