import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Agent, request } from 'undici';
import { copied, look } from '../../src/model/borrowed.ts';
import type { FailedRequest } from '../../src/transport/http.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { describe, raw, serve } from './harness.ts';

const BODIES: readonly [string, readonly string[], string][] = [
  ['in one piece', ['Content-Length: 9\r\n\r\n{"a":"ü"}'.replace('9', '10')], '{"a":"ü"}'],
  ['in many pieces', ['Content-Length: 6\r\n\r\n', 'ab', 'cd', 'ef'], 'abcdef'],
  ['in chunks', ['Transfer-Encoding: chunked\r\n\r\n', '3\r\nabc\r\n', '2\r\nde\r\n', '0\r\n\r\n'], 'abcde'],
  ['without a byte', ['Content-Length: 0\r\n\r\n'], ''],
  ['without a length', ['\r\n'], ''],
];

for (const [name, parts, expected] of BODIES) {
  test(`A body ${name} is read without a Content-Type`, async (t) => {
    const { port } = await serve(t, {
      handleHttp: ({ body }) => ({ status: 200, body: `<${Buffer.from(look(body))}>` }),
    });
    const [first, ...rest] = parts;
    const answer = await raw(port, [`PUT / HTTP/1.1\r\nHost: h\r\n${first}`, ...rest], />$/);
    assert.ok(answer.endsWith(`<${expected}>`), answer);
  });
}

test('A body stays readable after its handler has awaited', async (t) => {
  const { url } = await serve(t, {
    async handleHttp({ body }) {
      await new Promise(setImmediate);
      return { status: 200, body: copied(body) };
    },
  });
  const bytes = new Uint8Array(300_000).map((_, i) => i % 251);
  const reply = await fetch(url, { method: 'PUT', body: bytes });
  assert.deepEqual(new Uint8Array(await reply.arrayBuffer()), bytes);
});

test('A short body that its handler has ignored is not copied', async (t) => {
  const { url } = await serve(t, {
    async handleHttp(request) {
      if (request.path === '/dropped') request.dropBody?.();
      await new Promise(setImmediate);
      return { status: 200, body: copied(request.body) };
    },
  });
  const textOf = async (path: string) => (await fetch(new URL(path, url), { method: 'PUT', body: 'body' })).text();
  assert.deepEqual([await textOf('/kept'), await textOf('/dropped')], ['body', '']);
});

