import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OutgoingTargets } from '../../src/entities/outgoing_targets.ts';
import { outgoingFetch } from '../../src/hub/outgoing_fetch.ts';
import type { Sink } from '../../src/model/sink.ts';
import type { Outcome, QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import type { SenderDeps } from '../../src/sinks/sender.ts';
import { schedule } from '../../src/time/clock.ts';
import { makeCertificate } from '../support/certificates.ts';
import { openWebhookServer, SIGNING_KEY, verifySignature, type WebhookServer } from '../support/webhook_server.ts';

const SOURCE = 'urn:omlox-hub:1';
const EVENT: QueuedEvent = {
  id: 'event-1',
  topic: 'fence_events',
  key: 'truck',
  timeMs: 1_795_000_000_123,
  json: '{"id":"event-1","exact":0.10000000000000000001}',
  cursor: 'c1',
};

function depsOf(allowed: readonly string[] = ['127.0.0.1', 'localhost']): SenderDeps {
  const targets = new OutgoingTargets('sink_allowed_hosts', allowed);
  const { fetch } = outgoingFetch({ env: {}, lookup: targets.lookup });
  return {
    now: Date.now,
    schedule,
    fetch: fetch as SenderDeps['fetch'],
    whyNotHost: (hostname) => targets.whyNotHost(hostname),
    resolve: (hostname) => targets.resolve(hostname),
    hubId: '1',
    source: SOURCE,
  };
}

interface Sent {
  readonly sink?: Partial<Sink>;
  readonly events?: QueuedEvent[];
  readonly deps?: SenderDeps;
}

/** The outcome without the reason of a failure. */
async function send(url: string, sent?: Sent): Promise<object> {
  const { problem: _problem, ...outcome } = { problem: undefined, ...(await outcomeOf(url, sent)) };
  return outcome;
}

async function outcomeOf(url: string, { sink = {}, events = [EVENT], deps = depsOf() }: Sent = {}): Promise<Outcome> {
  const { sender } = await openSender(
    { id: '1', name: 'A', type: 'webhook', url, topics: ['fence_events'], ...sink },
    deps,
  );
  return sender.send(events);
}

async function serverOf(t: TestContext): Promise<WebhookServer> {
  const server = await openWebhookServer();
  t.after(() => server.close());
  return server;
}

test('A CloudEvent arrives with the id of the event, exact numbers, and a signature that verifies', async (t) => {
  const server = await serverOf(t);
  const sink = { secret: SIGNING_KEY, headers: { Authorization: 'Bearer abc' } };
  assert.deepEqual(await send(server.url, { sink }), { what: 'delivered' });
  const [request] = server.requests;
  assert.ok(request !== undefined);
  assert.equal(request.headers['webhook-id'], 'event-1');
  assert.equal(request.headers['authorization'], 'Bearer abc');
  assert.equal(request.headers['content-type'], 'application/cloudevents+json; charset=utf-8');
  assert.match(request.body, /"data":\{"id":"event-1","exact":0\.10000000000000000001\}/);
  const { data: _data, ...attributes } = JSON.parse(request.body);
  assert.deepEqual(attributes, {
    specversion: '1.0',
    id: 'event-1',
    source: SOURCE,
    type: 'com.omlox.fence_events',
    subject: 'truck',
    time: '2026-11-18T11:06:40.123Z',
    datacontenttype: 'application/json',
    cursor: 'c1',
  });
  verifySignature(request);
  assert.throws(() => verifySignature({ ...request, body: `${request.body} ` }), /No matching signature/);
});

test('A batch is an array of CloudEvents whose id depends on its events, and plain is the event of the WebSocket', async (t) => {
  const server = await serverOf(t);
  const other = { ...EVENT, id: 'event-2' };
  const sink = { format: 'cloudevents_batch' } as const;
  for (const events of [[EVENT, other], [EVENT, other], [other]]) await send(server.url, { sink, events });
  const ids = server.requests.map(({ headers }) => headers['webhook-id']);
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
  assert.deepEqual(
    JSON.parse(server.requests[0]?.body ?? '').map(({ id }: { id: string }) => id),
    ['event-1', 'event-2'],
  );
  await send(server.url, { sink: { format: 'plain' } });
  const plain = server.requests.at(-1);
  assert.deepEqual([plain?.body, plain?.headers['x-hub-topic']], [EVENT.json, 'fence_events']);
});

const ANSWERS: readonly [status: number, headers: Record<string, string>, outcome: object][] = [
  [200, {}, { what: 'delivered' }],
  [204, {}, { what: 'delivered' }],
  [301, { location: 'http://169.254.169.254/' }, { what: 'failed', why: 'the target answered the redirect 301' }],
  [307, { location: '/' }, { what: 'failed', why: 'the target answered the redirect 307' }],
  [400, {}, { what: 'failed', why: 'the target answered 400' }],
  [401, { 'retry-after': '60' }, { what: 'failed', why: 'the target answered 401' }],
  [410, {}, { what: 'gone', why: 'the target answered 410 Gone' }],
  [413, {}, { what: 'rejected', why: 'the target answered 413 Payload Too Large' }],
  [429, { 'retry-after': '60' }, { what: 'failed', why: 'the target answered 429', retryAfterMs: 60_000 }],
  [429, { 'retry-after': 'soon' }, { what: 'failed', why: 'the target answered 429' }],
  [500, {}, { what: 'failed', why: 'the target answered 500' }],
  [502, { 'retry-after': '1' }, { what: 'failed', why: 'the target answered 502', retryAfterMs: 1000 }],
  [504, { 'retry-after': '5' }, { what: 'failed', why: 'the target answered 504', retryAfterMs: 5000 }],
];

for (const [status, headers, outcome] of ANSWERS) {
  test(`The answer ${status} ${JSON.stringify(headers)} means ${JSON.stringify(outcome)}`, async (t) => {
    const server = await serverOf(t);
    server.answer = (_request, response) => response.writeHead(status, headers).end('{}');
    assert.deepEqual(await send(server.url), outcome);
    assert.equal(server.requests.length, 1);
  });
}

test('Each failure has a reason for other languages', async (t) => {
  const server = await serverOf(t);
  const slow = { timeout: 1000 };
  for (const [status, reason, params] of [
    [301, 'target_redirects', { status: 301 }],
    [401, 'target_answered', { status: 401 }],
    [410, 'target_gone', {}],
    [undefined, 'target_too_slow', { timeout: 1000 }],
  ] as const) {
    server.answer = (_request, response) => void (status === undefined || response.writeHead(status).end());
    const outcome = await outcomeOf(server.url, { sink: slow });
    assert.ok(outcome.what !== 'delivered');
    assert.deepEqual([outcome.problem?.reason, outcome.problem?.params], [reason, params]);
  }
  await server.close();
  for (const [url, reason] of [
    [server.url, 'target_refused'],
    ['http://10.1.1.1/', 'target_not_allowed'],
  ] as const) {
    const outcome = await outcomeOf(url);
    assert.equal(outcome.what === 'failed' && outcome.problem?.reason, reason);
  }
});

test('Retry-After may be a date', async (t) => {
  const server = await serverOf(t);
  const atMs = Date.now() + 120_000;
  server.answer = (_request, response) =>
    response.writeHead(429, { 'retry-after': new Date(atMs).toUTCString() }).end();
  const outcome = await outcomeOf(server.url);
  assert.ok(outcome.what === 'failed');
  const { retryAfterMs = 0 } = outcome;
  assert.ok(retryAfterMs > 110_000 && retryAfterMs <= 120_000, String(retryAfterMs));
});

test('A target that never answers, or whose answer never ends, fails after the timeout', async (t) => {
  const server = await serverOf(t);
  const soon: SenderDeps = { ...depsOf(), schedule: (_delayMs, callback) => schedule(50, callback) };
  const why = 'no complete response within 15000 ms';
  server.answer = () => undefined;
  assert.deepEqual(await send(server.url, { deps: soon }), { what: 'failed', why });
  server.answer = (_request, response) => response.writeHead(200).write('{');
  assert.deepEqual(await send(server.url, { deps: soon }), { what: 'failed', why });
});

test('Each failed connection has a reason', async (t) => {
  const closed = await openWebhookServer();
  await closed.close();
  assert.match(JSON.stringify(await send(closed.url)), /ECONNREFUSED/);
  const rude = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve));
  t.after(() => rude.close());
  const { port } = rude.address() as { port: number };
  assert.match(JSON.stringify(await send(`http://127.0.0.1:${port}/`)), /"failed","why":".+"/);
  assert.match(JSON.stringify(await send(`https://127.0.0.1:${port}/`)), /"failed","why":".+"/);
});

