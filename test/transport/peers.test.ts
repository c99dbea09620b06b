import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import type { Peer } from '../../src/exchange.ts';
import { echo, SOCKET_PATH, serve } from './harness.ts';

async function open(port: number, options: { headers?: Record<string, string>; autoPong?: boolean } = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`, options);
  await once(socket, 'open');
  return socket;
}

async function closing(socket: WebSocket): Promise<readonly [number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

test('A peer has the path and the user agent of its upgrade request', async (t) => {
  const peers: Peer[] = [];
  const { port } = await serve(t, {
    handlePeer(peer) {
      peers.push(peer);
      return echo(peer);
    },
  });
  await open(port, { headers: { 'User-Agent': 'Go-http-client/1.1' } });
  await once(new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}/?token=t`), 'open');
  assert.deepEqual(
    peers.map(({ path, userAgent }) => [path, userAgent]),
    [
      [SOCKET_PATH, 'Go-http-client/1.1'],
      [`${SOCKET_PATH}/`, ''],
    ],
  );
});

test('Text frames arrive complete and in order, without compression', async (t) => {
  const { port } = await serve(t, { handlePeer: echo });
  const socket = await open(port);
  assert.equal(socket.extensions, '');
  const frames = Array.from({ length: 50 }, (_, i) => `${i} größer 🦊 ${'x'.repeat(i * 100)}`);
  const got: string[] = [];
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data, isBinary) => {
      assert.equal(isBinary, false);
      if (got.push(String(data)) === frames.length) resolve();
    });
  });
  for (const frame of frames) socket.send(frame);
  await all;
  assert.deepEqual(got, frames);
});

test('A binary frame closes with 1003, a frame over the limit with 1009', async (t) => {
  const { port } = await serve(t, { handlePeer: echo, frameMaxBytes: 100 });
  const cases: [string | Buffer, number][] = [
    [Buffer.from('x'), 1003],
    ['x'.repeat(101), 1009],
  ];
  for (const [frame, expected] of cases) {
    const socket = await open(port);
    socket.send('x'.repeat(100));
    await once(socket, 'message');
    socket.send(frame);
    assert.equal((await closing(socket))[0], expected);
  }
});

test('A peer that throws is closed with 1011 and reported, and the server survives', async (t) => {
  const defect = new Error('defect');
  const { port, reported } = await serve(t, {
    handlePeer: (peer) => ({
      ...echo(peer),
      message() {
        throw defect;
      },
    }),
  });
  const socket = await open(port);
  socket.send('x');
  assert.equal((await closing(socket))[0], 1011);
  assert.deepEqual(reported, [defect]);
  await open(port);
});

test('A peer is notified once of its close, and its methods have no effect afterwards', async (t) => {
  let peer: Peer | undefined;
  let closed = 0;
  const { port } = await serve(t, {
    handlePeer(opened) {
      peer = opened;
      return { ...echo(opened), closed: () => closed++ };
    },
  });
  const socket = await open(port);
  peer?.close(4000, 'enough');
  assert.deepEqual(await closing(socket), [4000, 'enough']);
  peer?.send('late');
  peer?.close(1000, 'again');
  assert.equal(peer?.bufferedBytes(), 0);
  assert.equal(closed, 1);
});

test('A peer counts unsent bytes, and reports when they are sent', async (t) => {
  let peer: Peer | undefined;
  const drained = Promise.withResolvers<void>();
  const { port } = await serve(t, {
    handlePeer(opened) {
      peer = opened;
      return { ...echo(opened), drained: () => opened.bufferedBytes() === 0 && drained.resolve() };
    },
  });
  const socket = await open(port);
  assert.ok(peer);
  socket.pause();
  let sent = 0;
  while (peer.bufferedBytes() < 2_000_000) {
    peer.send('x'.repeat(100_000));
    sent++;
  }
  let got = 0;
  socket.on('message', () => got++);
  const ended = new Promise<void>((resolve) => socket.on('message', () => got === sent && resolve()));
  socket.resume();
  await drained.promise;
  await ended;
  assert.equal(got, sent, 'nothing was dropped');
});

test('close closes peers with 1001', async (t) => {
  const { server, port } = await serve(t, { handlePeer: echo });
  const sockets = [await open(port), await open(port)];
  const codes = Promise.all(sockets.map(closing));
  await server.close();
  assert.deepEqual(
    (await codes).map(([code]) => code),
    [1001, 1001],
  );
});

test('An idle peer stays open while it answers pings, and is closed when it does not', {
  timeout: 20_000,
}, async (t) => {
  const { port } = await serve(t, { idleTimeoutSeconds: 8 });
  const [answering, silent] = [await open(port), await open(port, { autoPong: false })];
  let pings = 0;
  answering.on('ping', () => pings++);
  await closing(silent);
  assert.equal(answering.readyState, WebSocket.OPEN);
  assert.ok(pings > 0);
});
