import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import type { HubError } from '../../src/errors.ts';
import type { TopicRequest } from '../../src/socket/deps.ts';
import { batchesOf } from '../support/event_batches.ts';
import { location, questions, serveSocket } from './harness.ts';

const GO = { 'user-agent': 'Go-http-client/1.1' };

/** A simulated clock with timers. */
function simulatedTime() {
  let nowMs = 1_000_000;
  const timers = new Map<object, { atMs: number; callback: () => void }>();
  return {
    timers,
    now: () => nowMs,
    schedule(delayMs: number, callback: () => void) {
      assert.ok(delayMs >= 0 && delayMs < 2 ** 31, `${delayMs} ms cannot be waited for`);
      const key = {};
      timers.set(key, { atMs: nowMs + delayMs, callback });
      return () => void timers.delete(key);
    },
    advance(byMs: number) {
      nowMs += byMs;
      for (const [key, { atMs, callback }] of [...timers]) {
        if (atMs > nowMs) continue;
        timers.delete(key);
        callback();
      }
    },
  };
}

test('Frames retain their order while a token is verified', async (t) => {
  const { authorize, next, open } = questions();
  const { connect, published } = await serveSocket(t, { authorize });
  const client = await connect();
  client.send({ event: 'subscribe', topic: 'fence_events' });
  client.send(location(1));
  client.send('no JSON');
  client.send(location(2));
  client.send({ event: 'unsubscribe', subscription_id: 77 });
  const first = await next();
  assert.deepEqual([open.length, published.length], [0, 0], 'a frame overtook the first');
  first.resolve(FULL_ACCESS);
  assert.equal((await client.next())['event'], 'subscribed');
  (await next()).resolve(FULL_ACCESS);
  assert.equal((await client.next())['code'], 10000);
  (await next()).resolve(FULL_ACCESS);
  assert.equal((await client.next())['code'], 10003);
  assert.deepEqual(
    published.map(({ values }) => values),
    [[{ n: 1 }], [{ n: 2 }]],
  );
});

test('A connection that closes while its token is verified leaves no subscription', async (t) => {
  const { authorize, next } = questions();
  const open = new Set<never>();
  const { connect, fanout, reported } = await serveSocket(t, { authorize, open: open as never });
  const client = await connect();
  client.send({ event: 'subscribe', topic: 'fence_events' });
  client.send({ event: 'subscribe', topic: 'zone_changes' });
  const asked = await next();
  client.socket.terminate();
  while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  asked.resolve(FULL_ACCESS);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([fanout.hasSubscribers('fence_events'), fanout.hasSubscribers('zone_changes')], [false, false]);
  assert.deepEqual(reported, []);
});

const REFUSALS: readonly [error: unknown, code: number][] = [
  [errorWith('HUB_NOT_AUTHENTICATED', 'a'), 10006],
  [errorWith('HUB_NOT_AUTHORIZED', 'b'), 10004],
  [errorWith('HUB_UNAVAILABLE', 'c'), 10006],
];

for (const [error, code] of REFUSALS) {
  test(`${(error as HubError).code} is answered ${code}, at once or later`, async (t) => {
    let isLater = false;
    const { connect } = await serveSocket(t, {
      authorize() {
        if (!isLater) throw error;
        return Promise.reject(error);
      },
    });
    const client = await connect();
    for (isLater of [false, true]) {
      const answer = await client.ask({ event: 'subscribe', topic: 'fence_events' });
      assert.deepEqual([answer['code'], answer['description']], [code, (error as HubError).message]);
    }
  });
}

test('An internal error of the authorization closes the connection, and is only logged', async (t) => {
  const defect = new Error('secret');
  const { connect, reported } = await serveSocket(t, { authorize: () => Promise.reject(defect) });
  const client = await connect();
  client.send(location(1));
  assert.deepEqual(await client.closed(), [1011, 'An internal error occurred']);
  assert.deepEqual(reported, [defect]);
});

test('A defect in a queued frame closes the connection, too', async (t) => {
  const { authorize, next } = questions();
  const defect = new Error('secret');
  let asked = 0;
  const { connect, reported, published } = await serveSocket(t, {
    authorize(question) {
      asked++;
      if (asked === 2) throw defect;
      return authorize(question);
    },
  });
  const client = await connect();
  const closed = client.closed();
  client.send({ event: 'subscribe', topic: 'fence_events' });
  client.send(location(1));
  client.send(location(2));
  (await next()).resolve(FULL_ACCESS);
  assert.deepEqual(await closed, [1011, 'An internal error occurred']);
  assert.deepEqual([reported, published], [[defect], []]);
});

test('An unknown topic or event is answered as such, whatever the token', async (t) => {
  const asked: TopicRequest[] = [];
  const { connect } = await serveSocket(t, {
    authorize(question) {
      asked.push(question);
      throw errorWith('HUB_NOT_AUTHENTICATED', 'x');
    },
  });
  const client = await connect();
  assert.equal((await client.ask({ event: 'subscribe', topic: 'nothing' }))['code'], 10001);
  assert.equal((await client.ask({ event: 'subscribe' }))['code'], 10001);
  assert.equal((await client.ask({ event: 'message', topic: 'fence_events', payload: [] }))['code'], 10004);
  assert.equal((await client.ask({ event: 'unknown' }))['code'], 10000);
  assert.deepEqual(asked, []);
});

