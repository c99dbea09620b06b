import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ClientOptions, WebSocket } from 'ws';
import type { Peer } from '../../src/exchange.ts';
import { FrameMemory } from '../../src/transport/frame_memory.ts';
import type { ListenOptions } from '../../src/transport/server.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { RawSocket } from '../support/raw_socket.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { raw, SOCKET_PATH, serve } from './harness.ts';

/** Bounds on a frame, and on the frames of all connections together. */
const KIB = 1024;
const [LARGE, MEDIUM, SMALL] = [2 << 20, 1 << 20, 64 * KIB];
const BOUNDS = { frameMaxBytes: LARGE, framesMaxBytes: 9 << 20 };
const WHAT_FITS = [LARGE, LARGE, MEDIUM, MEDIUM, MEDIUM, MEDIUM, SMALL, SMALL];
const PING = 9;
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** Answers each frame with its length. */
const measure = (peer: Peer) => ({
  message: (text: string) => peer.send(String(text.length)),
  drained() {},
  closed() {},
});

/** Opens a server on which connections have these bounds, and connects clients to it. */
async function open(t: TestContext, options: Partial<ListenOptions> = {}) {
  const cut: number[] = [];
  const tooLong = (_peer: Peer, bytes: number) => void cut.push(bytes);
  const served = await serve(t, { handlePeer: measure, ...BOUNDS, tooLong, ...options });
  const scheme = options.tls === undefined ? 'ws' : 'wss';
  return {
    ...served,
    cut,
    async connect(more: ClientOptions = {}, path = SOCKET_PATH) {
      const socket = new WebSocket(`${scheme}://127.0.0.1:${served.port}${path}`, {
        ...more,
        perMessageDeflate: false,
      });
      t.after(() => socket.terminate());
      await once(socket, 'open');
      return socket;
    },
  };
}

async function answer(socket: WebSocket): Promise<string> {
  return String((await once(socket, 'message'))[0]);
}

async function closing(socket: WebSocket): Promise<readonly [number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

/**
 * Returns the bound of a connection, as reported to a client that exceeds it. A frame of exactly that length is
 * accepted first.
 */
async function boundOf(socket: WebSocket): Promise<number> {
  for (const bytes of [SMALL, MEDIUM, LARGE]) {
    socket.send('x'.repeat(bytes));
    assert.equal(await answer(socket), String(bytes));
    socket.send('x'.repeat(bytes + 1));
    const reported = await Promise.race([answer(socket), closing(socket)]);
    if (typeof reported === 'string') continue;
    assert.deepEqual(reported, [1009, `A frame of this connection may have ${bytes} bytes`]);
    return bytes;
  }
  return assert.fail('there is no bound');
}

async function tlsOf() {
  const folder = temporaryFolder();
  const made = await makeCertificate();
  const only = { keyPassword: undefined, dhParamsPath: undefined, only: true };
  return { ca: made.certificate, tls: { ...writeCertificate(folder, made), ...only } };
}

for (const { name, path, isSecure } of [
  { name: 'connections', path: SOCKET_PATH, isSecure: false },
  { name: 'connections to a path with a trailing slash', path: `${SOCKET_PATH}/?token=t`, isSecure: false },
  { name: 'connections over TLS', path: SOCKET_PATH, isSecure: true },
]) {
  test(`${name} get the largest bound until half of the memory is used, then 1 MiB, then 64 KiB`, async (t) => {
    const { ca, tls } = isSecure ? await tlsOf() : {};
    const { connect, cut } = await open(t, { ...(tls && { tls }) });
    const sockets: WebSocket[] = [];
    for (const _ of WHAT_FITS) sockets.push(await connect({ ...(ca && { ca }) }, path));
    assert.deepEqual(await Promise.all(sockets.map(boundOf)), WHAT_FITS);
    assert.deepEqual(
      cut.sort((a, b) => b - a),
      WHAT_FITS,
    );
  });
}

test('Without a shared bound, all connections get the largest bound', async (t) => {
  const { connect } = await open(t, { framesMaxBytes: Number.POSITIVE_INFINITY });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => connect()));
  assert.deepEqual(new Set(await Promise.all(sockets.map(boundOf))), new Set([LARGE]));
});

test('A fragmented frame has the same bound; far beyond it the connection is cut, and the hub is notified', async (t) => {
  const { connect, cut } = await open(t);
  const socket = await connect();
  for (let left = LARGE; left > 0; left -= 256 * KIB) socket.send('x'.repeat(256 * KIB), { fin: left <= 256 * KIB });
  assert.equal(await answer(socket), String(LARGE));
  for (let n = 0; n < 20; n++) socket.send('x'.repeat(256 * KIB), { fin: false });
  socket.on('error', () => undefined);
  assert.equal((await closing(socket))[0], 1006);
  assert.deepEqual(cut, [LARGE]);
});

test('A cut connection releases its memory', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { connect } = await open(t, { handlePeer: (peer) => ({ ...measure(peer), closed: () => closed.resolve() }) });
  const [cut] = [await connect(), await connect()];
  cut?.terminate();
  await closed.promise;
  const sockets = [await connect(), await connect()];
  assert.deepEqual(await Promise.all(sockets.map(boundOf)), [LARGE, MEDIUM]);
});

test('A closed connection may linger, so its memory is released after 20 s', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const memory = new FrameMemory({ frameMaxBytes: LARGE, maxBytes: BOUNDS.framesMaxBytes, isShared: false });
  const capacities = WHAT_FITS.map(() => memory.take(true));
  assert.deepEqual(
    capacities.map(({ frameMaxBytes }) => frameMaxBytes),
    WHAT_FITS,
  );
  for (const capacity of capacities) capacity.give(false);
  t.mock.timers.tick(19_999);
  assert.equal(memory.take(true).frameMaxBytes, SMALL);
  t.mock.timers.tick(1);
  assert.deepEqual(
    WHAT_FITS.map(() => memory.take(true).frameMaxBytes),
    WHAT_FITS,
  );
});

