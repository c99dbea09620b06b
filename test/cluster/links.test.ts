import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNear } from '../api/open_api.ts';
import { isComplete, lastLocations, link, linkAt, location } from '../links/linked_hubs.ts';
import { openOmloxServer } from '../links/omlox_server.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;

test('One hub of a cluster runs a link, and another one takes over with the last locations', { skip }, async (t) => {
  const shared = { cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'links' };
  const open = (name: string): Promise<TestHub> => {
    return openTestHub({ ...shared, cluster_hub_name: name, cluster_journal_max_size: 16 }, { isAlone: true });
  };
  const [a, b] = [await open('a'), await open('b')];
  t.after(() => Promise.all([a.close(), b.close()]));
  const server = await openOmloxServer(t);
  const created = await link(a, server.url);
  const states = [a, b].map((hub) => linkAt(hub, created.id));
  const { hub_id } = (await a.get('/version')).body;
  assert.equal((await b.get('/version')).body.hub_id, hub_id);
  await Promise.race(states.map((state) => state.until(isComplete)));
  const statuses = await Promise.all(states.map(async (state) => (await state.state()).status));
  assert.deepEqual([...statuses].sort(), ['connected', 'elsewhere']);
  const [runs, other] = statuses[0] === 'connected' ? ([a, b] as const) : ([b, a] as const);
  const updates = await other.subscribe('location_updates');
  server.publish('location_updates', location('tag', 1), location('cart', 1));
  await updates.next(({ provider_id: id }) => id === 'tag');
  await updates.next(({ provider_id: id }) => id === 'cart');
  assert.equal(server.frames.length, 1);

  await runs.close();
  server.locations = [location('tag', 1), location('cart', 2)];
  await linkAt(other, created.id).until((state) => isComplete(state) && state.accepted + state.duplicates >= 2);
  server.publish('location_updates', location('tag', 3));
  await updates.next(({ timestamp_generated: time }) => time.includes(':03.'));
  await other.settle();
  const last = await lastLocations(other);
  assertNear(last['tag']?.[0], 8.6803, 1e-9);
  assertNear(last['cart']?.[0], 8.6802, 1e-9);
  const keys = updates.events.map(({ provider_id: id, timestamp_generated: time }) => `${id} ${time}`);
  assert.deepEqual(keys, [...new Set(keys)]);
});

test('The hub that takes over a link loses and repeats no fence event', { skip }, async (t) => {
  const shared = {
    cluster_servers: nats.servers.addresses.join(','),
    cluster_replicas: 1,
    cluster_name: 'event-links',
  };
  const open = (name: string): Promise<TestHub> => {
    return openTestHub({ ...shared, cluster_hub_name: name, cluster_journal_max_size: 16 }, { isAlone: true });
  };
  const other = await openTestHub({}, { isAlone: true });
  const hubs = [await open('a'), await open('b')] as const;
  t.after(() => Promise.all([other, ...hubs].map((hub) => hub.close())));
  const fence = { id: 'dock', region: { type: 'Point', coordinates: [8.68, 50.11] }, radius: 5 };
  for (const hub of [other, hubs[0]]) assert.equal((await hub.post('/fences', fence)).status, 201);
  const enter = async (id: string): Promise<void> => {
    const event = { event_type: 'region_entry', provider_id: id };
    assert.equal((await other.post('/fences/dock/events', event)).status, 204);
  };
  const created = await link(hubs[0], other.base, { topics: ['fence_events'] });
  const states = hubs.map((hub) => linkAt(hub, created.id));
  await Promise.race(states.map((state) => state.until(isComplete)));
  const statuses = await Promise.all(states.map(async (state) => (await state.state()).status));
  const [runs, next] = statuses[0] === 'connected' ? hubs : ([hubs[1], hubs[0]] as const);
  const updates = await next.subscribe('fence_events');
  for (let i = 0; i < 20; i++) await enter(`tag-${i}`);
  await updates.next(({ provider_id: id }) => id === 'tag-19');
  // Events that the hub has stored after the cursor that it leaves behind.
  await runs.close();
  for (let i = 20; i < 40; i++) await enter(`tag-${i}`);
  await updates.next(({ provider_id: id }) => id === 'tag-39');
  const expected = Array.from({ length: 40 }, (_, i) => `tag-${i}`);
  const logged = async (): Promise<string[]> => {
    const { body } = await next.get('/events?topic=fence_events&limit=1000');
    return body.events.map(({ payload }: { payload: { provider_id: string } }) => payload.provider_id);
  };
  while ((await logged()).length < expected.length);
  assert.deepEqual(await logged(), expected);
  assert.deepEqual(
    updates.events.map(({ provider_id: id }) => id),
    expected,
  );
});
