import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TcpProxy } from '../support/tcp_proxy.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { hubId, isComplete, lastLocations, link, linkAt, location, openHub, send } from './linked_hubs.ts';

/** Locations of each hub in the triangle. */
const ROUNDS = 40;
const OBJECTS = 5;

test('Three hubs with links to each other publish every location exactly once', async (t) => {
  const hubs = await Promise.all([openHub(t), openHub(t), openHub(t)]);
  const updates = await Promise.all(hubs.map((hub) => hub.subscribe('location_updates')));
  const links = await Promise.all(
    hubs.map((hub) => Promise.all(hubs.filter((other) => other !== hub).map((other) => link(hub, other.base)))),
  );
  await Promise.all(links.flat().map((each) => each.until(isComplete)));
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      hubs.map((hub, h) =>
        send(hub, ...Array.from({ length: OBJECTS }, (_, i) => location(`${'abc'[h]}-${i}`, round))),
      ),
    );
  }
  const sent = hubs.length * ROUNDS * OBJECTS;
  // Each hub publishes each location once, so each link receives all of them.
  const states = await Promise.all(
    links.map((both) => Promise.all(both.map((each) => each.until((s) => s.received >= sent && s.queued === 0)))),
  );
  await Promise.all(hubs.map((hub) => hub.settle()));
  for (const [h, both] of states.entries()) {
    assert.deepEqual(
      both.map(({ received }) => received),
      [sent, sent],
    );
    const sum = (name: 'accepted' | 'duplicates' | 'looped' | 'superseded' | 'rejected' | 'dropped') =>
      both.reduce((total, state) => total + state[name], 0);
    assert.equal(sum('accepted'), sent - ROUNDS * OBJECTS);
    assert.equal(sum('accepted') + sum('duplicates') + sum('looped'), 2 * sent);
    const keys = updates[h]?.events.map((event) => `${event.provider_id} ${event.timestamp_generated}`) ?? [];
    assert.equal(keys.length, sent);
    assert.equal(new Set(keys).size, sent);
  }
  const [first, ...others] = await Promise.all(hubs.map(lastLocations));
  assert.equal(Object.keys(first ?? {}).length, hubs.length * OBJECTS);
  for (const other of others) assert.deepEqual(other, first);
});

test('A location lists the hubs through which it has come, and its own properties', async (t) => {
  const [a, b, c] = await Promise.all([openHub(t), openHub(t), openHub(t)]);
  await (await link(b, a.base)).until(isComplete);
  await (await link(c, b.base)).until(isComplete);
  const updates = await c.subscribe('location_updates');
  await send(a, location('tag', 1, { properties: { battery: 3 }, accuracy: 2, floor: 1 }));
  const { properties, accuracy, floor, provider_type } = await updates.next();
  assert.deepEqual(properties, { battery: 3, 'hub.origin': [await hubId(a), await hubId(b)] });
  assert.deepEqual([accuracy, floor, provider_type], [2, 1, 'gps']);
});

test('A restored link reads the last location of every object and reports its outage', async (t) => {
  const [a, b] = await Promise.all([openHub(t), openHub(t)]);
  const proxy = await new TcpProxy(a.hub.port).listen();
  t.after(() => proxy.close());
  const connected = await link(b, `http://127.0.0.1:${proxy.port}/hub/v2`);
  await connected.until(isComplete);
  await send(a, location('still', 1), location('moving', 1));
  await connected.until(({ accepted }) => accepted === 2);
  proxy.isDown = true;
  proxy.cut();
  const down = await connected.until(({ status }) => status === 'waiting');
  assert.ok(down.down_from != null && down.down_to == null, JSON.stringify(down));
  await send(a, location('moving', 2), location('new', 2));
  await send(a, location('moving', 3));
  // At least one attempt fails.
  await connected.until(({ last_error }) => last_error?.includes('Cannot reach') === true);
  proxy.isDown = false;
  const up = await connected.until(isComplete);
  await connected.until(({ queued }) => queued === 0);
  assert.deepEqual(await lastLocations(b), await lastLocations(a));
  assert.equal(up.down_from, down.down_from);
  assert.ok(up.down_to != null && up.down_to >= (up.down_from ?? ''), JSON.stringify(up));
  // Of the three last locations, that of the object that has not moved is known.
  assert.deepEqual([up.received, up.duplicates], [5, 1]);
  const lines = b.logged.map(({ message }) => message).filter((message) => message.startsWith('A link'));
  assert.deepEqual(lines, [
    'A link to another hub is up',
    'A link to another hub is down',
    'A link to another hub is up',
  ]);
});

