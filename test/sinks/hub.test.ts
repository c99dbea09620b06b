import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { Sink, SinkStatus } from '../../src/model/sink.ts';
import type { QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import type { Sender, SenderDeps } from '../../src/sinks/sender.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { openWebhookServer } from '../support/webhook_server.ts';

const SETTINGS = { sink_allowed_hosts: '["127.0.0.1"]' };

async function openHub(t: TestContext): Promise<TestHub> {
  const hub = await openTestHub(SETTINGS);
  t.after(hub.close);
  return hub;
}

async function createSink(hub: TestHub, url: string, more: object = {}): Promise<string> {
  const body = { name: 'Other', type: 'hub', url, topics: ['location_updates'], ...more };
  const { status, text, body: created } = await hub.post('/sinks', body);
  assert.equal(status, 201, text);
  return created.id as string;
}

/** Resolves when the status of a sink matches. */
async function statusOf(hub: TestHub, id: string, wanted: (status: SinkStatus) => boolean): Promise<SinkStatus> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const { body } = await hub.get(`/sinks/${id}/status`);
    if (wanted(body)) return body;
    assert.ok(performance.now() < endMs, `The status is still ${JSON.stringify(body)}`);
  }
}

const idOf = async (hub: TestHub): Promise<string> => (await hub.get('/version')).body.hub_id;

function location(provider: string, second: number) {
  return {
    ...{ provider_id: provider, provider_type: 'gps', source: provider, crs: 'EPSG:4326' },
    position: { type: 'Point', coordinates: [8 + second / 1000, 50] },
    timestamp_generated: `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`,
  };
}

test('Hubs that send their locations to each other have them once, with the hubs on their way', async (t) => {
  const [a, b, c] = await Promise.all([openHub(t), openHub(t), openHub(t)]);
  const ids = [await createSink(a, b.base), await createSink(b, c.base), await createSink(c, a.base)];
  await a.put('/providers/locations', [location('tag-1', 1), location('tag-2', 1)]);
  await statusOf(c, ids[2] ?? '', ({ delivered }) => delivered === 2);
  const origins = async (hub: TestHub): Promise<unknown> => {
    const { body } = await hub.get('/providers/tag-1/location');
    return body.properties?.['hub.origin'];
  };
  const [idA, idB] = [await idOf(a), await idOf(b)];
  assert.deepEqual([await origins(a), await origins(b), await origins(c)], [undefined, [idA], [idA, idB]]);
  // The last hub sends nothing back, so the first one has no further event.
  const { added } = await statusOf(a, ids[0] ?? '', ({ waiting }) => waiting === 0);
  assert.equal(added, 2);
  assert.equal((await a.post(`/sinks/${ids[0]}/test`)).body.delivered, true);
});

test('While the other hub is slow, the newest location of each object wins, and the others are counted', async (t) => {
  const [hub, target] = [await openHub(t), await openWebhookServer()];
  t.after(() => target.close());
  const held = Promise.withResolvers<ServerResponse>();
  target.answer = ({ body }, response) => {
    if (body === '') response.writeHead(404).end();
    else held.resolve(response);
  };
  const id = await createSink(hub, target.url, { secret: 'token' });
  await hub.put('/providers/locations', [location('tag-1', 1)]);
  const response = await held.promise;
  target.answer = (_request, each) => void each.writeHead(204).end();
  for (const second of [2, 3, 4, 5]) await hub.put('/providers/locations', [location('tag-1', second)]);
  await statusOf(hub, id, ({ added }) => added === 5);
  response.writeHead(204).end();
  const { delivered, dropped } = await statusOf(hub, id, ({ waiting }) => waiting === 0);
  assert.deepEqual([delivered, dropped], [2, 3]);
  const sent = target.requests.filter(({ body }) => body !== '');
  assert.deepEqual(
    sent.map(({ body }) => JSON.parse(body).map((each: object) => Object(each).timestamp_generated)),
    [['2026-03-01T12:00:01.000Z'], ['2026-03-01T12:00:05.000Z']],
  );
  assert.equal(sent[0]?.headers['authorization'], 'Bearer token');
  assert.doesNotMatch((await hub.get(`/sinks/${id}`)).text, /secret|token/);
});

