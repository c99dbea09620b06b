import type { PublishResult } from '../../src/socket/deps.ts';
import { errorWith, problemWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveSocket } from './harness.ts';

const GO = { 'user-agent': 'Go-http-client/1.1' };
const BIG = JSON.stringify({ event: 'subscribe', topic: 'zone_changes', params: { accuracy: 0 } }).replace(
  '0',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
);

/** Frames of a client and the response to each: the code of an error, or the kind of acknowledgment. */
const ANSWERS: readonly [name: string, frame: unknown, answer: number | string, description?: RegExp][] = [
  ['text that is not JSON', 'hello', 10000, /must be JSON/],
  ['an empty frame', '', 10000],
  ['a JSON array', [], 10000, /must be an object/],
  ['JSON null', null, 10000],
  ['an object without event', { topic: 'location_updates' }, 10000, /^event: /],
  ['an event that is no string', { event: 1 }, 10000],
  ['an unknown event', { event: 'publish' }, 10000, /^event: .* found "publish"$/],
  ['an event of the hub', { event: 'subscribed', topic: 'location_updates' }, 10000],
  ['an inherited event', { event: 'constructor' }, 10000],
  ['a subscribe to an unknown topic', { event: 'subscribe', topic: 'weather' }, 10001, /"weather"/],
  ['a subscribe without topic', { event: 'subscribe' }, 10001, /^topic: is required/],
  ['a subscribe with a topic that is no string', { event: 'subscribe', topic: ['x'] }, 10001],
  ['a subscribe to an inherited name', { event: 'subscribe', topic: '__proto__' }, 10001],
  ['a topic without GeoJSON form', { event: 'subscribe', topic: 'collision_events:geojson' }, 10001],
  ['a change topic without GeoJSON form', { event: 'subscribe', topic: 'fence_changes:geojson' }, 10001],
  ['a message without topic', { event: 'message', payload: [] }, 10001],
  ['a message to an unknown topic', { event: 'message', topic: 'weather', payload: [] }, 10001],
  ['params that are an array', { event: 'subscribe', topic: 'zone_changes', params: [] }, 10002, /^params: /],
  ['params that are a string', { event: 'subscribe', topic: 'zone_changes', params: 'x' }, 10002],
  ['a bad filter', { event: 'subscribe', topic: 'location_updates', params: { accuracy: 'x' } }, 10002, /accuracy/],
  ['an unsupported crs', { event: 'subscribe', topic: 'location_updates', params: { crs: 'moon' } }, 10002, /^crs: /],
  ['a crs that is no string', { event: 'subscribe', topic: 'location_updates', params: { crs: {} } }, 10002],
  ['an unsubscribe of an unknown id', { event: 'unsubscribe', subscription_id: 99 }, 10003, /99/],
  ['an unsubscribe without id', { event: 'unsubscribe' }, 10003, /^subscription_id: /],
  ['an unsubscribe with an id that is no integer', { event: 'unsubscribe', subscription_id: 1.5 }, 10003],
  ['an unsubscribe with an id that is no number', { event: 'unsubscribe', subscription_id: 'x' }, 10003],
  ['a message to a topic for reading', { event: 'message', topic: 'fence_events', payload: [{}] }, 10004],
  ['a message to a GeoJSON topic', { event: 'message', topic: 'location_updates:geojson', payload: [{}] }, 10004],
  ['a payload that is no array', { event: 'message', topic: 'location_updates', payload: {} }, 10005, /^payload: /],
  ['a message without payload', { event: 'message', topic: 'location_updates' }, 10005],
  [
    'a message with params that are no object',
    { event: 'message', topic: 'location_updates', params: 1, payload: [] },
    10005,
  ],
  ['a subscribe', { event: 'subscribe', topic: 'location_updates' }, 'subscribed'],
  ['a subscribe that ends in a line feed', '{"event":"subscribe","topic":"location_updates"}\n', 'subscribed'],
  ['a subscribe with null params', { event: 'subscribe', topic: 'fence_events', params: null }, 'subscribed'],
  [
    'a subscribe with unknown params',
    { event: 'subscribe', topic: 'fence_events', params: { later: [1] } },
    'subscribed',
  ],
  [
    'params with names of Object',
    '{"event":"subscribe","topic":"fence_events","params":{"constructor":1,"toString":{}}}',
    'subscribed',
  ],
  ['a member called __proto__', '{"event":"subscribe","topic":"fence_events","params":{"__proto__":1}}', 10000],
  [
    'half of a surrogate pair',
    '{"event":"subscribe","topic":"fence_events","params":{"provider_id":"\\ud800"}}',
    10000,
  ],
  ['unknown params with excessive nesting', BIG, 'subscribed'],
  ['known params with excessive nesting', BIG.replace('zone_changes', 'location_updates'), 10002],
  ['a topic with excessive nesting', BIG.replace('"zone_changes"', '1').replace('accuracy', 'x'), 10001],
  ['a subscribe to location_updates:geojson', { event: 'subscribe', topic: 'location_updates:geojson' }, 'subscribed'],
  [
    'a subscribe to trackable_motions:geojson',
    { event: 'subscribe', topic: 'trackable_motions:geojson' },
    'subscribed',
  ],
  ['a subscribe to fence_events:geojson', { event: 'subscribe', topic: 'fence_events:geojson' }, 'subscribed'],
];

