import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import type { Event, Frame, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TRUCK = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const CART = '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42';
const FENCE = square().id;

const at = (provider: string, x: number) => ({
  position: { type: 'Point', coordinates: [x, 5] },
  source: 'hall',
  provider_type: 'uwb',
  provider_id: provider,
  crs: 'local',
});

async function openHub(t: TestContext, settings: TestSettings = {}, folder?: string): Promise<TestHub> {
  const hub = await openTestHub(settings, { isAlone: true, ...(folder !== undefined && { folder }) });
  t.after(() => hub.close());
  return hub;
}

/** A hall with a fence and a truck, which moves in and out of the fence. */
async function furnish(hub: TestHub): Promise<void> {
  await hub.post('/zones', HALL);
  await hub.post('/fences', square({ name: 'Dock' }));
  await hub.post('/trackables', { id: TRUCK, type: 'omlox', name: 'Truck', location_providers: ['truck'], radius: 1 });
}

async function cross(hub: TestHub, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await hub.put('/providers/truck/location', at('truck', i % 2 === 0 ? 5 : 50));
    await hub.settle();
  }
}

interface Page {
  readonly events: readonly { readonly cursor: string; readonly topic: string; readonly payload: Event }[];
  readonly next: string;
  readonly has_more: boolean;
}

