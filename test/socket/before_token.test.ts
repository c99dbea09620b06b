import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import { KNOWN_TOKEN, location, questions, serveSocket } from './harness.ts';

/** A publish frame of this many bytes, padded before its payload. */
function longFrame(bytes: number): string {
  const text = JSON.stringify(location(0));
  return text.replace('{', `{${' '.repeat(bytes - text.length)}`);
}

const BEFORE_TOKEN = 65_536;
const CLOSE = [1009, 'A frame may have 65536 bytes until a valid access token was shown'];

test('A frame of at most 64 KiB may come before a token; a longer one closes with 1009', async (t) => {
  // Guest rights do not count as a token, whatever the frame contains.
  const { connect, published } = await serveSocket(t, { authorize: () => FULL_ACCESS });
  const client = await connect();
  client.send(longFrame(BEFORE_TOKEN));
  client.send({ ...location(1), params: { token: 'a' } });
  client.send(longFrame(BEFORE_TOKEN + 1));
  assert.deepEqual(await client.closed(), CLOSE);
  assert.equal(published.length, 2);
  const other = await connect({}, '?token=unknown');
  other.send(`"${'ß'.repeat(BEFORE_TOKEN / 2)}"`);
  assert.deepEqual(await other.closed(), CLOSE, 'characters were counted');
});

test('A longer frame may follow one with a token, even while that token is verified', async (t) => {
  const { authorize, next } = questions();
  const { connect, published } = await serveSocket(t, { authorize });
  for (const isGood of [true, false]) {
    const client = await connect();
    client.send({ event: 'subscribe', topic: 'fence_events', params: { token: 'a' } });
    client.send(longFrame(BEFORE_TOKEN + 1));
    const first = await next();
    if (isGood) first.resolve({ ...FULL_ACCESS, expiresMs: 1e12 });
    else first.reject(errorWith('HUB_NOT_AUTHENTICATED', 'The access token is not valid'));
    assert.equal((await client.next())['event'], isGood ? 'subscribed' : 'error');
    if (!isGood) assert.deepEqual(await client.closed(), CLOSE);
    else {
      (await next()).resolve(FULL_ACCESS);
      assert.equal((await client.ask('no JSON'))['code'], 10000);
    }
  }
  assert.equal(published.length, 1);
});

for (const [place, headers, query] of [
  ['its header', { authorization: `Bearer ${KNOWN_TOKEN}` }, ''],
  ['its query', {}, `?token=${KNOWN_TOKEN}`],
] as const) {
  test(`A client that sends a token in ${place} may send a longer frame at once`, async (t) => {
    const { connect, published } = await serveSocket(t, { authorize: () => FULL_ACCESS });
    const client = await connect(headers, query);
    client.send(longFrame(900_000));
    assert.equal((await client.ask('no JSON'))['code'], 10000);
    assert.equal(published.length, 1);
  });
}

test('Without authorization no token is required', async (t) => {
  const { connect, published } = await serveSocket(t);
  const client = await connect();
  client.send(longFrame(900_000));
  assert.equal((await client.ask('no JSON'))['code'], 10000);
  assert.equal(published.length, 1);
});
