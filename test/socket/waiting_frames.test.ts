import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import { WaitingFrames } from '../../src/socket/waiting_frames.ts';
import { location, questions, serveSocket } from './harness.ts';

test('A connection that closes while its token is verified still publishes the frames that it has sent', async (t) => {
  const { authorize, next } = questions();
  const open = new Set<never>();
  const waiting = new WaitingFrames();
  const { connect, published, reported } = await serveSocket(t, { authorize, open: open as never, waiting });
  const client = await connect();
  for (let i = 0; i < 4; i++) client.send(location(i));
  const first = await next();
  client.socket.close();
  while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(published, []);
  first.resolve(FULL_ACCESS);
  (await next()).reject(errorWith('HUB_NOT_AUTHORIZED', 'not this one'));
  for (let i = 2; i < 4; i++) (await next()).resolve(FULL_ACCESS);
  await waiting.settled();
  assert.deepEqual(
    published.map(({ values }) => values),
    [[{ n: 0 }], [{ n: 2 }], [{ n: 3 }]],
  );
  assert.deepEqual(reported, []);
});

test('Queued frames of closed connections still count toward the bound', async (t) => {
  const { authorize, next } = questions();
  const open = new Set<never>();
  const waiting = new WaitingFrames(300);
  const { connect, published } = await serveSocket(t, { authorize, open: open as never, waiting });
  const gone = await connect();
  gone.send(location(1));
  gone.send(location(2));
  const first = await next();
  gone.socket.close();
  while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  const client = await connect();
  const refused = await client.ask(location(3));
  assert.equal(refused['code'], 10006);
  assert.match(String(refused['description']), /too many frames wait for theirs/);
  (await next()).resolve(FULL_ACCESS);
  first.resolve(FULL_ACCESS);
  (await next()).resolve(FULL_ACCESS);
  await waiting.settled();
  client.send(location(4));
  (await next()).resolve(FULL_ACCESS);
  await waiting.settled();
  assert.deepEqual(
    published.map(({ values }) => values),
    [[{ n: 1 }], [{ n: 2 }], [{ n: 4 }]],
  );
});

test('A connection is closed with 1013 when too many frames wait for a token; frames within the bound are processed', async (t) => {
  const { authorize, next } = questions();
  const waiting = new WaitingFrames();
  const { connect, published } = await serveSocket(t, { authorize, waiting });
  const client = await connect();
  const closed = client.closed();
  for (let i = 0; i < 10_002; i++) client.send(location(i));
  assert.equal((await closed)[0], 1013);
  assert.equal(published.length, 0);
  for (let i = 0; i < 10_001; i++) (await next()).resolve(FULL_ACCESS);
  await waiting.settled();
  assert.deepEqual([published.length, published.at(-1)?.values], [10_001, [{ n: 10_000 }]]);
});
