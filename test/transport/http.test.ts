import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { StartupError } from '../../src/errors.ts';
import type { HttpReply, HttpRequest } from '../../src/exchange.ts';
import { Unsent } from '../../src/transport/unsent.ts';
import { raw, SOCKET_PATH, serve } from './harness.ts';

test('Every method and path reaches the handler as it was sent', async (t) => {
  const { url } = await serve(t);
  for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'REPORT']) {
    const reply = await fetch(`${url}/v2/providers/a%2Fb:c/?crs=local&x=%20`, { method });
    assert.equal(reply.headers.get('x-seen'), method);
    assert.deepEqual(await reply.json(), {
      method,
      path: '/v2/providers/a%2Fb:c/',
      query: 'crs=local&x=%20',
      bytes: 0,
    });
  }
});

test('Headers are found by lower-case name', async (t) => {
  const seen: (string | undefined)[] = [];
  const { url } = await serve(t, {
    handleHttp(request) {
      seen.push(request.header('authorization'), request.header('x-none'), request.header('constructor'));
      return { status: 204 };
    },
  });
  const long = `Bearer ${'x'.repeat(20_000)}`;
  await fetch(url, { headers: { Authorization: 'Bearer t' } });
  await fetch(url, { headers: { Authorization: long } });
  assert.deepEqual(seen, ['Bearer t', undefined, undefined, long, undefined, undefined]);
});

