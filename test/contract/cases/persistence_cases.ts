import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HALL, square } from '../../support/hall.ts';
import { openTestHub, type TestHub } from '../../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, send } from '../../support/scene.ts';
import type { Event } from '../../support/socket_client.ts';
import type { ContractCase } from './contract_case.ts';

/** Long enough for a restart on a busy machine. */
const TOLERANCE_MS = 5000;
const TIMEOUT_MS = 7000;

async function ids(hub: TestHub, path: string): Promise<string[]> {
  const { status, body } = await hub.get(path);
  assert.equal(status, 200, path);
  return body.map((item: Event) => item.id ?? item.provider_id).sort();
}

/** Median duration of each function in milliseconds. The functions alternate, so that all see the same noise. */
async function medianMs(turns: readonly (() => Promise<unknown>)[], rounds: number): Promise<number[]> {
  const took = turns.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, turn] of turns.entries()) {
      const fromMs = performance.now();
      await turn();
      took[index]?.push(performance.now() - fromMs);
    }
  }
  return took.map((times) => times.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN);
}

/** Stored data, its files, and the state after a restart. */
export const PERSISTENCE_CASES: readonly ContractCase[] = [
  {
    by: 'What the service does item 6',
    name: 'data is kept in a SQL database in the file data.dat',
    alone: 'a cluster stores its data in NATS',
    async run({ hub, restart }) {
      await hub.post('/zones', HALL);
      const next = await restart();
      assert.deepEqual((await next.get('/zones/summary')).body, [HALL]);
      const path = join(next.folder, 'data.dat');
      assert.equal(readFileSync(path).subarray(0, 15).toString(), 'SQLite format 3');
      assert.equal(existsSync(join(next.folder, 'config.dat')), false);
    },
  },
  {
    by: 'What the service does item 7',
    name: 'locations are stored by default, and stationary objects are listed after a restart',
    async run({ hub, restart }) {
      await createScene(hub);
      await send(hub, inHall('cart-tag', 5, 5), inHall('alone', 6, 6));
      const motion = (await hub.get(`/trackables/${CART.id}/motion`)).body;
      assert.match((await hub.get('/health/system')).body.config, /^persist_locations: true$/m);
      const next = await restart();
      const events = await next.subscribe('fence_events');
      assert.deepEqual((await next.get('/trackables/motions')).body, [motion]);
      assert.deepEqual((await next.get(`/trackables/${CART.id}/locations`)).body, [motion.location]);
      assert.deepEqual(await ids(next, '/providers/locations'), ['alone', 'cart-tag']);
      for (const query of ['', '?spatial_query=true']) {
        assert.deepEqual(await ids(next, `/fences/${FENCE.id}/trackables${query}`), [CART.id]);
        assert.deepEqual(await ids(next, `/fences/${FENCE.id}/providers${query}`), ['alone', 'cart-tag']);
      }
      await send(next, inHall('cart-tag', 50, 50));
      const left = await events.next((event) => event.trackable_id === CART.id);
      assert.deepEqual([left.event_type, left.entry_time], ['region_exit', motion.location.timestamp_generated]);
    },
  },
  {
    by: 'What the service does item 8',
    name: 'with db_fast_writes a location is answered sooner than without it',
    alone: 'a cluster has no db_fast_writes',
    settings: { db_fast_writes: true },
    async run({ hub, t }) {
      const slow = await openTestHub({ db_fast_writes: false });
      t.after(slow.close);
      const put = (to: TestHub) => async () => {
        const location = { position: { type: 'Point', coordinates: [9, 50] }, crs: 'EPSG:4326', provider_type: 'gps' };
        assert.equal((await to.put('/providers/phone/location', location)).status, 204);
      };
      await medianMs([put(hub), put(slow)], 20);
      const [fastMs = 0, slowMs = 0] = await medianMs([put(hub), put(slow)], 200);
      t.diagnostic(`${fastMs.toFixed(2)} ms with, ${slowMs.toFixed(2)} ms without`);
      assert.ok(fastMs < slowMs, `${fastMs} ms with, ${slowMs} ms without`);
    },
  },
  {
    by: 'What the service does item 9',
    name: 'settings come from hub_config.yaml and from the environment, which takes precedence, and the file may be empty',
    settings: { websocket_idle_timeout: 70 },
    hub: 'own',
    async run({ hub, restart }) {
      const file = join(hub.folder, 'hub_config.yaml');
      writeFileSync(file, 'websocket_idle_timeout: 90\nwebsocket_max_subscriptions: 1\n');
      const configured = await restart();
      const { config } = (await configured.get('/health/system')).body;
      assert.match(config, /^websocket_idle_timeout: 70$/m);
      assert.match(config, /^websocket_max_subscriptions: 1$/m);
      const socket = await configured.socket();
      await socket.subscribe('fence_events');
      assert.equal((await socket.ask({ event: 'subscribe', topic: 'location_updates' }))[0]?.code, 10002);
      for (const empty of ['', '# port: 1\n', '\n---\n']) {
        writeFileSync(file, empty);
        const next = await restart();
        assert.match((await next.get('/health/system')).body.config, /^websocket_max_subscriptions: 1000$/m);
      }
    },
  },
  {
    by: 'What the service does item 11',
    name: 'a restart brings back fence timeouts, counted from the last location, and no tolerance and delay timers',
    alone: 'a cluster continues all timers',
    async run({ hub, restart }) {
      await hub.post('/zones', HALL);
      const timing = { exit_tolerance: 2, tolerance_timeout: TOLERANCE_MS, exit_delay: TOLERANCE_MS };
      const timed = square({ ...timing, timeout: TIMEOUT_MS });
      const endless = { ...square({ ...timing, tolerance_timeout: TOLERANCE_MS }), id: 'endless' };
      for (const fence of [timed, endless]) assert.equal((await hub.post('/fences', fence)).status, 201);
      const tags = ['near', 'far', 'still'];
      await send(hub, ...tags.map((tag) => inHall(tag, 5, 5)));
      const fromMs = Date.now();
      await send(hub, inHall('near', 11, 5), inHall('far', 50, 5), inHall('still', 5, 5));
      const untilMs = Date.now();
      const next = await restart();
      const events = await next.subscribe('fence_events');
      for (const { id } of [timed, endless])
        assert.deepEqual(await ids(next, `/fences/${id}/providers`), tags.toSorted());
      for (const tag of tags) {
        const { exit_time: exit } = await events.next(({ provider_id: id }) => id === tag);
        const exitMs = Date.parse(exit);
        assert.ok(exitMs >= fromMs + TIMEOUT_MS && exitMs <= untilMs + TIMEOUT_MS, `${tag} ${exit}`);
      }
      assert.deepEqual(new Set(events.events.map(({ fence_id: id }) => id)), new Set([timed.id]));
      assert.deepEqual(await ids(next, '/fences/endless/providers'), tags.toSorted());
    },
  },
];
