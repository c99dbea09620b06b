import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { TcpProxy } from '../support/tcp_proxy.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { hubId, isComplete, link, linkAt, openHub, type TestLink } from './linked_hubs.ts';
import { openOmloxServer } from './omlox_server.ts';

const FENCE = { id: 'dock', region: { type: 'Point', coordinates: [8.68, 50.11] }, radius: 5 };
const EVENTS = { topics: ['fence_events'] };

/** A hub with a fence. */
async function openFenced(t: TestContext, settings: TestSettings = {}): Promise<TestHub> {
  const hub = await openHub(t, settings);
  await addFence(hub);
  return hub;
}

async function addFence(hub: TestHub, fence: object = FENCE): Promise<void> {
  const { status, text } = await hub.post('/fences', fence);
  assert.equal(status, 201, text);
}

/** Causes an event of an object at a fence. */
async function enter(hub: TestHub, provider: string, fence = 'dock'): Promise<void> {
  const event = { event_type: 'region_entry', provider_id: provider, entry_time: '2026-03-01T12:00:00Z' };
  const { status, text } = await hub.post(`/fences/${fence}/events`, event);
  assert.equal(status, 204, text);
}

interface Logged {
  readonly id: string;
  readonly provider_id: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The fence events of a hub's log, in order. */
async function logged(hub: TestHub): Promise<Logged[]> {
  const { body } = await hub.get('/events?topic=fence_events&limit=1000');
  return body.events.map(({ payload }: { payload: Logged }) => payload);
}

async function providers(hub: TestHub): Promise<string[]> {
  return (await logged(hub)).map(({ provider_id: id }) => id);
}

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `tag-${from + i}`);
}

async function enterAll(hub: TestHub, ids: readonly string[]): Promise<void> {
  for (const id of ids) await enter(hub, id);
}

/** Waits for that many accepted events. */
function untilAccepted(from: TestLink, count: number): Promise<unknown> {
  return from.until(({ accepted }) => accepted >= count);
}

async function proxied(t: TestContext, hub: TestHub): Promise<readonly [TcpProxy, string]> {
  const proxy = await new TcpProxy(hub.hub.port).listen();
  t.after(() => proxy.close());
  return [proxy, `http://127.0.0.1:${proxy.port}/hub/v2`];
}

async function cutFrom(proxy: TcpProxy, connected: TestLink): Promise<void> {
  proxy.isDown = true;
  proxy.cut();
  await connected.until(({ status }) => status === 'waiting');
}

test('A link publishes fence events of the other hub with their ids and the hubs on their way', async (t) => {
  const [a, b] = await Promise.all([openFenced(t), openFenced(t)]);
  await enter(a, 'before');
  const connected = await link(b, a.base, EVENTS);
  await connected.until(isComplete);
  const updates = await b.subscribe('fence_events');
  await enter(a, 'tag-1');
  const { id, provider_id, fence_id, properties, entry_time } = await updates.next();
  assert.deepEqual([provider_id, fence_id, entry_time], ['tag-1', 'dock', '2026-03-01T12:00:00Z']);
  assert.deepEqual(properties, { 'hub.origin': [await hubId(a)] });
  const [, original] = await logged(a);
  assert.equal(id, original?.id);
  // The link begins with the events after its creation.
  assert.deepEqual(await providers(b), ['tag-1']);
});

test('A link that was cut off continues after its cursor: no event is lost or repeated', async (t) => {
  const [a, b] = await Promise.all([openFenced(t), openFenced(t)]);
  const [proxy, url] = await proxied(t, a);
  const connected = await link(b, url, EVENTS);
  await connected.until(isComplete);
  let sent = 0;
  for (let cut = 0; cut < 4; cut++) {
    // Some are in flight when the connection ends.
    await enterAll(a, numbered(sent + 1, sent + 20));
    await cutFrom(proxy, connected);
    await enterAll(a, numbered(sent + 21, sent + 40));
    sent += 40;
    proxy.isDown = false;
    await connected.until(isComplete);
  }
  await untilAccepted(connected, sent);
  const { event_gaps, duplicates } = await connected.state();
  assert.deepEqual([event_gaps, duplicates], [0, 0]);
  assert.deepEqual(await providers(b), numbered(1, sent));
});