test('An expired certificate, and one that is not trusted, are named', async (t) => {
  const DAY_MS = 86_400_000;
  for (const [untilMs, isTrusted, found] of [
    [Date.now() - DAY_MS, true, 'certificate has expired'],
    [Date.now() + DAY_MS, false, 'self-signed certificate'],
    [Date.now() + DAY_MS, true, 'delivered'],
  ] as const) {
    const { certificate, key } = await makeCertificate('localhost', untilMs);
    const server = createTlsServer({ cert: certificate, key }, (_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { fetch } = outgoingFetch({ env: {}, ...(isTrusted && { trusted: certificate }) });
    const { port } = server.address() as AddressInfo;
    const deps = { ...depsOf(), fetch: fetch as SenderDeps['fetch'] };
    const outcome = await outcomeOf(`https://127.0.0.1:${port}/`, { deps });
    if (outcome.what === 'delivered') assert.equal(outcome.what, found);
    else assert.deepEqual([outcome.why, outcome.problem?.reason], [found, 'target_certificate']);
  }
});

test('Nothing is sent to an address or a name that is not allowed', async (t) => {
  const server = await serverOf(t);
  const strict = depsOf(['*']);
  const byName = server.url.replace('127.0.0.1', 'localhost');
  const why = JSON.stringify([await send(server.url, { deps: strict }), await send(byName, { deps: strict })]);
  assert.match(
    why,
    /address 127\.0\.0\.1 is not public.*host \\"localhost\\" has the address \S+, which is not public/,
  );
  assert.equal(server.requests.length, 0);
  await send(byName, { deps: depsOf(['127.0.0.1', '::1']) });
  assert.equal(server.requests.length, 1);
});
