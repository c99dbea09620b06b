import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { Admin, Consumer } from '@platformatic/kafka';
import { OutgoingTargets } from '../../src/entities/outgoing_targets.ts';
import type { Outcome, QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import type { Sender, SenderDeps } from '../../src/sinks/sender.ts';
import { schedule } from '../../src/time/clock.ts';
import { makeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { KAFKA_USER, KafkaProcess, kafkaLibraries } from './kafka_process.ts';

const libraries = kafkaLibraries();
const skip = 'missing' in libraries ? `no Kafka: ${libraries.missing}` : false;
let kafka: KafkaProcess;

if ('folder' in libraries) {
  const folder = temporaryFolder();
  before(async () => {
    kafka = await KafkaProcess.start(libraries.folder, folder);
  });
  after(async () => {
    await kafka.kill();
  });
}

const bootstrap = () => [{ host: '127.0.0.1', port: kafka.port('plain') }];

async function createTopic(topic: string): Promise<void> {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: bootstrap() });
  await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 });
  await admin.close();
}

interface ReadRecord {
  readonly key: string;
  readonly value: string;
  readonly partition: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the first records of a topic. */
async function recordsOf(topic: string, count: number): Promise<readonly ReadRecord[]> {
  const consumer = new Consumer({ clientId: 'test', groupId: `group-of-${topic}`, bootstrapBrokers: bootstrap() });
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
  const records: ReadRecord[] = [];
  for await (const { key, value, partition, headers } of stream) {
    const fields = [...headers].map(([name, each]) => [String(name), String(each)]);
    records.push({ key: String(key), value: String(value), partition, headers: Object.fromEntries(fields) });
    if (records.length === count) break;
  }
  await stream.close();
  await consumer.close(true);
  return records;
}

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

interface Given extends Pick<SenderDeps, 'startSpan'> {
  readonly topic: string;
  readonly port: number;
  readonly query?: string;
  readonly allowed?: readonly string[];
  readonly secret?: string;
  readonly format?: 'plain';
  /** Trusted certificate of a broker with TLS. */
  readonly trusted?: string;
  readonly isSecure?: boolean;
}

async function senderOf(t: TestContext, given: Given): Promise<Sender> {
  const { topic, port, query = '', allowed = ['127.0.0.1', '::1'], secret, format, trusted, isSecure = false } = given;
  const spans = given.startSpan === undefined ? {} : { startSpan: given.startSpan };
  const url = `${isSecure ? 'kafka+tls://localhost' : 'kafka://127.0.0.1'}:${port}/${topic}${query}`;
  const more = {
    ...(trusted !== undefined && { ca_certificate: trusted }),
    ...(secret !== undefined && { secret }),
    ...(format !== undefined && { format }),
  };
  const sink = { id: '1', name: 'A', type: 'kafka', url, topics: [], timeout: 4000, ...more } as const;
  const { sender } = await openSender({ ...sink, topics: ['fence_events'] }, { ...depsOf(allowed), ...spans });
  t.after(() => sender.close());
  return sender;
}

function eventOf(id: string, key = 'truck', json = '{}'): QueuedEvent {
  return { id, topic: 'fence_events', key, timeMs: 0, json, cursor: id };
}

const DELIVERED: Outcome = { what: 'delivered' };

function failure(outcome: Outcome): string {
  return outcome.what === 'delivered' ? 'delivered' : `${outcome.what}: ${outcome.why}`;
}

test('A record has the object as key, and the events of an object are in one partition, in order', {
  skip,
}, async (t) => {
  await createTopic('rtls.events');
  const sender = await senderOf(t, { topic: 'rtls.events', port: kafka.port('plain') });
  const ids = Array.from({ length: 20 }, (_, i) => `e${i}`);
  const events = ids.map((id, i) => eventOf(id, `truck-${i % 5}`));
  assert.deepEqual(await sender.send(events.slice(0, 10)), DELIVERED);
  assert.deepEqual(await sender.send(events.slice(10)), DELIVERED);
  const records = await recordsOf('rtls.events', 20);
  for (const [key, ofKey] of Map.groupBy(records, (record) => record.key)) {
    assert.equal(new Set(ofKey.map(({ partition }) => partition)).size, 1);
    const wanted = events.filter((event) => event.key === key).map(({ id }) => id);
    assert.deepEqual(
      ofKey.map(({ value }) => JSON.parse(value).id),
      wanted,
    );
  }
  assert.ok(new Set(records.map(({ partition }) => partition)).size > 1, 'all keys are in one partition');
  const [first] = records.filter(({ headers }) => headers['x-hub-id'] === 'e0');
  assert.equal(first?.headers['x-hub-topic'], 'fence_events');
  assert.match(first?.headers['content-type'] ?? '', /^application\/cloudevents\+json/);
});

test('The plain format is the event itself', { skip }, async (t) => {
  await createTopic('plain.events');
  const sender = await senderOf(t, { topic: 'plain.events', port: kafka.port('plain'), format: 'plain' });
  assert.deepEqual(await sender.send([eventOf('e1', 'truck', '{"id":1.50}')]), DELIVERED);
  assert.equal((await recordsOf('plain.events', 1))[0]?.value, '{"id":1.50}');
});

test('Each record carries the traceparent of its attempt', { skip }, async (t) => {
  await createTopic('traced');
  let spans = 0;
  const startSpan = () => ({ traceparent: `00-span-${++spans}`, end: () => undefined });
  const sender = await senderOf(t, { topic: 'traced', port: kafka.port('plain'), startSpan });
  assert.deepEqual(await sender.send([eventOf('e1'), eventOf('e2')]), DELIVERED);
  assert.deepEqual(await sender.send([eventOf('e3')]), DELIVERED);
  const records = await recordsOf('traced', 3);
  assert.deepEqual(
    records.map(({ headers }) => [headers['x-hub-id'], headers['traceparent']]),
    [
      ['e1', '00-span-1'],
      ['e2', '00-span-1'],
      ['e3', '00-span-2'],
    ],
  );
});

test('A missing topic has a reason, is not created, and the event is delivered when it exists', { skip }, async (t) => {
  const sender = await senderOf(t, { topic: 'later', port: kafka.port('plain') });
  for (const id of ['e1', 'e1']) {
    assert.equal(failure(await sender.send([eventOf(id)])), 'failed: Unknown topic later.');
  }
  await createTopic('later');
  assert.deepEqual(await sender.send([eventOf('e1')]), DELIVERED);
});

test('An event larger than the broker accepts is rejected, and the next one is delivered', { skip }, async (t) => {
  await createTopic('large');
  const sender = await senderOf(t, { topic: 'large', port: kafka.port('plain') });
  const large = await sender.send([eventOf('e1', 'truck', JSON.stringify({ text: 'x'.repeat(300_000) }))]);
  assert.match(failure(large), /^rejected: .*larger than/);
  assert.deepEqual(await sender.send([eventOf('e2')]), DELIVERED);
});

test('A broker that is killed, and one that does not answer, have a reason, and receive the event later', {
  skip,
}, async (t) => {
  await createTopic('faults');
  const sender = await senderOf(t, { topic: 'faults', port: kafka.port('plain') });
  assert.deepEqual(await sender.send([eventOf('e1')]), DELIVERED);
  kafka.pause();
  assert.equal(failure(await sender.send([eventOf('e2')])), 'failed: no complete response within 4000 ms');
  kafka.resume();
  assert.deepEqual(await sender.send([eventOf('e2')]), DELIVERED);
  await kafka.kill();
  assert.match(failure(await sender.send([eventOf('e3')])), /^failed: .+/);
  assert.match(failure(await sender.send([eventOf('e3')])), /^failed: .+/);
  await kafka.start();
  assert.deepEqual(await sender.send([eventOf('e3')]), DELIVERED);
  const ids = (await recordsOf('faults', 3)).map(({ headers }) => headers['x-hub-id']);
  assert.deepEqual([...new Set(ids)].slice(0, 2), ['e1', 'e2']);
});

test('A broker whose address is not allowed is refused, also if another broker names it', { skip }, async (t) => {
  await createTopic('refused');
  const refused = await senderOf(t, { topic: 'refused', port: kafka.port('plain'), allowed: ['*'] });
  assert.match(failure(await refused.send([eventOf('e1')])), /^failed: address 127\.0\.0\.1 is not public/);
  const named = await senderOf(t, { topic: 'refused', port: kafka.port('other') });
  assert.match(failure(await named.send([eventOf('e1')])), /^failed: address 127\.0\.0\.2 is not public/);
  const allowed = await senderOf(t, { topic: 'refused', port: kafka.port('other'), allowed: ['127.0.0.0/8'] });
  // It does not listen there.
  assert.match(failure(await allowed.send([eventOf('e1')])), /^failed: connect ECONNREFUSED 127\.0\.0\.2/);
});

test('A user and a password are required if the broker does', { skip }, async (t) => {
  await createTopic('users');
  const port = kafka.port('sasl');
  const known = await senderOf(t, { topic: 'users', port, secret: KAFKA_USER });
  assert.deepEqual(await known.send([eventOf('e1')]), DELIVERED);
  const wrong = await senderOf(t, { topic: 'users', port, secret: 'hub:wrong' });
  assert.match(
    failure(await wrong.send([eventOf('e1')])),
    /^failed: the server does not accept the user and the password/,
  );
  const other = await senderOf(t, { topic: 'users', port, secret: KAFKA_USER, query: '?sasl=SCRAM-SHA-256' });
  assert.match(failure(await other.send([eventOf('e1')])), /^failed: .*mechanism/i);
});

test('A broker with TLS, an authority of its own and SCRAM receives events, and each error is named', {
  skip,
}, async (t) => {
  await createTopic('secure');
  const given = {
    ...{ topic: 'secure', port: kafka.port('tls'), isSecure: true, trusted: kafka.certificate },
    ...{ query: '?sasl=SCRAM-SHA-512', secret: KAFKA_USER },
  };
  const known = await senderOf(t, given);
  assert.deepEqual(await known.send([eventOf('e1'), eventOf('e2')]), DELIVERED);
  const { trusted: _trusted, ...untrusted } = given;
  const other = await makeCertificate();
  const failures: Record<string, string> = {};
  for (const [name, each] of Object.entries({
    'wrong password': { ...given, secret: 'hub:wrong' },
    'unknown user': { ...given, secret: 'other:secret' },
    'another mechanism': { ...given, query: '' },
    'certificate that is not trusted': untrusted,
    'another authority': { ...given, trusted: other.certificate },
    'TLS to a port without it': { ...given, port: kafka.port('sasl') },
  })) {
    const sender = await senderOf(t, each);
    failures[name] = failure(await sender.send([eventOf('e3')]));
  }
  assert.deepEqual(failures, {
    'wrong password': 'failed: the server does not accept the user and the password',
    'unknown user': 'failed: the server does not accept the user and the password',
    'another mechanism': 'failed: the broker does not support PLAIN, the mechanism of SASL in the URL',
    'certificate that is not trusted': 'failed: the certificate of the server is not trusted: self-signed certificate',
    'another authority': 'failed: the certificate of the server is not trusted: self-signed certificate',
    'TLS to a port without it':
      'failed: Client network socket disconnected before secure TLS connection was established',
  });
  const ids = (await recordsOf('secure', 2)).map(({ headers }) => headers['x-hub-id']);
  assert.deepEqual(ids, ['e1', 'e2']);
});