test('A restarted hub continues its links, and accepts no location a second time', async (t) => {
  const a = await openHub(t);
  const folder = temporaryFolder();
  const before = await openTestHub({}, { folder });
  t.after(before.close);
  const { id, until } = await link(before, a.base);
  await until(isComplete);
  await send(a, location('still', 1), location('moving', 1));
  await until(({ accepted }) => accepted === 2);
  await before.close();
  await send(a, location('moving', 2));
  const after = await openTestHub({}, { folder });
  t.after(after.close);
  const { duplicates } = await linkAt(after, id).until((state) => isComplete(state) && state.accepted === 1);
  assert.equal(duplicates, 1);
  assert.deepEqual(await lastLocations(after), await lastLocations(a));
});

test('A link to the hub itself is detected, and does nothing', async (t) => {
  const hub = await openHub(t);
  const toItself = await link(hub, hub.base);
  const { hub_id } = await toItself.until(({ status }) => status === 'self');
  assert.equal(hub_id, await hubId(hub));
  const updates = await hub.subscribe('location_updates');
  await send(hub, location('tag', 1));
  await hub.settle();
  assert.equal(updates.events.length, 1);
});

test('Objects of two hubs with the same id are kept apart by prefixes', async (t) => {
  const [a, b, c] = await Promise.all([openHub(t), openHub(t), openHub(t)]);
  const links = [await link(c, a.base, { id_prefix: 'a/' }), await link(c, b.base, { id_prefix: 'b/' })];
  const plain = await link(c, b.base);
  await Promise.all([...links, plain].map((each) => each.until(isComplete)));
  await send(a, location('tag', 1));
  await send(b, location('tag', 2));
  await Promise.all([...links, plain].map((each) => each.until(({ accepted }) => accepted === 1)));
  assert.deepEqual(Object.keys(await lastLocations(c)).sort(), ['a/tag', 'b/tag', 'tag']);
  // Without a prefix, one id is one object, whose hub of origin has changed.
  const other = await link(c, a.base);
  await other.until(isComplete);
  await send(a, location('tag', 3));
  const { origin_changes } = await other.until(({ accepted }) => accepted === 1);
  assert.equal(origin_changes, 1);
});

test('A changed link starts again, a disabled one stops, and a deleted one is gone', async (t) => {
  const [a, b] = await Promise.all([openHub(t), openHub(t)]);
  const first = await link(b, a.base);
  await first.until(isComplete);
  const put = (body: object) => b.put(`/links/${first.id}`, { name: 'other', url: a.base, ...body });
  assert.equal((await put({ id_prefix: 'x-' })).status, 200);
  await first.until(isComplete);
  await send(a, location('tag', 1));
  await first.until(({ accepted }) => accepted === 1);
  assert.deepEqual(Object.keys(await lastLocations(b)), ['x-tag']);
  assert.equal((await put({ enabled: false })).body.state.status, 'disabled');
  assert.equal((await b.delete(`/links/${first.id}`)).status, 204);
  assert.equal((await b.get(`/links/${first.id}`)).status, 404);
  await untilUnsubscribed(a);
});

/** Waits until no link subscribes to a hub. */
async function untilUnsubscribed(hub: TestHub): Promise<void> {
  while (hub.hub.fanout.subscribers('location_updates') > 0) await hub.settle();
}
