import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe as group, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { echo, raw, SOCKET_PATH, serve } from './harness.ts';

const UPGRADE = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };

function get(port: number, headers: Readonly<Record<string, string>> = {}, method = 'GET', body = '') {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: 'h', ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(port, [`${method} ${SOCKET_PATH}x HTTP/1.1\r\n${lines.join('')}\r\n${body}`], /\}$|^$/);
}

async function refusedUpgrade(port: number, headers: Record<string, string> = {}): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`, { headers });
  const [error] = await once(socket, 'error');
  return String(error);
}

async function opened(port: number, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`, { headers });
  await once(socket, 'open');
  return socket;
}

group('a server refuses', () => {
  test('headers over the limit with 431, of requests and of WebSockets', async (t) => {
    const { port } = await serve(t, { headerMaxBytes: 2000 });
    assert.match(await get(port, { 'X-Big': 'x'.repeat(1900) }), /^HTTP\/1\.1 200 /);
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`X-Many-${i}`, 'x'.repeat(20)]));
    for (const headers of [{ 'X-Big': 'x'.repeat(2000) }, many]) {
      const answer = await get(port, headers);
      assert.match(answer, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
      assert.match(answer, /"message":"headers: must have at most 2,000 bytes, found \d,\d+"/);
      assert.match(await refusedUpgrade(port, headers), /431/);
    }
  });

  test('headers of any size and number, which have no separate limits', async (t) => {
    const { port } = await serve(t);
    assert.match(await get(port, { 'X-Big': 'x'.repeat(70_000) }), /^HTTP\/1\.1 431 /);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`X${i}`, 'x']));
    assert.match(await get(port, many), /^HTTP\/1\.1 431 /);
    assert.match(await get(port), /^HTTP\/1\.1 200 /);
  });

  test('compressed bodies with 415, so that none can expand', async (t) => {
    let handled = 0;
    const { port, url } = await serve(t, { handleHttp: () => ({ status: 200, body: `{${handled++}}` }) });
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    for (const encoding of ['gzip', 'br', 'deflate', 'GZIP', 'gzip, identity', 'x-unknown']) {
      const reply = await fetch(url, { method: 'PUT', body: bomb, headers: { 'Content-Encoding': encoding } });
      assert.equal(reply.status, 415, encoding);
      assert.match(await reply.text(), /Content-Encoding: must be identity, found/);
    }
    assert.equal(handled, 0);
    assert.match(await get(port, { 'Content-Encoding': 'identity' }, 'PUT', 'x'), /^HTTP\/1\.1 200 /);
  });

  test('a transfer coding other than chunked, by closing the connection', async (t) => {
    let handled = 0;
    const { port } = await serve(t, { handleHttp: () => ({ status: 200, body: `{${handled++}}` }) });
    for (const coding of ['gzip, chunked', 'gzip', 'chunked, chunked', 'xchunked']) {
      const parts = [`PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`];
      assert.equal(await raw(port, parts, /never/), '', coding);
    }
    assert.equal(handled, 0);
  });

  test('two lengths of one body, by closing the connection', async (t) => {
    let handled = 0;
    const { port } = await serve(t, { handleHttp: () => ({ status: 200, body: `{${handled++}}` }) });
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n';
    const twice = `PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: ${smuggled.length}\r\n\r\n`;
    assert.equal(await raw(port, [twice + smuggled], /never/), '');
    const both = `PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`;
    assert.match(await raw(port, [both], /never/), /^HTTP\/1\.1 400 /);
    assert.equal(handled, 0);
  });

  test('requests and frames beyond the rate of an address', async (t) => {
    const { port } = await serve(t, { requestsPerSecond: 1, handlePeer: echo });
    const socket = await opened(port);
    const closing = once(socket, 'close');
    const answers = await Promise.all(Array.from({ length: 60 }, () => get(port)));
    const taken = answers.filter((answer) => answer.startsWith('HTTP/1.1 200 ')).length;
    const refused = answers.filter((answer) => answer.startsWith('HTTP/1.1 429 ')).length;
    assert.equal(taken + refused, 60);
    assert.ok(taken >= 1 && refused >= 5, `${taken} were accepted, ${refused} rejected`);
    for (let i = 0; i < 60; i++) socket.send('x');
    assert.deepEqual(String((await closing)[0]), '1008');
    assert.match(await refusedUpgrade(port), /429/);
  });

  test('connections beyond the bound, and stops counting closed ones of every kind', async (t) => {
    const { port } = await serve(t, { connectionsMax: 3, handlePeer: echo });
    const gone = async (): Promise<void> => {
      // The server notices the close a little later than the client.
      for (let left = 500; left > 0; left--) {
        if ((await get(port).catch(() => '')).startsWith('HTTP/1.1 200 ')) return;
        await new Promise(setImmediate);
      }
      assert.fail('closed connections still count');
    };
    for (let round = 0; round < 4; round++) {
      await gone();
      const kept = [await opened(port), await opened(port)];
      const plain = connect(port, '127.0.0.1');
      plain.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
      await once(plain, 'data');
      await assert.rejects(opened(port));
      await assert.rejects(opened(port));
      for (const socket of kept) socket.terminate();
      plain.destroy();
    }
    await gone();
  });
});

group('a server disconnects', { concurrency: true }, () => {
  const SLOW: readonly (readonly [name: string, first: string, more: string])[] = [
    ['a client that sends nothing', '', ''],
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: h\r\n', 'X-More: 1\r\n'],
    ['a body sent byte by byte', 'PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n', 'x'],
    ['chunks sent byte by byte', 'PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
    ['a WebSocket that is never asked for in full', 'GET /v2/ws/socket HTTP/1.1\r\nUpgrade: websocket\r\n', 'X: 1\r\n'],
    ['an idle keep-alive connection', 'GET / HTTP/1.1\r\nHost: h\r\n\r\n', ''],
  ];

  // All at once, since each takes as long as the server's timeout.
  for (const [name, first, more] of SLOW) {
    test(name, { timeout: 60_000 }, async (t) => {
      const { port } = await serve(t);
      const socket = connect(port, '127.0.0.1');
      socket.write(first);
      const dripping = setInterval(() => socket.write(more), 500);
      t.after(() => clearInterval(dripping));
      // A reset also counts as a close.
      socket.on('error', () => undefined);
      socket.resume();
      await new Promise((resolve) => socket.on('close', resolve));
    });
  }
});

test('An upgrade that is not a WebSocket handshake opens no socket', async (t) => {
  const { port, reported } = await serve(t, { handlePeer: echo });
  for (const headers of [UPGRADE, { ...UPGRADE, 'Sec-WebSocket-Key': 'short' }, { ...UPGRADE, Upgrade: 'h2c' }]) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = await raw(port, [`GET ${SOCKET_PATH} HTTP/1.1\r\nHost: h\r\n${lines.join('')}\r\n`], /\}$|</);
    assert.doesNotMatch(answer, / 101 /);
  }
  assert.deepEqual(reported, []);
});
