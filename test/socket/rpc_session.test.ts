import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Access, FULL_ACCESS } from '../../src/auth/authorizer.ts';
import type { Peer } from '../../src/exchange.ts';
import { createRpcSocket, type RpcSocketDeps } from '../../src/socket/rpc_session.ts';
import { WaitingFrames } from '../../src/socket/waiting_frames.ts';
import { openRpc } from '../rpc/world.ts';
import { NeverLong } from '../support/never_long.ts';

/** Connections of a hub with a simulated clock. Sent frames and close codes are recorded. */
function world(deps: Partial<RpcSocketDeps> = {}) {
  const { rpc, clock } = openRpc();
  const reported: unknown[] = [];
  const open = createRpcSocket({
    rpc,
    now: clock.elapsed,
    schedule: clock.schedule,
    waiting: new WaitingFrames(),
    turns: new NeverLong(),
    report: (error) => reported.push(error),
    ...deps,
  });
  const connect = ({ buffered = 0, token = '' } = {}) => {
    const sent: { id?: unknown; result?: unknown; error?: { code: number; message: string } }[] = [];
    const closed: number[] = [];
    const peer: Peer = {
      path: '/hub/v2/ws/rpc',
      userAgent: 'test',
      authorization: token === '' ? undefined : `Bearer ${token}`,
      query: '',
      isKnown: true,
      send: (text) => void sent.push(JSON.parse(String(text))),
      bufferedBytes: () => buffered,
      close: (code) => void closed.push(code),
    };
    const events = open(peer);
    const send = (frame: object): void => events.message(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    const register = (method: string): void => send({ id: 0, method: 'register', params: { method } });
    return { sent, closed, events, send, register };
  };
  return { rpc, clock, connect, reported };
}

const until = (expiresMs: number): Access => ({ owned: undefined, readable: undefined, expiresMs });

/** Frames are processed in several turns. */
async function untilSent(sent: readonly unknown[], count: number): Promise<void> {
  while (sent.length < count) await new Promise(setImmediate);
}

test('A connection and its method handlers end when its token expires', () => {
  const { rpc, clock, connect } = world({ authorize: () => until(1000) });
  const device = connect();
  device.register('m');
  clock.advance(999);
  assert.deepEqual(device.closed, []);
  clock.advance(1);
  assert.deepEqual(device.closed, [1008]);
  device.events.closed();
  assert.equal(rpc.available()['m'], undefined);
});

test('A connection ends when its key is revoked, also after a call that guests may make', () => {
  const key = new AbortController();
  const { connect } = world({
    authorize: ({ use }) => (use === 'call' ? FULL_ACCESS : { ...FULL_ACCESS, revoked: key.signal }),
  });
  const device = connect({ token: 'k' });
  device.register('m');
  device.send({ id: 1, method: 'com.omlox.ping' });
  key.abort();
  assert.deepEqual(device.closed, [1008]);
});

test('Frames are processed in order, even if the token of the first must be verified', async () => {
  const verified = Promise.withResolvers<Access>();
  const answers: (Access | Promise<Access>)[] = [verified.promise];
  const { connect } = world({ authorize: () => answers.shift() ?? until(Number.POSITIVE_INFINITY) });
  const client = connect();
  client.register('m');
  client.send({ id: 2, method: 'com.omlox.ping' });
  assert.deepEqual(client.sent, []);
  verified.resolve(until(Number.POSITIVE_INFINITY));
  await new Promise(setImmediate);
  assert.deepEqual(
    client.sent.map(({ id }) => id),
    [0, 2],
  );
});

for (const [code, expected] of [
  ['HUB_NOT_AUTHENTICATED', -32011],
  ['HUB_NOT_AUTHORIZED', -32012],
  ['HUB_UNAVAILABLE', -32011],
] as const) {
  test(`A frame rejected with ${code} is answered ${expected}, immediately or later`, async () => {
    const error = errorWith(code, 'Cannot call it');
    for (const isLate of [false, true]) {
      const { connect, rpc } = world({
        authorize: () => {
          if (isLate) return Promise.reject(error);
          throw error;
        },
      });
      const client = connect();
      client.send({ id: 1, method: 'com.omlox.ping' });
      await new Promise(setImmediate);
      const data = { reason: error.reason, params: error.params };
      const sent = { code: expected, message: 'Cannot call it', data };
      assert.deepEqual(client.sent, [{ jsonrpc: '2.0', id: 1, error: sent }]);
      assert.deepEqual([...rpc.counts.refused.values()], [1]);
    }
  });
}

test('A client that does not read is disconnected once its queue is full', () => {
  const slow: number[] = [];
  const { connect } = world({ queueMaxBytes: 1000, networkMaxBytes: 10, tooSlow: (_peer, bytes) => slow.push(bytes) });
  const client = connect({ buffered: 20 });
  for (let id = 0; id < 20; id++) client.send({ id, method: 'com.omlox.ping' });
  assert.deepEqual([client.closed, slow.length, client.sent], [[1013], 1, []]);
});

test('Open calls of a client are bounded, and end with it', async () => {
  const { rpc, clock, connect } = world();
  const device = connect();
  device.register('m');
  const caller = connect();
  for (let id = 0; id <= 100; id++) caller.send({ id, method: 'm' });
  await untilSent(caller.sent, 1);
  assert.deepEqual(caller.sent, [
    {
      jsonrpc: '2.0',
      id: 100,
      error: {
        code: -32010,
        message: 'open_calls_of_client: must be at most 100, found 100 before this one',
        data: { reason: 'limit_reached', params: { path: 'open_calls_of_client', limit: 100, count: 100 } },
      },
    },
  ]);
  assert.equal(rpc.counts.open, 100);
  caller.events.closed();
  assert.deepEqual([rpc.counts.open, rpc.counts.calls.cancelled, clock.timers], [0, 100, 0]);
});

test('A finished call makes room for another', async () => {
  const { rpc, connect } = world();
  const [device, caller] = [connect(), connect()];
  device.register('m');
  for (let id = 0; id <= 200; id++) {
    caller.send({ id, method: 'm' });
    await untilSent(device.sent, id + 2);
    device.send({ id: device.sent.at(-1)?.id, result: id });
    await untilSent(caller.sent, id + 1);
  }
  assert.deepEqual([caller.sent.length, rpc.counts.calls.success, rpc.counts.refused.size], [201, 201, 0]);
});

test('A command without an id is executed and not answered', () => {
  const { rpc, connect } = world();
  const device = connect();
  device.send({ method: 'register', params: { method: 'm' } });
  assert.deepEqual([device.sent, Object.keys(rpc.available()).includes('m')], [[], true]);
});

test('An invalid request without an id is counted, and not answered', () => {
  const { rpc, connect } = world();
  const caller = connect();
  caller.send({ method: 'nobody' });
  caller.send({ method: 'm', params: [1] });
  caller.send({ method: 'nobody', params: { _caller_id: 'me' } });
  assert.deepEqual(
    caller.sent.map(({ id, error }) => [id, error?.code]),
    [[null, -32601]],
  );
  assert.deepEqual(
    [...rpc.counts.refused],
    [
      ['unknownMethod', 2],
      ['invalidParams', 1],
    ],
  );
});

test('An internal error is logged, and closes the connection', () => {
  const { connect, reported } = world({
    authorize: () => {
      throw new TypeError('a defect');
    },
  });
  const client = connect();
  client.send({ id: 1, method: 'com.omlox.ping' });
  assert.deepEqual([client.closed, client.sent, reported.length], [[1011], [], 1]);
});
