import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import type { PubSubDeps } from '../../src/socket/deps.ts';
import { batchesOf } from '../support/event_batches.ts';
import { serveSocket } from './harness.ts';

const SUBSCRIBE = { event: 'subscribe', topic: 'location_updates' };

/** A server whose test decides when other hubs acknowledge a subscription. */
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

test('A subscription is acknowledged after all hubs have it, and its events start then', async (t) => {
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

test('A subscription fails if some hub does not acknowledge it in time, and can be retried', async (t) => {
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

test('A connection that closes before the acknowledgment leaves no subscription', async (t) => {
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

test('A subscription whose token expires before the acknowledgment is not acknowledged', async (t) => {
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

test('A connection is closed with 1013 when events of its subscriptions are lost, and others stay open', async (t) => {
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
