import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fenceOf, HubProcess, locationOf } from '../durability/hub_process.ts';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openWebhookServer } from '../support/webhook_server.ts';
import { openTestHub } from '../support/running_hub.ts';
import { isShared } from './shared_objects.ts';
import { openTestBus, testNats } from './test_nats.ts';

const nats = await testNats();

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const PROVIDERS = Array.from({ length: 8 }, (_, i) => `tag-${i}`);
/** Steps of all providers between two kills. Each step crosses the fence. */
const STEPS = 40;
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;

interface Page {
  readonly events: readonly { readonly cursor: string; readonly topic: string; readonly payload: Event }[];
  readonly next: string;
  readonly has_more: boolean;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await delay(LOOK_MS)) {
    if (await isSo()) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

async function clusterOf(hub: HubProcess) {
  return (await hub.get('/health/system'))?.body?.cluster;
}

/** Returns all events of the log after a cursor, read in pages of a size. */
async function readLog(hub: HubProcess, after: string, limit = 100): Promise<Page['events']> {
  const events: Page['events'][number][] = [];
  for (let cursor = after; ; ) {
    const reply = await hub.get(`/events?limit=${limit}&after=${encodeURIComponent(cursor)}`);
    assert.equal(reply?.status, 200, JSON.stringify(reply?.body));
    const page = reply?.body as Page;
    events.push(...page.events);
    cursor = page.next;
    if (!page.has_more) return events;
  }
}

function ofTopic(events: Page['events'], topic: string): readonly Event[] {
  return events.flatMap((event) => (event.topic === topic ? [event.payload] : []));
}

async function openCluster(t: TestContext, names: readonly string[]) {
  const shared = {
    cluster_servers: nats.servers.addresses.join(','),
    cluster_replicas: 1,
    cluster_name: 'hub',
    cluster_journal_max_size: 16,
    sink_allowed_hosts: '["127.0.0.1"]',
  };
  const start = async (name: string): Promise<HubProcess> => {
    const hub = await HubProcess.start(temporaryFolder(), { ...shared, cluster_hub_name: name });
    t.after(() => hub.stop());
    return hub;
  };
  const hubs: HubProcess[] = [];
  for (const name of names) hubs.push(await start(name));
  const settled = async (hub: HubProcess): Promise<void> => {
    await until('The objects are shared', async () => isShared(await clusterOf(hub), 2));
  };
  await settled(hubs[0] as HubProcess);
  return { hubs, start, settled };
}

test('When a hub that owns objects is killed, each event is in the log once, at any hub, and reaches a sink', {
  skip: nats.skip,
}, async (t) => {
  const { hubs, start, settled } = await openCluster(t, ['a', 'b']);
  let [a] = hubs as [HubProcess, HubProcess];
  const [, b] = hubs as [HubProcess, HubProcess];
  const target = await openWebhookServer();
  t.after(() => target.close());
  const opened = await a.get('/events?after=newest');
  const begin: string = opened?.body.next;
  await a.post('/fences', fenceOf(FENCE));
  await a.post('/trackables', { type: 'virtual', name: 'Cart' });
  const sink = await a.post('/sinks', { name: 'A', type: 'webhook', url: target.url, topics: ['fence_events'] });
  assert.equal(sink?.status, 201, JSON.stringify(sink?.body));
  const socket = await SocketClient.open(`${b.base.replace('http', 'ws')}/ws/socket`);
  t.after(() => socket.close());
  const live = await socket.subscribe('fence_events');
  let step = 0;
  const move = async (): Promise<void> => {
    step++;
    await b.put(
      '/providers/locations',
      PROVIDERS.map((provider) => locationOf(provider, step % 2 === 0 ? 0 : 100)),
    );
  };
  for (let kill = 0; kill <= 2; kill++) {
    for (let i = 0; i < STEPS; i++) await move();
    if (kill === 2) break;
    const moving = Promise.all(Array.from({ length: 4 }, move));
    await a.crash();
    await moving;
    await until('One hub owns everything', async () => (await clusterOf(b))?.owner === 'b');
    await move();
    a = await start('a');
    await settled(b);
  }
  const posted = await b.post(`/fences/${FENCE}/events`, { event_type: 'region_entry', provider_id: 'guest' });
  const publishedIds = (): Set<string> => new Set(live.events.map(({ id }: Event) => id));
  let logged = await readLog(b, begin);
  await until('The log has all published events', async () => {
    logged = await readLog(b, begin);
    return publishedIds().difference(new Set(ofTopic(logged, 'fence_events').map(({ id }) => id))).size === 0;
  });
  assert.equal(posted?.status, 204);
  t.diagnostic(`${logged.length} events`);
  const events = ofTopic(logged, 'fence_events');
  assert.ok(events.length > 500, `${events.length}`);
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'each event is in the log once');
  assert.deepEqual(new Set(events.map(({ id }) => id)), publishedIds());
  for (const provider of PROVIDERS) {
    const own = events.filter(({ provider_id: id }) => id === provider);
    const types = own.map(({ event_type: type }) => type);
    for (const [i, type] of types.entries()) assert.notEqual(type, types[i - 1], `${provider}: ${type} twice`);
    const published = live.events.filter(({ provider_id: id }: Event) => id === provider);
    assert.deepEqual(
      own.map(({ id }) => id),
      published.map(({ id }: Event) => id),
    );
  }
  assert.deepEqual(
    logged.slice(0, 2).map(({ topic }) => topic),
    ['fence_changes', 'trackable_changes'],
  );
  assert.deepEqual(await readLog(a, begin, 7), logged, 'the same at the other hub');
  const cut = Math.floor(logged.length / 2);
  assert.deepEqual(await readLog(a, logged[cut]?.cursor as string), logged.slice(cut + 1));

  const cursors = logged.flatMap(({ topic, cursor }) => (topic === 'fence_events' ? [cursor] : []));
  const received = () => target.requests.map(({ body }) => JSON.parse(body) as { cursor: string; subject: string });
  for (let missing = new Set(cursors); ; ) {
    const seen = target.requests.length;
    missing = missing.difference(new Set(received().map(({ cursor }) => cursor)));
    if (missing.size === 0) break;
    await target.until(seen + 1);
  }
  const index = new Map(cursors.map((cursor, i) => [cursor, i]));
  for (const [subject, its] of Map.groupBy(received(), (each) => each.subject)) {
    const first = [...new Set(its.map(({ cursor }) => index.get(cursor) ?? 0))];
    assert.deepEqual(
      first,
      first.toSorted((one, other) => one - other),
      `order of ${subject}`,
    );
  }
});

test('A cluster whose hubs log no events has no stream for them', { skip: nats.skip }, async (t) => {
  const hub = await openTestHub(
    {
      cluster_servers: nats.servers.addresses.join(','),
      cluster_replicas: 1,
      cluster_name: 'none',
      cluster_journal_max_size: 16,
      event_retention: 0,
    },
    { isAlone: true },
  );
  t.after(() => hub.close());
  for (const path of ['/events', '/events/stream']) {
    const { status, body } = await hub.request('GET', path, undefined, { Accept: 'text/event-stream' });
    assert.deepEqual([status, (body as { reason: string }).reason], [404, 'event_log_off'], path);
  }
  const { bus } = await openTestBus(t, nats, { name: 'none' });
  const streams = (await bus.streams('none_')).map(({ name }) => name);
  assert.deepEqual(streams.filter((name) => !name.startsWith('none_J')).sort(), [
    'none_CONFIG',
    'none_SNAP',
    'none_STATE',
    'none_audit_EVENTS',
  ]);
});