test('A hub that was stopped continues its link after the stored cursor', async (t) => {
  const a = await openFenced(t);
  const folder = temporaryFolder();
  const before = await openTestHub({}, { folder });
  t.after(before.close);
  await addFence(before);
  const { id, until } = await link(before, a.base, EVENTS);
  await until(isComplete);
  await enterAll(a, numbered(1, 10));
  await until(({ accepted }) => accepted === 10);
  await before.close();
  await enterAll(a, numbered(11, 30));
  const after = await openTestHub({}, { folder });
  t.after(after.close);
  const { duplicates } = await linkAt(after, id).until(({ accepted }) => accepted >= 20);
  assert.equal(duplicates, 0);
  assert.deepEqual(await providers(after), numbered(1, 30));
});

test('A changed link continues after its cursor, and a deleted one forgets it', async (t) => {
  const [a, b] = await Promise.all([openFenced(t), openFenced(t)]);
  const first = await link(b, a.base, EVENTS);
  await first.until(isComplete);
  await enterAll(a, numbered(1, 5));
  await untilAccepted(first, 5);
  const put = (body: object) => b.put(`/links/${first.id}`, { name: 'other', url: a.base, ...EVENTS, ...body });
  assert.equal((await put({ enabled: false })).status, 200);
  await enterAll(a, numbered(6, 9));
  assert.equal((await put({})).status, 200);
  await untilAccepted(first, 4);
  assert.deepEqual(await providers(b), numbered(1, 9));
  assert.equal((await b.delete(`/links/${first.id}`)).status, 204);
  await enter(a, 'missed');
  const second = await link(b, a.base, EVENTS);
  await second.until(isComplete);
  await enter(a, 'tag-10');
  await untilAccepted(second, 1);
  assert.deepEqual(await providers(b), numbered(1, 10));
});

test('A link whose cursor is too old counts a gap, and continues with the oldest event', async (t) => {
  const folder = temporaryFolder();
  const before = await openTestHub({}, { folder });
  t.after(before.close);
  const b = await openFenced(t);
  await addFence(before);
  const proxy = await new TcpProxy(before.hub.port).listen();
  t.after(() => proxy.close());
  const connected = await link(b, `http://127.0.0.1:${proxy.port}/hub/v2`, EVENTS);
  await connected.until(isComplete);
  await enter(before, 'tag-1');
  await untilAccepted(connected, 1);
  await cutFrom(proxy, connected);
  await enter(before, 'removed');
  await before.close();
  // A start without the log removes all events, and makes all cursors too old.
  await (await openTestHub({ event_retention: 0 }, { folder })).close();
  const after = await openTestHub({}, { folder });
  t.after(after.close);
  await enter(after, 'tag-2');
  proxy.target = after.hub.port;
  proxy.isDown = false;
  await untilAccepted(connected, 2);
  const { event_gaps, event_gap_at, last_error } = await connected.until(isComplete);
  assert.equal(event_gaps, 1);
  assert.ok(event_gap_at != null);
  assert.match(last_error ?? '', /^Cannot read events after the last one: .*they were removed/);
  assert.deepEqual(await providers(b), numbered(1, 2));
});

test('A URL that leads to another hub than before begins with its newest event', async (t) => {
  const [a, other, b] = await Promise.all([openFenced(t), openFenced(t), openFenced(t)]);
  const [proxy, url] = await proxied(t, a);
  const connected = await link(b, url, EVENTS);
  await connected.until(isComplete);
  await enter(a, 'tag-1');
  await untilAccepted(connected, 1);
  await cutFrom(proxy, connected);
  await enter(other, 'of another hub');
  proxy.target = other.hub.port;
  proxy.isDown = false;
  const { hub_id } = await connected.until(isComplete);
  assert.equal(hub_id, await hubId(other));
  await enter(other, 'tag-2');
  await untilAccepted(connected, 2);
  assert.deepEqual(await providers(b), numbered(1, 2));
});

