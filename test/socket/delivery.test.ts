import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { View } from '../../src/model/topics.ts';
import { batchesOf } from '../support/event_batches.ts';
import { serveSocket } from './harness.ts';

const GO = { 'user-agent': 'Go-http-client/1.1' };

const ID_CASES: readonly ['auto' | 'always' | 'never', Record<string, string>, boolean][] = [
  ['auto', GO, false],
  ['auto', { 'user-agent': 'Mozilla/5.0' }, true],
  ['auto', {}, true],
  ['always', GO, true],
  ['never', {}, false],
];

for (const [subscriptionIdMode, headers, hasId] of ID_CASES) {
  const who = headers['user-agent'] ?? 'a client without a name';
  test(`A message to ${who} ${hasId ? 'carries its' : 'has no'} subscription_id in mode ${subscriptionIdMode}`, async (t) => {
    const { connect, fanout } = await serveSocket(t, { subscriptionIdMode });
    const client = await connect(headers);
    const { subscription_id } = await client.ask({ event: 'subscribe', topic: 'zone_changes' });
    assert.equal(subscription_id, 1, 'the acknowledgement carries it always');
    fanout.announce('zone_changes', ['z', 'create'], () => '{"id":"z"}');
    const id = hasId ? ',"subscription_id":1' : '';
    assert.equal(await client.nextText(), `{"event":"message","topic":"zone_changes"${id},"payload":[{"id":"z"}]}`);
  });
}

test('A subscription is acknowledged before its first message, and messages retain their order', async (t) => {
  const { connect, fanout, variant } = await serveSocket(t);
  const client = await connect();
  client.send({ event: 'subscribe', topic: 'location_updates:geojson' });
  assert.equal((await client.next())['event'], 'subscribed');
  for (let i = 0; i < 500; i++) {
    fanout.publish(batchesOf([{ variant: variant('location_updates'), fields: ['p'], text: String(i) }]));
  }
  const got: unknown[] = [];
  while (got.length < 500) {
    const { topic, payload } = await client.next();
    assert.equal(topic, 'location_updates:geojson');
    got.push(...(payload as unknown[]));
  }
  assert.deepEqual(
    got,
    Array.from({ length: 500 }, (_, i) => i),
  );
});

test('Each matching subscription of a connection gets its own message', async (t) => {
  const { connect, fanout, variant } = await serveSocket(t);
  const client = await connect();
  for (const params of [{}, { provider_id: 'a' }, { provider_id: ['a', 'b'] }]) {
    await client.ask({ event: 'subscribe', topic: 'location_updates', params });
  }
  const at = variant('location_updates');
  fanout.publish(batchesOf(['a', 'b', 'c'].map((id) => ({ variant: at, fields: [id], text: JSON.stringify({ id }) }))));
  const got = [await client.next(), await client.next(), await client.next()];
  assert.deepEqual(
    got.map(({ subscription_id, payload }) => [
      subscription_id,
      (payload as { id: string }[]).map(({ id }) => id).join(''),
    ]),
    [
      [1, 'abc'],
      [2, 'a'],
      [3, 'ab'],
    ],
  );
});

test('The view of a subscription is determined by its topic and params', async (t) => {
  const { connect, fanout } = await serveSocket(t);
  const client = await connect();
  const seen: View[] = [];
  const cases: [string, Record<string, unknown>, View][] = [
    ['fence_events', {}, { crs: 'EPSG:4326', zoneId: undefined, geojson: false }],
    ['fence_events:geojson', { crs: 'local' }, { crs: 'local', zoneId: undefined, geojson: true }],
    ['fence_events', { geojson: 'true', crs: 'local', zone_id: 'z' }, { crs: 'local', zoneId: 'z', geojson: true }],
    ['fence_events', { geojson: false, crs: 'EPSG:32632' }, { crs: 'EPSG:32632', zoneId: undefined, geojson: false }],
  ];
  for (const [topic, params] of cases) await client.ask({ event: 'subscribe', topic, params });
  fanout.announce('fence_events', [], ({ crs, zoneId, geojson }) => {
    seen.push({ crs, zoneId, geojson });
    return undefined;
  });
  assert.deepEqual(
    seen,
    cases.map(([, , view]) => view),
  );
});

test('No frame is longer than 32,768 bytes unless it has a single element', async (t) => {
  const { connect, fanout, variant } = await serveSocket(t);
  const client = await connect(GO);
  await client.ask({ event: 'subscribe', topic: 'location_updates' });
  const words = Array.from({ length: 300 }, (_, i) => `${i} ${'größer 🦊 '.repeat(1 + (i % 60))}`);
  words[150] = '🦊'.repeat(20_000);
  const at = variant('location_updates');
  fanout.publish(batchesOf(words.map((word) => ({ variant: at, fields: [], text: JSON.stringify(word) }))));
  const got: string[] = [];
  let frames = 0;
  while (got.length < words.length) {
    const text = await client.nextText();
    const { payload } = JSON.parse(text) as { payload: string[] };
    assert.ok(payload.length === 1 || Buffer.byteLength(text) <= 32_768, `${Buffer.byteLength(text)} bytes`);
    got.push(...payload);
    frames++;
  }
  assert.deepEqual(got, words);
  assert.ok(frames < 20, `${frames} frames: elements share frames`);
});

test('A client that does not read is closed with 1013, while the others receive everything', async (t) => {
  const { connect, fanout, tooSlow, variant } = await serveSocket(t, {
    queueMaxBytes: 1_000_000,
    networkMaxBytes: 100_000,
  });
  const [stalled, reader] = [await connect(), await connect()];
  for (const client of [stalled, reader]) await client.ask({ event: 'subscribe', topic: 'location_updates' });
  stalled.socket.pause();
  const at = variant('location_updates');
  const filler = 'x'.repeat(30_000);
  let sent = 0;
  while (tooSlow.length === 0 && sent < 2_000) {
    fanout.publish(batchesOf([{ variant: at, fields: [], text: JSON.stringify([sent, filler]) }]));
    sent++;
    const { payload } = await reader.next();
    assert.deepEqual(payload, [[sent - 1, filler]]);
  }
  assert.equal(tooSlow.length, 1, `nothing overflowed in ${sent} messages`);
  assert.ok((tooSlow[0] ?? 0) < 1_100_000, 'the bound holds');
  const closed = stalled.closed();
  stalled.socket.resume();
  const [code, reason] = await closed;
  assert.equal(code, 1013);
  assert.match(reason, /^Too slow: \d+ bytes wait, 1000000 may$/);
  fanout.publish(batchesOf([{ variant: at, fields: [], text: '"after"' }]));
  assert.deepEqual((await reader.next())['payload'], ['after']);
});

test('A client that reads late, but within the bound, receives everything in order', async (t) => {
  const { connect, fanout, tooSlow } = await serveSocket(t, { networkMaxBytes: 50_000 });
  const client = await connect();
  await client.ask({ event: 'subscribe', topic: 'zone_changes' });
  client.socket.pause();
  const filler = 'x'.repeat(1_000);
  for (let i = 0; i < 20_000; i++) fanout.announce('zone_changes', [], () => JSON.stringify([i, filler]));
  client.socket.resume();
  let expected = 0;
  while (expected < 20_000) {
    for (const [number] of (await client.next())['payload'] as [number][]) {
      assert.equal(number, expected);
      expected++;
    }
  }
  assert.deepEqual(tooSlow, []);
});
