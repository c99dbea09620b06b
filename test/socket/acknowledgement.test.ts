import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import type { PubSubDeps } from '../../src/socket/deps.ts';
import { batchesOf } from '../support/event_batches.ts';
import { serveSocket } from './harness.ts';

const SUBSCRIBE = { event: 'subscribe', topic: 'location_updates' };

/** A server whose other hubs are notified of a subscription when the test decides. */
async function serveAmongHubs(t: TestContext, deps: Partial<PubSubDeps> = {}) {
  const waits: PromiseWithResolvers<void>[] = [];
  let asked: () => void = () => undefined;
  const served = await serveSocket(t, {
    ...deps,
    interestAnnounced() {
      const wait = Promise.withResolvers<void>();
      waits.push(wait);
      asked();
      return wait.promise;
    },
  });
  const next = async (): Promise<PromiseWithResolvers<void>> => {
    if (waits.length === 0) {
      await new Promise<void>((resolve) => {
        asked = resolve;
      });
    }
    return waits.shift() ?? assert.fail();
  };
  const publish = (text: string): void =>
    served.fanout.publish(batchesOf([{ variant: served.variant('location_updates'), fields: ['p'], text }]));
  return { ...served, next, publish };
}

test('a subscription is answered when all hubs know of it, and its events begin then', async (t) => {
  const { connect, next, publish } = await serveAmongHubs(t);
  const client = await connect();
  client.send(SUBSCRIBE);
  client.send({ event: 'what' });
  const wait = await next();
  publish('1');
  wait.resolve();
  assert.equal((await client.next())['event'], 'subscribed');
  assert.equal((await client.next())['code'], 10000, 'the next frame has waited');
  publish('2');
  assert.deepEqual((await client.next())['payload'], [2]);
});

test('a subscription fails that not all hubs know of in time, and can be tried again', async (t) => {
  const { connect, next, fanout } = await serveAmongHubs(t);
  const client = await connect();
  client.send(SUBSCRIBE);
  (await next()).reject(errorWith('HUB_UNAVAILABLE', 'Cannot subscribe: not all hubs know of it'));
  const { code, description } = await client.next();
  assert.deepEqual([code, description], [10002, 'Cannot subscribe: not all hubs know of it']);
  assert.equal(fanout.subscribers('location_updates'), 0);
  client.send(SUBSCRIBE);
  (await next()).resolve();
  assert.equal((await client.next())['event'], 'subscribed');
});

test('a connection that ends meanwhile leaves no subscription', async (t) => {
  const { connect, next, fanout } = await serveAmongHubs(t);
  const client = await connect();
  client.send(SUBSCRIBE);
  const wait = await next();
  client.socket.terminate();
  while (fanout.subscribers('location_updates') > 0) await new Promise(setImmediate);
  wait.resolve();
  await wait.promise;
  const other = await connect();
  other.send(SUBSCRIBE);
  (await next()).resolve();
  assert.equal((await other.next())['event'], 'subscribed');
});

test('a subscription that ends meanwhile with its token is not answered as one', async (t) => {
  let nowMs = 0;
  let expire: () => void = () => assert.fail();
  const { connect, next } = await serveAmongHubs(t, {
    authorize: () => ({ ...FULL_ACCESS, expiresMs: 1000 }),
    now: () => nowMs,
    schedule(_delayMs, callback) {
      expire = callback;
      return () => undefined;
    },
  });
  const client = await connect();
  client.send(SUBSCRIBE);
  const wait = await next();
  nowMs = 2000;
  expire();
  assert.equal((await client.next())['code'], 10006);
  wait.resolve();
  assert.equal((await client.ask({ event: 'what' }))['code'], 10000);
});

test('a connection is closed with 1013 when events of its subscriptions are lost, and others stay', async (t) => {
  const { connect, next, fanout } = await serveAmongHubs(t);
  const [client, waiting, other] = [await connect(), await connect(), await connect()];
  client.send(SUBSCRIBE);
  (await next()).resolve();
  await client.next();
  other.send({ ...SUBSCRIBE, topic: 'zone_changes' });
  (await next()).resolve();
  await other.next();
  waiting.send(SUBSCRIBE);
  const wait = await next();
  const closed = client.closed();
  fanout.missed(['location_updates'], 'Events of another hub were lost');
  assert.deepEqual(await closed, [1013, 'Events of another hub were lost']);
  wait.resolve();
  assert.equal((await waiting.next())['event'], 'subscribed');
  assert.equal((await other.ask({ event: 'what' }))['code'], 10000);
});