test('A socket answers every frame, and the connection stays open', async (t) => {
  const { connect } = await serveSocket(t);
  for (const [name, frame, answer, description = /./] of ANSWERS) {
    await t.test(`${name}: ${answer}`, async () => {
      const client = await connect();
      const got = await client.ask(frame);
      if (typeof answer === 'number') {
        assert.deepEqual([got['event'], got['code'], Object.keys(got).length], ['error', answer, 5]);
        assert.match(String(got['description']), description);
      } else {
        assert.equal(got['event'], answer);
      }
      const next = await client.ask({ event: 'subscribe', topic: 'anchor_changes' });
      assert.equal(next['event'], 'subscribed');
      client.socket.terminate();
    });
  }
});

test('A socket acknowledges subscribe and unsubscribe with topic and id', async (t) => {
  const { connect, fanout } = await serveSocket(t);
  const client = await connect();
  client.send({ event: 'subscribe', topic: 'fence_events:geojson' });
  assert.equal(await client.nextText(), '{"event":"subscribed","topic":"fence_events:geojson","subscription_id":1}');
  const second = await client.ask({ event: 'subscribe', topic: 'zone_changes' });
  assert.equal(second['subscription_id'], 2);
  client.send({ event: 'unsubscribe', subscription_id: 1 });
  assert.equal(await client.nextText(), '{"event":"unsubscribed","topic":"fence_events:geojson","subscription_id":1}');
  const again = await client.ask({ event: 'unsubscribe', subscription_id: 1 });
  assert.equal(again['code'], 10003);
  const byText = await client.ask({ event: 'unsubscribe', subscription_id: '2' });
  assert.equal(byText['event'], 'unsubscribed');
  assert.equal(fanout.hasSubscribers('zone_changes'), false);
});

test('A socket rejects an unsubscribe from the subscription of another connection', async (t) => {
  const { connect, fanout } = await serveSocket(t);
  const [owner, stranger] = [await connect(), await connect()];
  const { subscription_id } = await owner.ask({ event: 'subscribe', topic: 'zone_changes' });
  assert.equal((await stranger.ask({ event: 'unsubscribe', subscription_id }))['code'], 10003);
  assert.equal(fanout.hasSubscribers('zone_changes'), true);
});

test('A socket rejects a second subscription with equal params, and only that', async (t) => {
  const { connect } = await serveSocket(t);
  const client = await connect();
  const subscribe = (params: unknown, topic = 'fence_events') => client.ask({ event: 'subscribe', topic, params });
  const first = await subscribe({ fence_id: ['a', 'b'], event_type: 'region_exit', token: '1' });
  assert.equal(first['event'], 'subscribed');
  const same = await subscribe({ event_type: 'region_exit', fence_id: ['b', 'a'], token: '2' });
  assert.equal(same['code'], 10002);
  for (const params of [{ fence_id: ['a', 'b'] }, { fence_id: 'a' }, { fence_id: ['a'] }, {}, { crs: 'local' }]) {
    assert.equal((await subscribe(params))['event'], 'subscribed', JSON.stringify(params));
  }
  assert.equal((await subscribe({}, 'fence_events:geojson'))['event'], 'subscribed');
  assert.equal((await subscribe(undefined))['code'], 10002, 'no params equal empty params');
  await client.ask({ event: 'unsubscribe', subscription_id: first['subscription_id'] });
  assert.equal((await subscribe({ fence_id: ['b', 'a'], event_type: 'region_exit' }))['event'], 'subscribed');
});

test('A socket rejects more subscriptions than a connection may have', async (t) => {
  const { connect } = await serveSocket(t, { subscriptionsMax: 3 });
  const client = await connect();
  const codes: unknown[] = [];
  for (let floor = 0; floor < 5; floor++) {
    codes.push((await client.ask({ event: 'subscribe', topic: 'location_updates', params: { floor } }))['code']);
  }
  assert.deepEqual(codes, [undefined, undefined, undefined, 10002, 10002]);
});