test('A long body that its handler has read stays unchanged until the response', async (t) => {
  const { port } = await serve(t, {
    async handleHttp({ body }) {
      const bytes = look(body);
      await new Promise(setImmediate);
      return { status: 200, body: `<${bytes.length} ${bytes.every((byte) => byte === 0x78)}>` };
    },
  });
  for (const length of [65_537, 100_000, 200_000, 400_000]) {
    const request = `PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;
    assert.match(await raw(port, [request], />$/), new RegExp(`<${length} true>$`));
  }
});

test('A large body is read in turns of its own while other requests are answered', async (t) => {
  const [asked, given] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  class HeldTurns extends TaskScheduler {
    override next(): Promise<void> {
      asked.resolve();
      return given.promise;
    }
  }
  const handled: string[] = [];
  const { port, url } = await serve(t, {
    turns: new HeldTurns(),
    handleHttp(request) {
      handled.push(`${request.path} ${look(request.body).length}`);
      return { status: 200, body: 'done>' };
    },
  });
  // Large, but too short for anything else to end the turn.
  const bytes = 100_000;
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(`PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: ${bytes}\r\n\r\n`);
  await asked.promise;
  socket.write('x'.repeat(bytes));
  for (let n = 0; n < 3; n++) await (await fetch(new URL('/small', url))).text();
  assert.deepEqual(handled, ['/small 0', '/small 0', '/small 0']);
  given.resolve();
  await once(socket, 'data');
  assert.equal(handled.at(-1), `/large ${bytes}`);
});

test('A body over the limit is answered 413 with an error body, and the connection stays open', async (t) => {
  let handled = 0;
  const { port } = await serve(t, {
    bodyMaxBytes: 1000,
    handleHttp(request) {
      handled++;
      return describe(request);
    },
  });
  const get = 'GET /after HTTP/1.1\r\nHost: h\r\n\r\n';
  const announced = [`PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n`, 'x'.repeat(1001), get];
  const chunk = `200\r\n${'x'.repeat(512)}\r\n`;
  const chunked = [
    `PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    chunk,
    `0\r\n\r\n${get}`,
  ];
  for (const parts of [announced, chunked]) {
    handled = 0;
    const answer = await raw(port, parts, /"\/after"/);
    assert.match(answer, /^HTTP\/1\.1 413 Payload Too Large\r\n/);
    assert.match(
      answer,
      /\{"type":"com\.flowcate\.http\.payload_too_large","code":413,"message":"body: must have at most 1,000 bytes, found 1,0\d\d","reason":"body_too_large"/,
    );
    assert.match(answer, /HTTP\/1\.1 200 OK/);
    assert.equal(handled, 1);
  }
});

test('An error of admitBody is answered and logged, and the server continues', async (t) => {
  const faults = [errorWith('HUB_BAD_REQUEST', 'path: is bad'), new Error('a fault')];
  const { url, reported } = await serve(t, {
    admitBody() {
      throw faults.shift();
    },
  });
  const send = () => fetch(url, { method: 'PUT', body: 'x'.repeat(100_000) });
  assert.deepEqual([(await send()).status, (await send()).status], [400, 500]);
  assert.deepEqual(reported.map(String), ['Error: a fault']);
  assert.equal((await fetch(url)).status, 200);
});

test('An internal error is logged with the id of its request, which the response has, too', async (t) => {
  const failed: (FailedRequest | undefined)[] = [];
  const { url } = await serve(t, {
    handleHttp() {
      throw new Error('a fault');
    },
    report: (_, request) => failed.push(request),
  });
  const ids = [
    { sent: 'from-the-client', logged: /^from-the-client$/ },
    { sent: undefined, logged: /^[\da-f]{8}-[\da-f-]{27}$/ },
    { sent: 'with a blank', logged: /^[\da-f]{8}-[\da-f-]{27}$/ },
  ];
  for (const { sent, logged } of ids) {
    const response = await fetch(`${url}/v2/zones`, sent === undefined ? {} : { headers: { 'X-Request-Id': sent } });
    const id = response.headers.get('x-request-id') ?? '';
    assert.match(id, logged);
    assert.deepEqual([response.status, failed.pop()], [500, { method: 'GET', path: '/v2/zones', request_id: id }]);
  }
});

test('A completely received request is handled with its body even if the client disconnects first', async (t) => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const found = Promise.withResolvers<number>();
  const { port } = await serve(t, {
    async handleHttp(request) {
      if (request.path === '/other') return describe(request);
      arrived.resolve();
      await left.promise;
      found.resolve(look(request.body).length);
      return describe(request);
    },
  });
  const client = connect(port, '127.0.0.1');
  client.write(`PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`);
  await arrived.promise;
  client.resetAndDestroy();
  // Its response arrives after the first connection has closed.
  await raw(port, ['GET /other HTTP/1.1\r\nHost: h\r\n\r\n'], /"\/other"/);
  left.resolve();
  assert.equal(await found.promise, 100_000);
});

test('A body of exactly the limit is accepted', async (t) => {
  const { url } = await serve(t, { bodyMaxBytes: 1000 });
  const reply = await fetch(url, { method: 'PUT', body: 'x'.repeat(1000) });
  assert.equal(reply.status, 200);
});

test('A connection stays open after a large body, whatever the response and its time', async (t) => {
  const { url } = await serve(t, {
    bodyMaxBytes: 3_000_000,
    handleHttp: ({ body }) => ({ status: look(body).length % 2 === 0 ? 204 : 413 }),
  });
  const agent = new Agent({ connections: 1, pipelining: 1 });
  t.after(() => agent.close());
  for (const bytes of [1_048_576, 1_048_577, 2_000_000, 2_999_999, 3_000_000, 4_000_000, 1_048_577, 2]) {
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      method: 'PUT',
      body: Buffer.alloc(bytes, 'x'),
    });
    await body.dump();
    assert.equal(statusCode, bytes % 2 === 0 && bytes <= 3_000_000 ? 204 : 413, String(bytes));
  }
});