test('HEAD is answered with the headers of GET and without its body, and the connection stays open', async (t) => {
  const { port } = await serve(t, { handleHttp: () => ({ status: 200, headers: { ETag: 'e' }, body: 'größe' }) });
  const head = 'HEAD / HTTP/1.1\r\nHost: h\r\n\r\n';
  const answer = await raw(port, [head, head, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'], /größe$/);
  const headers = answer.split('\r\n').filter((line) => !line.startsWith('Date: '));
  const expected = ['HTTP/1.1 200 OK', 'ETag: e', 'Content-Length: 7', ''];
  assert.deepEqual(headers, [...expected, ...expected, ...expected, 'größe']);
});

test('204 has no body and no Content-Length', async (t) => {
  const { port } = await serve(t, { handleHttp: () => ({ status: 204 }) });
  const answer = await raw(port, ['PUT / HTTP/1.1\r\nHost: h\r\n\r\n'], /\r\n\r\n/);
  assert.match(answer, /^HTTP\/1\.1 204 No Content\r\nDate: [^\r]+\r\n\r\n$/);
});

const LAST_ANSWERS: readonly (readonly [name: string, method: string, reply: HttpReply])[] = [
  ['a short answer', 'GET', { status: 200, body: 'short' }],
  ['an answer that is sent as it is read', 'GET', { status: 200, body: 'x'.repeat(100_000) }],
  ['an answer without a body', 'PUT', { status: 204 }],
  ['an answer to HEAD', 'HEAD', { status: 200, body: 'short' }],
];
for (const [name, method, reply] of LAST_ANSWERS) {
  test(`${name} sends Connection: close if and only if the client has asked for that`, async (t) => {
    const { port } = await serve(t, { handleHttp: () => reply });
    const ask = (header: string) => `${method} / HTTP/1.1\r\nHost: h\r\n${header}\r\n`;
    const closing = await raw(port, [ask('Connection: close\r\n')], /^never$/);
    assert.deepEqual(closing.match(/^connection: .*$/gim), ['Connection: close']);
    const staying = await raw(port, [ask('')], /\r\n\r\n/);
    assert.doesNotMatch(staying, /connection/i);
  });
}

const FAILURES: readonly [string, () => HttpReply | Promise<HttpReply>, number, RegExp, number][] = [
  [
    'throws',
    () => {
      throw new Error('secret');
    },
    500,
    /internal error/,
    1,
  ],
  [
    'rejects',
    async () => {
      throw new Error('secret');
    },
    500,
    /internal error/,
    1,
  ],
  [
    'throws a HubError',
    () => {
      throw errorWith('HUB_NOT_FOUND', 'gone');
    },
    404,
    /^gone$/,
    0,
  ],
  [
    'rejects with a HubError',
    async () => {
      throw errorWith('HUB_UNAVAILABLE', 'full');
    },
    503,
    /^full$/,
    0,
  ],
];

for (const [name, handleHttp, status, message, reports] of FAILURES) {
  test(`A handler that ${name} is answered ${status}`, async (t) => {
    const { url, reported } = await serve(t, { handleHttp });
    const reply = await fetch(`${url}/x`);
    const body = (await reply.json()) as { code: number; message: string };
    assert.deepEqual([reply.status, body.code], [status, status]);
    assert.match(body.message, message);
    assert.doesNotMatch(body.message, /secret/);
    assert.equal(reported.length, reports);
  });
}

test('A line break in a header value does not end the header', async (t) => {
  const { url } = await serve(t, { handleHttp: () => ({ status: 201, headers: { Location: '/a\r\nX-Evil: 1' } }) });
  const reply = await fetch(url);
  assert.equal(reply.headers.get('x-evil'), null);
  assert.equal(reply.headers.get('location'), '/aX-Evil: 1');
});

test('A request aborted in its body or before its response does no harm', async (t) => {
  const requests: HttpRequest[] = [];
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { port, url, reported } = await serve(t, {
    async handleHttp(request) {
      requests.push(request);
      if (request.path === '/slow') {
        arrived.resolve();
        await released.promise;
      }
      return { status: 200, body: 'x'.repeat(100_000) };
    },
  });
  const half = connect(port, '127.0.0.1');
  half.write('PUT /half HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf');
  const slow = connect(port, '127.0.0.1');
  slow.write('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n');
  await arrived.promise;
  half.destroy();
  slow.destroy();
  await Promise.all([once(half, 'close'), once(slow, 'close')]);
  assert.equal((await fetch(url)).status, 200);
  released.resolve();
  assert.equal((await fetch(url)).status, 200);
  assert.ok(!requests.some(({ path }) => path === '/half'));
  assert.deepEqual(reported, []);
});

test('A handler is notified if the client disconnects before the response, whenever it subscribes', async (t) => {
  const arrived = Promise.withResolvers<HttpRequest>();
  const released = Promise.withResolvers<void>();
  const { port, url } = await serve(t, {
    async handleHttp(request) {
      if (request.path === '/slow') {
        arrived.resolve(request);
        await released.promise;
      }
      return { status: 200 };
    },
  });
  const slow = connect(port, '127.0.0.1');
  slow.write('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n');
  const request = await arrived.promise;
  const gone = request.gone?.() as AbortSignal;
  assert.equal(gone.aborted, false);
  slow.destroy();
  await once(gone, 'abort');
  assert.equal(request.gone?.().aborted, true);
  released.resolve();
  assert.equal((await fetch(url)).status, 200);
});

test('A response beyond the bound on unsent bytes closes its connection, and the server survives', async (t) => {
  const { port } = await serve(t, {
    unsent: new Unsent(1_000_000),
    handleHttp: ({ path }) => ({ status: 200, body: path === '/large' ? 'x'.repeat(50_000_000) : '{}' }),
  });
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  client.write('GET /large HTTP/1.1\r\nHost: h\r\n\r\n');
  const small = () => raw(port, ['GET /small HTTP/1.1\r\nHost: h\r\n\r\n'], /\{\}/);
  assert.match(await small(), /^HTTP\/1\.1 200 /);
  client.resume();
  await once(client, 'close');
  assert.ok(bytes < 50_000_000, `${bytes} bytes were read`);
  assert.match(await small(), /^HTTP\/1\.1 200 /);
});

test('A plain request to a socket path is answered 426', async (t) => {
  const { url } = await serve(t);
  for (const path of [SOCKET_PATH, `${SOCKET_PATH}/`]) {
    const reply = await fetch(`${url}${path}`);
    assert.equal(reply.status, 426);
    assert.equal(reply.headers.get('upgrade'), 'websocket');
    assert.equal(((await reply.json()) as { code: number }).code, 426);
  }
  assert.equal((await fetch(`${url}${SOCKET_PATH}`, { method: 'OPTIONS' })).status, 200);
});

test('A second server on the same port fails with a one-line message that names host and port', async (t) => {
  const { port } = await serve(t);
  for (const host of ['127.0.0.1', 'localhost', '0.0.0.0']) {
    await assert.rejects(serve(t, { host, port }), (error: Error) => {
      assert.ok(error instanceof StartupError);
      assert.equal(error.message, `Cannot listen on ${host}:${port}: the port is in use by another process`);
      return true;
    });
  }
});

test('A host that is not an address of this machine is rejected', async (t) => {
  await assert.rejects(
    serve(t, { host: '192.0.2.1' }),
    /^StartupError: Cannot listen on 192\.0\.2\.1:0: the host is no address/,
  );
});

test('localhost means 127.0.0.1 too', async (t) => {
  const { port } = await serve(t, { host: 'localhost' });
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
});

test('close answers requests in flight, rejects new ones and frees the port', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const port = await freePort();
  const { server } = await serve(t, {
    port,
    async handleHttp({ path }) {
      if (path === '/slow') {
        arrived.resolve();
        await released.promise;
      }
      return { status: 200, body: 'done' };
    },
  });
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
  const kept = connect(port, '127.0.0.1');
  kept.write(get('/'));
  await once(kept, 'data');
  const slow = raw(port, [get('/slow')], /done$/);
  await arrived.promise;
  const closing = server.close();
  kept.write(get('/late'));
  const [late] = await once(kept, 'data');
  assert.match(String(late), /^HTTP\/1\.1 503 .*shutting down/s);
  released.resolve();
  assert.match(await slow, /200 OK.*done$/s);
  await closing;
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  await serve(t, { port });
});