const TOKENS: readonly [name: string, upgrade: object, query: string, params: unknown, token: string | undefined][] = [
  ['of the frame', {}, '', { token: 'a' }, 'a'],
  ['of the frame before that of the upgrade', { authorization: 'Bearer b' }, '?token=c', { token: 'a' }, 'a'],
  ['of the Authorization header', { authorization: 'bearer  b ' }, '?token=c', undefined, 'b'],
  ['of the query', {}, '?x=1&token=c%2Bc', {}, 'c+c'],
  ['of the query, next to another scheme', { authorization: 'Basic b' }, '?token=c', { token: null }, 'c'],
  ['that is none', {}, '?token', { token: 7 }, ''],
  ['that is missing', {}, '', { __proto__: { token: 'a' } }, undefined],
];

for (const [name, upgrade, query, params, token] of TOKENS) {
  test(`A frame is authorized by the token ${name}`, async (t) => {
    const asked: TopicRequest[] = [];
    const { connect } = await serveSocket(t, {
      authorize(question) {
        asked.push(question);
        return FULL_ACCESS;
      },
    });
    const client = await connect({ ...upgrade }, query);
    await client.ask({ event: 'subscribe', topic: 'fence_events', params });
    assert.equal(asked[0]?.token, token);
  });
}

test('A subscription ends when its token expires, with one error for all that end together', async (t) => {
  const time = simulatedTime();
  const ends = [5_000, 5_000, 60_000, Number.POSITIVE_INFINITY];
  const { connect, fanout, variant } = await serveSocket(t, {
    ...time,
    authorize: () => ({ owned: undefined, readable: undefined, expiresMs: time.now() + (ends.shift() ?? 0) }),
  });
  const client = await connect();
  const topics = ['fence_events', 'trackable_motions', 'location_updates', 'collision_events'] as const;
  const ids: unknown[] = [];
  for (const topic of topics) ids.push((await client.ask({ event: 'subscribe', topic }))['subscription_id']);
  time.advance(4_999);
  fanout.publish(batchesOf([{ variant: variant('fence_events'), fields: [], text: '{"a":1}' }]));
  assert.deepEqual((await client.next())['payload'], [{ a: 1 }]);
  const gone = variant('fence_events');
  time.advance(1);
  const { code, description } = await client.next();
  assert.equal(code, 10006);
  assert.match(String(description), new RegExp(`subscription ${ids[0]}, ${ids[1]} has expired`));
  assert.deepEqual(
    topics.map((topic) => fanout.hasSubscribers(topic)),
    [false, false, true, true],
  );
  fanout.publish(
    batchesOf([
      { variant: gone, fields: [], text: '{"a":2}' },
      { variant: variant('location_updates'), fields: [], text: '{"a":3}' },
    ]),
  );
  assert.deepEqual((await client.next())['payload'], [{ a: 3 }]);
  // A closed subscription is removed, so that it can be made again.
  ends.push(90_000);
  assert.equal((await client.ask({ event: 'subscribe', topic: 'fence_events' }))['event'], 'subscribed');
  assert.equal((await client.ask({ event: 'unsubscribe', subscription_id: ids[0] }))['code'], 10003);
  time.advance(3_600_000);
  assert.deepEqual([(await client.next())['code']], [10006]);
  assert.deepEqual(
    topics.map((topic) => fanout.hasSubscribers(topic)),
    [false, false, false, true],
  );
  assert.equal(time.timers.size, 0);
});

test('A timer is set for a token that expires in years, and none after an unsubscribe', async (t) => {
  const time = simulatedTime();
  const year = 365 * 86_400_000;
  const { connect, fanout } = await serveSocket(t, {
    ...time,
    authorize: () => ({ owned: undefined, readable: undefined, expiresMs: 1_000_000 + year }),
  });
  const client = await connect();
  const { subscription_id } = await client.ask({ event: 'subscribe', topic: 'fence_events' });
  for (let i = 0; i < 14; i++) time.advance(26 * 86_400_000);
  assert.equal(fanout.hasSubscribers('fence_events'), true);
  assert.equal(time.timers.size, 1);
  await client.ask({ event: 'unsubscribe', subscription_id });
  assert.equal(time.timers.size, 0);
});

test('The Go client receives 10006 for an expired token, since it awaits no response then', async (t) => {
  const time = simulatedTime();
  const { connect } = await serveSocket(t, {
    ...time,
    authorize: () => ({ owned: undefined, readable: undefined, expiresMs: time.now() + 1 }),
  });
  const client = await connect(GO);
  await client.ask({ event: 'subscribe', topic: 'fence_events' });
  time.advance(2);
  assert.equal((await client.next())['code'], 10006);
});
