import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { OutgoingTargets } from '../../src/entities/outgoing_targets.ts';
import type { Outcome, QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import type { Sender, SenderDeps } from '../../src/sinks/sender.ts';
import { schedule } from '../../src/time/clock.ts';
import { testNats } from '../cluster/test_nats.ts';

const nats = await testNats();
const { skip } = nats;

function depsOf(allowed: readonly string[]): SenderDeps {
  const targets = new OutgoingTargets('sink_allowed_hosts', allowed);
  return {
    now: Date.now,
    schedule,
    fetch: () => assert.fail('no request is sent'),
    whyNotHost: (hostname) => targets.whyNotHost(hostname),
    resolve: (hostname) => targets.resolve(hostname),
    hubId: '1',
    source: 'urn:omlox-hub:1',
  };
}

function eventOf(id: string, json = '{}'): QueuedEvent {
  return { id, topic: 'fence_events', key: 'truck', timeMs: 0, json, cursor: id };
}

async function senderOf(
  port: number,
  {
    subject,
    allowed = ['127.0.0.1'],
    ...spans
  }: { subject: string; allowed?: string[] } & Pick<SenderDeps, 'startSpan'>,
): Promise<Sender> {
  const url = `nats://127.0.0.1:${port}/${subject}`;
  const sink = { id: '1', name: 'A', type: 'nats', url, topics: ['fence_events'], timeout: 2000 } as const;
  return (await openSender({ ...sink, topics: [...sink.topics] }, { ...depsOf(allowed), ...spans })).sender;
}

const portOf = (): number => nats.servers.servers[0]?.port ?? 0;

function failure(outcome: Outcome): string {
  return outcome.what === 'delivered' ? 'delivered' : `${outcome.what}: ${outcome.why}`;
}

test('A stream stores each event once, also if it is sent again', { skip }, async (t) => {
  const client: NatsConnection = await connect({ servers: `127.0.0.1:${portOf()}` });
  t.after(() => client.close());
  const config = { name: 'RTLS', subjects: ['rtls.>'], storage: 'memory' };
  await client.request('$JS.API.STREAM.CREATE.RTLS', JSON.stringify(config));
  const sender = await senderOf(portOf(), { subject: 'rtls.events' });
  t.after(() => sender.close());
  for (const id of ['e1', 'e2', 'e1']) assert.deepEqual(await sender.send([eventOf(id)]), { what: 'delivered' });
  const info = (await client.request('$JS.API.STREAM.INFO.RTLS')).json<{ state: { messages: number } }>();
  assert.equal(info.state.messages, 2);
  const last = (await client.request('$JS.API.STREAM.MSG.GET.RTLS', '{"seq":1}')).json<{
    message: { data: string; hdrs: string };
  }>();
  assert.equal(JSON.parse(Buffer.from(last.message.data, 'base64').toString()).id, 'e1');
  assert.match(Buffer.from(last.message.hdrs, 'base64').toString(), /Nats-Msg-Id: e1/);
});

test('Without a stream a subscriber receives the event', { skip }, async (t) => {
  const client = await connect({ servers: `127.0.0.1:${portOf()}` });
  t.after(() => client.close());
  const subscription = client.subscribe('plain.events', { max: 1 });
  await client.flush();
  const sender = await senderOf(portOf(), { subject: 'plain.events' });
  t.after(() => sender.close());
  assert.deepEqual(await sender.send([eventOf('e1')]), { what: 'delivered' });
  for await (const message of subscription) assert.equal(message.json<{ id: string }>().id, 'e1');
});

test('An event larger than the server accepts is rejected, and the next one is delivered', { skip }, async (t) => {
  const sender = await senderOf(portOf(), { subject: 'plain.large' });
  t.after(() => sender.close());
  const large = await sender.send([eventOf('e1', JSON.stringify({ text: 'x'.repeat(9 << 20) }))]);
  assert.match(failure(large), /^rejected: the server accepts \d+ bytes, found \d+/);
  assert.deepEqual(await sender.send([eventOf('e2')]), { what: 'delivered' });
});

test('A server that is away or not allowed has a reason', { skip }, async () => {
  const away = await senderOf(9, { subject: 'a' });
  assert.match(failure(await away.send([eventOf('e1')])), /^failed: .+/);
  const refused = await senderOf(portOf(), { subject: 'a', allowed: ['*'] });
  assert.match(failure(await refused.send([eventOf('e1')])), /^failed: address 127\.0\.0\.1 is not public/);
});

test('Messages carry the traceparent of their attempt, with and without a stream', { skip }, async (t) => {
  const client = await connect({ servers: `127.0.0.1:${portOf()}` });
  t.after(() => client.close());
  await client.request('$JS.API.STREAM.CREATE.TRACED', JSON.stringify({ name: 'TRACED', subjects: ['traced.>'] }));
  const subscription = client.subscribe('*.spans', { max: 3 });
  await client.flush();
  let spans = 0;
  const startSpan = () => ({ traceparent: `00-span-${++spans}`, end: () => undefined });
  for (const [subject, events] of [
    ['traced.spans', ['e1', 'e2']],
    ['untraced.spans', ['e3']],
  ] as const) {
    const sender = await senderOf(portOf(), { subject, startSpan });
    t.after(() => sender.close());
    for (const id of events) assert.deepEqual(await sender.send([eventOf(id)]), { what: 'delivered' });
  }
  const received: unknown[] = [];
  for await (const message of subscription) {
    received.push([message.json<{ id: string }>().id, message.headers?.get('traceparent')]);
  }
  assert.deepEqual(received, [
    ['e1', '00-span-1'],
    ['e2', '00-span-2'],
    ['e3', '00-span-3'],
  ]);
});