async function read(hub: TestHub, query = ''): Promise<Page> {
  const { status, body } = await hub.get(`/events?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as Page;
}

test('fence events, collisions, alerts and changes of entities can be read after a restart, in order', async (t) => {
  const folder = temporaryFolder();
  const first = await openHub(t, {}, folder);
  await furnish(first);
  await first.post('/trackables', { id: CART, type: 'omlox', name: 'Cart', location_providers: ['cart'], radius: 1 });
  await first.post('/alerts/rules', { name: 'In the dock', kind: 'entry', fence_ids: [FENCE] });
  const live = await first.subscribe('fence_events');
  await first.put('/providers/cart/location', at('cart', 5));
  await cross(first, 2);
  await live.next(({ event_type: type, trackable_id: id }) => type === 'region_exit' && id === TRUCK);
  const published = live.events.map(({ id }: Event) => id);
  await first.close();

  const second = await openHub(t, {}, folder);
  const all = await read(second, 'limit=1000');
  const ofTopic = (topic: string) => all.events.filter((event) => event.topic === topic).map(({ payload }) => payload);
  assert.deepEqual(
    ofTopic('fence_events').map(({ id }) => id),
    published,
  );
  assert.deepEqual(
    ofTopic('zone_changes').map(({ event_type: type, id }) => [type, id]),
    [['create', HALL.id]],
  );
  assert.deepEqual(
    ofTopic('trackable_changes').map(({ id }) => id),
    [TRUCK, CART],
  );
  assert.deepEqual(ofTopic('collision_events')[0]?.collision_type, 'collision_start');
  assert.ok(ofTopic('alert_changes').some(({ event_type: type }) => type === 'create'));
  assert.equal(all.has_more, false);
  // Pages of one event make the same list.
  const paged: string[] = [];
  for (let page = await read(second, 'limit=1'); ; page = await read(second, `limit=1&after=${page.next}`)) {
    paged.push(...page.events.map(({ cursor }) => cursor));
    if (!page.has_more) break;
  }
  assert.deepEqual(
    paged,
    all.events.map(({ cursor }) => cursor),
  );
  const some = await read(second, `topic=fence_events&event_type=region_exit&trackable_id=${TRUCK}`);
  assert.deepEqual(
    some.events.map(({ payload }) => payload.event_type),
    ['region_exit'],
  );
});

test('collisions are read in the requested coordinates, as subscriptions receive them', async (t) => {
  const hub = await openHub(t);
  await furnish(hub);
  await hub.post('/trackables', { id: CART, type: 'omlox', name: 'Cart', location_providers: ['cart'], radius: 1 });
  const views = ['crs=EPSG:4326', 'crs=EPSG:32632', `crs=local&zone_id=${HALL.id}`];
  const live = [];
  for (const view of views)
    live.push(await hub.subscribe('collision_events', Object.fromEntries(new URLSearchParams(view))));
  await hub.put('/providers/cart/location', at('cart', 5));
  await hub.put('/providers/truck/location', at('truck', 5.5));
  for (const [i, view] of views.entries()) {
    const event: Event = await live[i]?.next(({ collision_type: type }) => type === 'collision_start');
    await hub.settle();
    const { events } = await read(hub, `topic=collision_events&collision_type=collision_start&${view}`);
    assert.deepEqual(
      events.map(({ payload }) => payload),
      [event],
      view,
    );
  }
});

for (const [name, query, status, message] of [
  ['a damaged cursor', 'after=ev-1', 400, /after.*ev-1/],
  ['a cursor of another hub', 'after=ev-a2551664-3-6bqj', 400, /ev-a2551664-3-6bqj/],
  ['an unknown topic', 'topic=location_updates', 400, /topic.*location_updates/],
  ['an invalid filter', 'topic=fence_events&event_type=arrival', 400, /event_type.*arrival/],
  ['a limit that is too large', 'limit=1001', 400, /limit.*1001/],
  ['an unknown crs', 'crs=EPSG:1', 400, /crs.*EPSG:1/],
] as const) {
  test(`${name} is rejected with its value, by REST and as a stream`, async (t) => {
    const hub = await openHub(t);
    const { status: found, body } = await hub.get(`/events?${query}`);
    assert.equal(found, status);
    assert.match((body as { message: string }).message, message);
    if (query.startsWith('limit')) return;
    assert.equal(
      (await hub.request('GET', `/events/stream?${query}`, undefined, { Accept: 'text/event-stream' })).status,
      status,
    );
    assert.equal((await hub.get('/events/stream')).body.reason, 'not_accepted');
  });
}

test('a hub without an event log says so, and a later log does not accept cursors of before', async (t) => {
  const folder = temporaryFolder();
  const first = await openHub(t, {}, folder);
  await furnish(first);
  const { next } = await read(first);
  await first.close();
  const second = await openHub(t, { event_retention: 0 }, folder);
  await second.post('/zones', { ...HALL, id: 'other', foreign_id: null, name: 'Other' });
  const { status, body } = await second.get('/events');
  assert.deepEqual([status, (body as { reason: string }).reason], [404, 'event_log_off']);
  const socket = await second.socket();
  const refused = await command(socket, 'fence_events', { after: next });
  assert.equal((refused as { reason?: string }).reason, 'event_log_off');
  await second.close();
  const third = await openHub(t, {}, folder);
  const { status: gone, body: why } = await third.get(`/events?after=${next}`);
  assert.deepEqual([gone, (why as { reason: string }).reason], [410, 'cursor_too_old']);
  const { oldest } = (why as { params: { oldest: string } }).params;
  assert.deepEqual((await read(third, `after=${oldest}`)).events, []);
});

/** Sends a subscribe and returns its response. */
async function command(socket: SocketClient, topic: string, params: object): Promise<Frame> {
  const before = socket.frames.length;
  socket.send({ event: 'subscribe', topic, params });
  return socket.frame((frame) => socket.frames.indexOf(frame) >= before && frame.event !== 'message');
}

test('a subscription after a cursor continues with the next event, without gap or duplicate, and then live', async (t) => {
  const folder = temporaryFolder();
  const first = await openHub(t, {}, folder);
  await furnish(first);
  const socket = await first.socket();
  const { subscription_id: id } = await command(socket, 'fence_events', { after: 'newest', trackable_id: TRUCK });
  const messages = () => socket.frames.filter((frame) => frame.event === 'message') as (Frame & { cursor: string })[];
  const empty = await socket.frame(({ event }) => event === 'message');
  assert.deepEqual([empty.subscription_id, empty.payload], [id, []]);
  await cross(first, 4);
  await socket.frame(() => messages().flatMap(({ payload }) => payload).length === 4);
  const seen = messages().flatMap(({ payload = [] }) => payload as Event[]);
  const cursor = messages().find(({ payload = [] }) => (payload as Event[]).includes(seen[1]))?.cursor;
  await first.close();

  const second = await openHub(t, {}, folder);
  const resumed = await second.socket();
  await command(resumed, 'fence_events', { after: cursor, trackable_id: TRUCK });
  const events = () =>
    resumed.frames.flatMap(({ event, payload = [] }) => (event === 'message' ? (payload as Event[]) : []));
  await resumed.frame(() => events().length === 2);
  await cross(second, 2);
  await resumed.frame(() => events().length >= 4);
  await second.settle();
  assert.deepEqual(events().slice(0, 2), seen.slice(2));
  assert.deepEqual(
    events().map(({ event_type: type }) => type),
    ['region_entry', 'region_exit', 'region_entry', 'region_exit'],
  );
  assert.deepEqual(
    (await read(second, `topic=fence_events&trackable_id=${TRUCK}`)).events.map(({ payload }) => payload),
    [...seen, ...events().slice(2)],
  );
});

test('a stream of Server-Sent Events continues after Last-Event-ID and then live', async (t) => {
  const hub = await openHub(t);
  await furnish(hub);
  await cross(hub, 4);
  const { events } = await read(hub, `topic=fence_events&trackable_id=${TRUCK}`);
  const stream = await openStream(
    t,
    `${hub.base}/events/stream?topic=fence_events&trackable_id=${TRUCK}`,
    events[0]?.cursor ?? '',
  );
  await stream.until((text) => text.split('event: fence_events').length === 4);
  await cross(hub, 1);
  const text = await stream.until((text) => text.split('event: fence_events').length === 5);
  const ids = [...text.matchAll(/^id: (.*)\nevent: fence_events\ndata: (.*)$/gm)].map(([, id, data]) => [
    id,
    JSON.parse(data ?? ''),
  ]);
  const all = (await read(hub, `topic=fence_events&trackable_id=${TRUCK}`)).events.slice(1);
  assert.deepEqual(
    ids,
    all.map(({ cursor, payload }) => [cursor, payload]),
  );
});

/** Opens a stream and collects its text. */
async function openStream(t: TestContext, url: string, last: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = get(url, { headers: { 'Last-Event-ID': last, Accept: 'text/event-stream' } }, resolve).on(
    'error',
    reject,
  );
  t.after(() => request.destroy());
  const response = await promise;
  assert.equal(response.headers['content-type'], 'text/event-stream');
  let text = '';
  let changed: () => void = () => undefined;
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    changed();
  });
  response.on('error', () => undefined);
  return {
    async until(wanted: (text: string) => boolean): Promise<string> {
      while (!wanted(text)) await new Promise<void>((go) => (changed = go));
      return text;
    },
  };
}