test('A socket frees the subscriptions of a connection that closes', async (t) => {
  const { connect, fanout } = await serveSocket(t);
  const client = await connect();
  await client.ask({ event: 'subscribe', topic: 'location_updates' });
  assert.equal(fanout.hasSubscribers('location_updates'), true);
  client.socket.close();
  await client.closed();
  assert.equal(fanout.hasSubscribers('location_updates'), false);
});

test('A socket submits published items with the version in the path, and sends no response', async (t) => {
  const { connect, published } = await serveSocket(t);
  const client = await connect();
  client.send({ event: 'message', topic: 'location_updates', params: { token: 'x' }, payload: [{ a: 1 }, 2] });
  client.send({ event: 'message', topic: 'location_updates', payload: [] });
  client.send({ event: 'message', topic: 'proximity_updates', payload: [{ b: 1 }] });
  assert.equal((await client.ask({ event: 'nothing' }))['code'], 10000, 'the first frame is the answer to the last');
  assert.deepEqual(published, [
    { topic: 'location_updates', values: [{ a: 1 }, 2], path: '/v2/ws/socket' },
    { topic: 'proximity_updates', values: [{ b: 1 }], path: '/v2/ws/socket' },
  ]);
});

const FAILURES: readonly [string, () => PublishResult, RegExp][] = [
  [
    'two bad items',
    () => ({ problems: ['locations[0].position: a', 'locations[7]: b'].map(problemWith) }),
    /^locations\[0\].position: a; locations\[7\]: b$/,
  ],
  ['bad items found later', async () => ({ problems: [problemWith('locations[3]: c')] }), /^locations\[3\]: c$/],
  [
    'many bad items',
    () => ({ problems: Array.from({ length: 9000 }, (_, i) => problemWith(`locations[${i}]: bad`)) }),
    /^locations\[0\]: bad; .*; and \d+ more$/,
  ],
  [
    'overload',
    () => {
      throw errorWith('HUB_UNAVAILABLE', 'Cannot take the locations: too many wait');
    },
    /^Cannot take the locations: too many wait$/,
  ],
  [
    'overload found later',
    async () => {
      throw errorWith('HUB_UNAVAILABLE', 'too many wait');
    },
    /^too many wait$/,
  ],
];

for (const [name, ingestLocations, description] of FAILURES) {
  test(`A socket answers a publish with ${name} by one error 10005`, async (t) => {
    const { connect } = await serveSocket(t, { ingestLocations });
    const client = await connect();
    client.send({ event: 'message', topic: 'location_updates', payload: [{}] });
    const text = await client.nextText();
    assert.ok(Buffer.byteLength(text) <= 32_768);
    const { event, code, description: answer } = JSON.parse(text);
    assert.deepEqual([event, code], ['error', 10005]);
    assert.match(answer, description);
    assert.equal((await client.ask({ event: 'nothing' }))['code'], 10000, 'there was one error frame');
  });
}

test('A socket logs a defect without sending it to the client', async (t) => {
  const defect = new Error('secret');
  const { connect, reported } = await serveSocket(t, { ingestLocations: () => Promise.reject(defect) });
  const client = await connect();
  const got = await client.ask({ event: 'message', topic: 'location_updates', payload: [{}] });
  assert.equal(got['code'], 10005);
  assert.doesNotMatch(String(got['description']), /secret/);
  assert.deepEqual(reported, [defect]);
});

test('A socket authorizes a topic with the token of the frame or that of the upgrade', async (t) => {
  const asked: unknown[] = [];
  const { connect, published } = await serveSocket(t, {
    authorize(question) {
      asked.push(question);
      throw errorWith('HUB_NOT_AUTHENTICATED', 'The token is missing');
    },
  });
  const params = { token: 't' };
  const publish = { event: 'message', topic: 'location_updates', params, payload: [{}] };
  const [browser, go] = [await connect(), await connect({ ...GO, authorization: 'bearer u' })];
  assert.equal((await browser.ask(publish))['code'], 10006);
  assert.equal((await go.ask({ event: 'subscribe', topic: 'zone_changes' }))['code'], 10004);
  assert.equal((await browser.ask({ event: 'unsubscribe', subscription_id: 1 }))['code'], 10003);
  assert.deepEqual(published, []);
  assert.deepEqual(asked, [
    { use: 'publish', path: '/v2/ws/socket', topic: 'location_updates', token: 't' },
    { use: 'subscribe', path: '/v2/ws/socket', topic: 'zone_changes', token: 'u' },
  ]);
});