test('Fence events pass a triangle of hubs once', async (t) => {
  const hubs = await Promise.all([openFenced(t), openFenced(t), openFenced(t)]);
  const links = await Promise.all(
    hubs.flatMap((hub) => hubs.filter((other) => other !== hub).map((other) => link(hub, other.base, EVENTS))),
  );
  await Promise.all(links.map((each) => each.until(isComplete)));
  for (let round = 0; round < 10; round++) {
    await Promise.all(hubs.map((hub, h) => enter(hub, `${'abc'[h]}-${round}`)));
  }
  // Each link receives the events of all hubs.
  const states = await Promise.all(links.map((each) => each.until((s) => s.received >= 30 && s.queued === 0)));
  const accepted = states.reduce((sum, state) => sum + state.accepted, 0);
  assert.equal(accepted, hubs.length * 20);
  const ids = await Promise.all(hubs.map(async (hub) => (await logged(hub)).map(({ id }) => id).sort()));
  for (const each of ids) {
    assert.equal(new Set(each).size, 30);
    assert.deepEqual(each, ids[0]);
  }
});

test('With a prefix, events name mirrored fences and trackables, and events of unknown fences are rejected', async (t) => {
  const [a, b] = await Promise.all([openFenced(t), openHub(t)]);
  const { body: trackable } = await a.post('/trackables', { type: 'omlox', location_providers: ['tag'] });
  const connected = await link(b, a.base, { ...EVENTS, entities: 'mirror', id_prefix: 'a/' });
  await connected.until((state) => isComplete(state) && state.mirrored === 2);
  const updates = await b.subscribe('fence_events');
  await enter(a, 'tag');
  const event = await updates.next();
  const [mirrored] = (await b.get('/trackables/summary')).body;
  assert.deepEqual([event.fence_id, event.provider_id, event.trackables], ['a/dock', 'a/tag', [mirrored.id]]);
  assert.notEqual(mirrored.id, trackable.id);
  assert.notEqual(event.id, (await logged(a))[0]?.id);
  const plain = await link(b, a.base, EVENTS);
  await plain.until(isComplete);
  await enter(a, 'tag');
  const { accepted, last_error } = await plain.until(({ rejected }) => rejected === 1);
  assert.equal(accepted, 0);
  assert.match(last_error ?? '', /no fence has that id/);
});

test('Fence events of a server of the omlox Hub API alone arrive, and each outage counts as a gap', async (t) => {
  const [hub, server] = await Promise.all([openFenced(t), openOmloxServer(t)]);
  const connected = await link(hub, server.url, { topics: ['location_updates', 'fence_events'] });
  await connected.until(isComplete);
  const event = { id: 'e-1', fence_id: 'dock', event_type: 'region_entry', provider_id: 'tag' };
  server.publish('fence_events', event, { ...event, id: 'e-2' }, event, 7, { id: 'no fence' });
  const { accepted, duplicates, malformed } = await connected.until((state) => state.accepted === 2);
  assert.deepEqual([accepted, duplicates, malformed], [2, 1, 2]);
  assert.deepEqual(
    server.frames.map(({ params }) => params),
    [{}, {}],
  );
  assert.equal((await connected.state()).event_gaps, 0);
  for (let i = 0; i < 100; i++) server.send('no JSON');
  await connected.until(({ status }) => status !== 'connected');
  const { event_gaps } = await connected.until(isComplete);
  assert.equal(event_gaps, 1);
});

test('A hub without an event log sends its events from now on', async (t) => {
  const [a, b] = await Promise.all([openFenced(t, { event_retention: 0 }), openFenced(t)]);
  const connected = await link(b, a.base, EVENTS);
  await connected.until(isComplete);
  await enter(a, 'tag-1');
  await untilAccepted(connected, 1);
  assert.equal((await connected.state()).event_gaps, 0);
  assert.deepEqual(await providers(b), ['tag-1']);
});
