import assert from 'node:assert/strict';
import { square } from '../../support/hall.ts';
import type { ContractCase } from './contract_case.ts';
import { at, BOTH_EXIT, CART, cart, FENCE, hears, send, withCartInside } from './cart_scene.ts';

/** Changes after which the tag sends nothing more. */
export const TIMER_CASES: readonly ContractCase[] = [
  {
    by: 'decision 93',
    name: 'A fence timeout that is set while an object inside is silent makes it exit',
    async run({ hub }) {
      const events = await withCartInside(hub);
      const changedMs = Date.now();
      assert.equal((await hub.put(`/fences/${FENCE.id}`, { ...FENCE, timeout: 1 })).status, 204);
      await hears(hub, events, BOTH_EXIT);
      for (const { exit_time: time } of events.events.slice(2)) assert.ok(Date.parse(time) >= changedMs, time);
      assert.deepEqual((await hub.get(`/fences/${FENCE.id}/trackables`)).body, []);
    },
  },
  {
    by: 'decision 93',
    name: 'A fence timeout that becomes infinite cancels the pending exit',
    async run({ hub }) {
      const events = await withCartInside(hub, { timeout: 1500 });
      assert.equal((await hub.put(`/fences/${FENCE.id}`, { ...FENCE, timeout: -1 })).status, 204);
      // The exit from this fence shows that the old timeout has passed.
      const clock = { ...square({ id: 'clock-fence' }), timeout: 1600 };
      assert.equal((await hub.post('/fences', clock)).status, 201);
      await send(hub, at(5, 'clock'));
      await events.next(({ event_type: type, provider_id: id, fence_id: fence }) => {
        return type === 'region_exit' && id === 'clock' && fence === clock.id;
      });
      const ofFence = events.events.filter(({ fence_id: id, event_type: type }) => {
        return id === FENCE.id && type === 'region_exit';
      });
      assert.deepEqual(ofFence, []);
    },
  },
  ...(
    [
      ['An exit delay', { exit_delay: -1 }, { exit_delay: 1 }],
      ['A tolerance timeout', { exit_tolerance: 100 }, { exit_tolerance: 100, tolerance_timeout: 1 }],
      ['An exit tolerance', { exit_tolerance: 100 }, { exit_tolerance: 1 }],
    ] as const
  ).map(
    ([what, before, after]): ContractCase => ({
      by: 'decision 93',
      name: `${what} that is changed while an object outside is silent makes it exit`,
      async run({ hub }) {
        const events = await withCartInside(hub, before);
        await send(hub, at(50));
        await hears(hub, events, []);
        assert.equal((await hub.put(`/fences/${FENCE.id}`, { ...FENCE, ...after })).status, 204);
        await hears(hub, events, BOTH_EXIT);
      },
    }),
  ),
  {
    by: 'decision 93',
    name: "A trackable's own timeout takes effect at once on it and on its provider, by PUT and by PATCH",
    async run({ hub }) {
      const events = await withCartInside(hub);
      assert.equal((await hub.put(`/trackables/${CART}`, cart({ fence_timeout: 1 }))).status, 200);
      await hears(hub, events, BOTH_EXIT);
      await send(hub, at(5));
      await hears(hub, events, ['entry tag', 'entry cart', ...BOTH_EXIT]);
      const patch = { op: 'replace', path: '/fence_timeout', value: -1 };
      assert.equal((await hub.request('PATCH', `/trackables/${CART}`, patch)).status, 200);
      await send(hub, at(5));
      await hears(hub, events, ['entry tag', 'entry cart']);
      const later = { op: 'replace', path: '/fence_timeout', value: 1 };
      assert.equal((await hub.request('PATCH', `/trackables/${CART}`, later)).status, 200);
      await hears(hub, events, BOTH_EXIT);
    },
  },
  {
    by: 'decision 93',
    name: "A provider's own exit delay takes effect at once on it and on the trackable at its location",
    async run({ hub }) {
      const events = await withCartInside(hub, { exit_delay: -1 });
      await send(hub, at(50));
      const provider = { id: 'tag', type: 'uwb', exit_delay: 1 };
      assert.equal((await hub.put('/providers/tag', provider)).status, 204);
      await hears(hub, events, BOTH_EXIT);
    },
  },
];