test('A largest frame of at most 64 KiB is the bound of every connection, regardless of the memory left', async (t) => {
  const { connect } = await open(t, { frameMaxBytes: 100, framesMaxBytes: 0 });
  const socket = await connect();
  socket.send('x'.repeat(100));
  assert.equal(await answer(socket), '100');
  socket.send('x'.repeat(101));
  assert.deepEqual(await closing(socket), [1009, 'A frame of this connection may have 100 bytes']);
});

for (const isLate of [false, true]) {
  const when = isLate ? 'after a while' : 'at once';
  test(`Clients that are authenticated ${when} have half of the memory to themselves`, async (t) => {
    const peers: Peer[] = [];
    const { connect } = await open(t, {
      framesMaxBytes: 2 * BOUNDS.framesMaxBytes,
      knowPeer({ authorization }) {
        const isKnown = authorization === 'Bearer good';
        return isLate ? new Promise((resolve) => setImmediate(resolve, isKnown)) : isKnown;
      },
      handlePeer(peer) {
        peers.push(peer);
        return measure(peer);
      },
    });
    const bounds = async (authorization: string) => {
      const sockets: WebSocket[] = [];
      for (const _ of WHAT_FITS) sockets.push(await connect({ headers: { authorization } }));
      return await Promise.all(sockets.map(boundOf));
    };
    assert.deepEqual(await bounds('Bearer bad'), WHAT_FITS);
    assert.deepEqual(await bounds('Bearer good'), WHAT_FITS);
    assert.deepEqual(
      peers.map(({ isKnown, path }) => [isKnown, path]),
      [false, true].flatMap((isKnown) => WHAT_FITS.map(() => [isKnown, SOCKET_PATH])),
    );
  });
}

test('A client that disconnects during authentication reserves no memory', async (t) => {
  const asked = Promise.withResolvers<(isKnown: boolean) => void>();
  const { port, connect } = await open(t, {
    knowPeer: ({ userAgent }) => userAgent !== 'leaving' || new Promise<boolean>((resolve) => asked.resolve(resolve)),
    framesMaxBytes: 2 * BOUNDS.framesMaxBytes,
  });
  const leaving = createConnection(port, '127.0.0.1');
  leaving.write(`GET ${SOCKET_PATH} HTTP/1.1\r\nHost: h\r\nUser-Agent: leaving\r\n${UPGRADE}\r\n`);
  const know = await asked.promise;
  leaving.resetAndDestroy();
  await raw(port, ['GET /a HTTP/1.1\r\nHost: h\r\n\r\n'], /"bytes"/);
  know(true);
  const sockets: WebSocket[] = [];
  for (const _ of WHAT_FITS) sockets.push(await connect());
  assert.deepEqual(await Promise.all(sockets.map(boundOf)), WHAT_FITS);
});

test('A client that is still being authenticated when the server closes is rejected', async (t) => {
  const asked = Promise.withResolvers<(isKnown: boolean) => void>();
  const { server, connect } = await open(t, {
    knowPeer: ({ query }) => query !== 'late' || new Promise<boolean>((resolve) => asked.resolve(resolve)),
  });
  // The server waits a moment for open connections.
  await connect();
  const staying = assert.rejects(connect({}, `${SOCKET_PATH}?late`), /503/);
  const know = await asked.promise;
  const closed = server.close();
  know(true);
  await Promise.all([staying, closed]);
});

test('Every other path is answered as if WebSockets did not exist', async (t) => {
  const { port, connect } = await open(t);
  await connect();
  for (const path of ['/', '/v2/ws/other', '/v2/ws/other/', `${SOCKET_PATH}//`, '/v2/zones/socket', '/V2/ws/socket']) {
    for (const headers of ['', UPGRADE]) {
      const answered = await raw(port, [`GET ${path}?q HTTP/1.1\r\nHost: h\r\n${headers}\r\n`], /"bytes"/);
      assert.match(answered, /^HTTP\/1\.1 200 OK\r\n/);
      assert.ok(answered.endsWith(JSON.stringify({ method: 'GET', path, query: 'q', bytes: 0 })), answered);
    }
  }
  for (const path of [SOCKET_PATH, `${SOCKET_PATH}/`]) {
    assert.match(await raw(port, [`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`], /\r\n\r\n\{/), /^HTTP\/1\.1 426 /);
    assert.match(
      await raw(port, [`GET ${path} HTTP/1.1\r\nHost: h\r\n${UPGRADE}\r\n`], /\r\n\r\n/),
      /^HTTP\/1\.1 101 /,
    );
  }
});

test('A client that floods the hub with pings and reads no pongs is cut off; a client that reads them is not', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { port, connect } = await open(t, {
    handlePeer: (peer) => ({ ...measure(peer), closed: () => peer.userAgent === 'deaf' && closed.resolve() }),
  });
  const deaf = await RawSocket.open(port, SOCKET_PATH, 'deaf');
  t.after(() => deaf.close());
  deaf.pause();
  const reading = await connect();
  let pongs = 0;
  reading.on('pong', () => pongs++);
  let isOver = false;
  void closed.promise.then(() => {
    isOver = true;
  });
  let pings = 0;
  for (; !isOver; pings++) {
    assert.ok(pings < 500_000, 'it was not cut off');
    deaf.send(PING, 'x'.repeat(125));
    reading.ping('x'.repeat(125));
    if (pings % 100 === 0) await new Promise(setImmediate);
  }
  reading.send('still here');
  assert.equal(await answer(reading), '10');
  assert.equal(pongs, pings);
});