type Fetch = SenderDeps['fetch'];

/** A sender whose requests get the statuses, one after the other. Returns the requests as well. */
async function senderOf(statuses: readonly number[], more: Partial<Sink> = {}) {
  const requests: string[] = [];
  const left = [...statuses];
  const fetch: Fetch = async (url, { method = 'GET', headers }) => {
    requests.push(`${method} ${new URL(url).pathname} ${headers['Authorization'] ?? '-'}`);
    const status = url.endsWith('/token') ? 200 : (left.shift() ?? 204);
    const answer = url.endsWith('/token')
      ? { access_token: `token-${requests.length}`, expires_in: 60 }
      : { hub_id: 'b' };
    const response = new Response(status === 204 ? null : JSON.stringify(answer), { status });
    return response as unknown as Awaited<ReturnType<Fetch>>;
  };
  const deps: SenderDeps = {
    fetch,
    now: () => 0,
    schedule: () => () => undefined,
    whyNotHost: () => undefined,
    resolve: () => assert.fail('no host is resolved'),
    hubId: 'a',
    source: 'urn:omlox-hub:a',
  };
  const sink: Sink = { id: '1', name: 'A', type: 'hub', url: 'http://hub-b/v2', topics: ['location_updates'], ...more };
  const { sender } = await openSender(sink, deps);
  return { sender, requests };
}

function eventOf(json: object, topic = 'location_updates'): QueuedEvent {
  return { id: 'e', topic, key: 'tag', timeMs: 0, json: JSON.stringify(json) };
}

const outcomeOf = async (sender: Sender, ...events: readonly QueuedEvent[]): Promise<string> => {
  const outcome = await sender.send(events);
  return outcome.what === 'delivered' ? 'delivered' : `${outcome.what}: ${outcome.why}`;
};

test('A location that has passed the other hub is not sent', async () => {
  const { sender, requests } = await senderOf([200]);
  const passed = { ...location('tag', 1), properties: { 'hub.origin': ['c', 'b'] } };
  assert.equal(await outcomeOf(sender, eventOf(passed)), 'delivered');
  assert.deepEqual(requests, ['GET /v2/version -']);
});

test('An invalid location is rejected, an overloaded hub gets it again, and an alert is no location', async () => {
  const { sender } = await senderOf([200, 400, 503, 413, 204]);
  const sent = eventOf(location('tag', 1));
  assert.equal(await outcomeOf(sender, sent), 'rejected: the other hub answered 400');
  assert.equal(await outcomeOf(sender, sent), 'failed: the target answered 503');
  assert.match(await outcomeOf(sender, sent), /^rejected: .* 413/);
  assert.equal(await outcomeOf(sender, eventOf({}, 'alert_changes')), 'rejected: another hub accepts no alert_changes');
  assert.equal(await outcomeOf(sender, sent), 'delivered');
});

test('A rejected access token is replaced', async () => {
  const oidc = { token_url: 'http://idp/token', client_id: 'hub' };
  const { sender, requests } = await senderOf([200, 401, 204], { oidc });
  const sent = eventOf(location('tag', 1));
  assert.equal(await outcomeOf(sender, sent), 'failed: the target answered 401');
  assert.equal(await outcomeOf(sender, sent), 'delivered');
  assert.deepEqual(requests.slice(-2), ['POST /token -', 'PUT /v2/providers/locations Bearer token-4']);
});

test('A sink to the hub itself sends nothing, and says so', async (t) => {
  const hub = await openHub(t);
  const id = await createSink(hub, hub.base);
  await hub.put('/providers/locations', [location('tag-1', 1)]);
  const { error } = await statusOf(hub, id, ({ state }) => state === 'failing');
  assert.equal(error, 'the URL leads to this hub itself');
});
